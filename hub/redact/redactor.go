package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Redactor replaces secrets in the texts of the hub itself, in what the hub quotes of a server (its stderr, errors, the
// log, the bundle for a bug report), and in a server's log messages, which people copy into reports. Results and
// prompts of a server are not redacted.
//
// A secret is found as it is, in upper or lower case, quoted, in JSON, in a URL, in hexadecimal, in base64, and in two
// halves on consecutive lines (see forms.go). It is not found after any other change, such as a server may make on
// purpose. The work for a text is bounded by its length.
//
// It is safe for concurrent use. As long as no secret is known, a text costs one atomic load.
type Redactor struct {
	now atomic.Pointer[secretIndex] // nil if there are no secrets

	mu    sync.Mutex // guards known; taken by writers only
	known map[string]struct{}
}

const (
	redactedText = "[redacted]"
	// minSecretBytes is the least length of a secret: to replace every "1" or "on" would hide everything else.
	minSecretBytes = 4
	// minSecretLine is the least length of a line that is looked for by itself, if a secret has several lines: stderr
	// comes in lines.
	minSecretLine = 16
	// maxSecrets bounds how many secrets are known. It is not recorded which are the oldest, so beyond it new secrets are
	// ignored.
	maxSecrets = 2_000
	// workPerByte and freeWork bound how many bytes are compared for a text. Ordinary texts and secrets need less than one
	// comparison for each byte, but a repetitive text and a repetitive secret would need the product of their lengths. If
	// the bound is reached, the rest of the text is replaced unread.
	workPerByte = 64
	freeWork    = 64 << 10
)

// Add adds secrets. It ignores values that are too short to be secret, and those beyond maxSecrets.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	grew := false
	for _, value := range values {
		value = strings.TrimSpace(value)
		if _, ok := r.known[value]; ok || len(value) < minSecretBytes || len(r.known) >= maxSecrets {
			continue
		}
		if r.known == nil {
			r.known = map[string]struct{}{}
		}
		r.known[value] = struct{}{}
		grew = true
	}
	if grew {
		r.now.Store(indexOf(r.known))
	}
}

// Text returns s without the secrets that are known now.
func (r *Redactor) Text(s string) string {
	index := r.now.Load()
	if index == nil {
		return s
	}
	s = index.replace(s)
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	halves := Lines{redactor: r}
	for i := range lines {
		lines[i] = halves.hide(index, lines[i])
	}
	return strings.Join(lines, "\n")
}

// secretIndex finds many values in one pass. It is not changed after it is made.
type secretIndex struct {
	starts  [1 << 16 / 64]uint64 // a bit for each pair of first bytes, which rules out most positions of a text
	values  map[[4]byte][]string // by their first four bytes, longest first
	longest int
}

