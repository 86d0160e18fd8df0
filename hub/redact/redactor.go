package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Redactor makes secrets unreadable in what the hub says itself, in what it quotes of a server (its stderr, errors, the
// log, the bundle for a bug report), and in a server's log messages, which people copy into reports. What a server
// sends to answer or to ask (results, prompts) passes as it is.
//
// A secret is found as it is, in either case, quoted, in JSON, in a URL, in hexadecimal, in base64, and in two halves
// on two lines that follow each other (see forms.go); not after any other change that a server may make on
// purpose. The work for a text is bounded by its length.
//
// It may be used concurrently. Without a secret a text costs one atomic load.
type Redactor struct {
	now atomic.Pointer[secretIndex] // nil: nothing is secret

	mu    sync.Mutex // guards known; writers only
	known map[string]struct{}
}

const (
	redactedText = "[redacted]"
	// minSecretBytes is the length below which a value is no secret: to replace every "1" or "on" would hide everything
	// else.
	minSecretBytes = 4
	// minSecretLine is the same for a line of a secret that has several, as stderr comes in lines.
	minSecretLine = 16
	// maxSecrets bounds what is looked for. The oldest are not told from the others: beyond it, new ones are not taken.
	maxSecrets = 2_000
	// workPerByte and freeWork bound the bytes that are compared for a text. Ordinary texts and secrets need less than one
	// for each byte; a text and a secret that repeat themselves would need as many as their lengths multiplied. What is
	// left of such a text is replaced unread.
	workPerByte = 64
	freeWork    = 64 << 10
)

// Add registers values. Values that are too short to be secret, and those beyond the bound, are left out.
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

// Text gives s without the secrets that are known now.
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

// secretIndex finds many values in one pass. It is not changed once it is in use.
type secretIndex struct {
	starts  [1 << 16 / 64]uint64 // a bit for each two first bytes: most places of a text are passed by this alone
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

// at gives the values that may begin at a place of s, which has at least four bytes.
func (x *secretIndex) at(s string) []string {
	if x.starts[pair(s)/64]>>(pair(s)%64)&1 == 0 {
		return nil
	}
	return x.values[[4]byte([]byte(s[:4]))]
}

// replace puts one mark in the place of each run of secrets: where two overlap, no rest of either is left.
func (x *secretIndex) replace(s string) string {
	var out strings.Builder
	done, from, to := 0, -1, -1 // what is copied, and the run that is open
	work := workPerByte*len(s) + freeWork
	for i := 0; i+4 <= len(s); i++ {
		n := 0
		for _, v := range x.at(s[i:]) {
			same := common(s[i:], v)
			if work -= same; same == len(v) {
				n = max(n, len(v))
				break // those that follow are shorter
			}
			n = max(n, cutShort(s[i:], v, same))
		}
		if work < 0 {
			n = len(s) - i
		}
		if n == 0 {
			continue
		}
		if i > to && from >= 0 { // the run before is over
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

// common is how many bytes a and b begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// cutShort gives how much of a secret s begins with, if what follows tells that a longer text was cut there: lines of
// stderr, bodies of answers and the like are bounded where they are read, before anybody can look for secrets in them.
// What is left of one that has less than minSecretBytes is not found. n is how much of the two is alike.
func cutShort(s, secret string, n int) int {
	for k := n; k >= minSecretBytes && k > n-len("..."); k-- { // the secret itself may have dots there
		if strings.HasPrefix(s[k:], "…") || strings.HasPrefix(s[k:], "...") {
			return k
		}
	}
	return 0
}