func indexOf(values map[string]struct{}) *secretIndex {
	x := &secretIndex{values: map[[4]byte][]string{}}
	taken := map[string]bool{}
	for value := range values {
		for _, v := range formsOf(value) {
			if taken[v] {
				continue
			}
			taken[v] = true
			start := [4]byte([]byte(v[:4]))
			x.values[start] = append(x.values[start], v)
			x.starts[pair(v)/64] |= 1 << (pair(v) % 64)
			x.longest = max(x.longest, len(v))
		}
	}
	for _, list := range x.values {
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return x
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// at returns the values that may begin where s begins. s must have at least four bytes.
func (x *secretIndex) at(s string) []string {
	if x.starts[pair(s)/64]>>(pair(s)%64)&1 == 0 {
		return nil
	}
	return x.values[[4]byte([]byte(s[:4]))]
}

// replace replaces each run of secrets with one mark. If two secrets overlap, nothing of either is left.
func (x *secretIndex) replace(s string) string {
	var out strings.Builder
	done, from, to := 0, -1, -1 // how much of s was copied, and the present run
	work := workPerByte*len(s) + freeWork
	for i := 0; i+4 <= len(s); i++ {
		n := 0
		for _, v := range x.at(s[i:]) {
			same := common(s[i:], v)
			if work -= same; same == len(v) {
				n = max(n, len(v))
				break // the values after this one are shorter
			}
			n = max(n, cutShort(s[i:], v, same))
		}
		if work < 0 {
			n = len(s) - i
		}
		if n == 0 {
			continue
		}
		if i > to && from >= 0 { // the run before has ended
			out.WriteString(s[done:from])
			out.WriteString(redactedText)
			done, from = to, -1
		}
		if from < 0 {
			from = i
		}
		if to = max(to, i+n); work < 0 {
			break
		}
	}
	if from < 0 {
		return s
	}
	out.WriteString(s[done:from])
	out.WriteString(redactedText)
	out.WriteString(s[to:])
	return out.String()
}

// common returns the length of the common prefix of a and b.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// cutShort returns how many bytes of a secret s begins with, if they are followed by a mark that a longer text was cut
// there. Lines of stderr, bodies of answers and similar texts are cut where they are read, before they are searched for
// secrets. If less than minSecretBytes of a secret is left, it is not found. n is the length of the common prefix of s
// and secret.
func cutShort(s, secret string, n int) int {
	for k := n; k >= minSecretBytes && k > n-len("..."); k-- { // the secret itself may have dots there
		if strings.HasPrefix(s[k:], "…") || strings.HasPrefix(s[k:], "...") {
			return k
		}
	}
	return 0
}

// Lines hides secrets that are spread over consecutive lines, as programs write them that wrap lines, or that log their
// input piece by piece. Its methods must not be called concurrently.
type Lines struct {
	redactor *Redactor
	open     []string // the rests of the secrets with whose beginning the last line ended
}

// NewLines returns a Lines for one sequence of lines and the secrets of r.
func NewLines(r *Redactor) *Lines { return &Lines{redactor: r} }

// maxHalves bounds how many rests are remembered.
const maxHalves = 16

// Line returns the next line without secrets, and without halves of them.
func (h *Lines) Line(s string) string {
	index := h.redactor.now.Load()
	if index == nil {
		h.open = nil
		return s
	}
	return h.hide(index, index.replace(s))
}

// hide removes halves of secrets from a line in which no whole secret is left. A half of at least minEncoded bytes at
// the end of a line is removed at once, whatever follows. A half at the beginning is removed only if the line before
// ended with the first half.
func (h *Lines) hide(index *secretIndex, s string) string {
	text := strings.TrimRight(s, " \t\r")
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	text = text[indent:]
	var open []string
	head := 0 // how many bytes of text continue a secret
	for _, rest := range h.open {
		switch {
		case strings.HasPrefix(text, rest):
			head = max(head, len(rest))
		case text != "" && strings.HasPrefix(rest, text): // the whole line is a piece of the secret
			head = len(text)
			open = append(open, unspaced(rest[len(text):]))
		}
	}
	tail := len(text) // where a secret begins that does not end in this line
	work := workPerByte*len(text) + freeWork
	for i := max(head, len(text)-index.longest); i+minEncoded <= len(text) && work > 0; i++ {
		for _, v := range index.at(text[i:]) {
			n := common(text[i:], v)
			if work -= n; n < len(text)-i || n == len(v) {
				continue
			}
			tail = min(tail, i)
			if len(open) < maxHalves {
				open = append(open, unspaced(v[n:]))
			}
		}
	}
	h.open = open
	if head == 0 && tail == len(text) {
		return s
	}
	var out strings.Builder
	out.WriteString(s[:indent])
	if head > 0 {
		out.WriteString(redactedText)
	}
	if tail >= head {
		out.WriteString(text[head:tail])
	}
	if tail < len(text) {
		out.WriteString(redactedText)
	}
	out.WriteString(s[indent+len(text):])
	return out.String()
}

// unspaced returns the rest of a secret as it begins on the next line: if the secret is broken at a space, neither line
// has the space.
func unspaced(rest string) string { return strings.TrimLeft(rest, " \t") }
