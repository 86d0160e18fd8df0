package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// redactor makes secrets unreadable in what the hub says itself and in what it quotes of a server: its stderr, errors, the log, the bundle for a bug
// report. The content that a server sends to the user (results, prompts, log messages) is the server's word and passes as it is.
//
// It may be used concurrently. Without a secret a text costs one atomic load.
type redactor struct {
	now atomic.Pointer[secretIndex] // nil: nothing is secret

	mu    sync.Mutex // guards known; writers only
	known map[string]struct{}
}

const (
	redactedText = "[redacted]"
	// minSecretBytes is the length below which a value is no secret: to replace every "1" or "on" would hide everything else.
	minSecretBytes = 4
	// minSecretLine is the same for a line of a secret that has several, as stderr comes in lines.
	minSecretLine = 16
	// maxSecrets bounds what is looked for. The oldest are not told from the others: beyond it, new ones are not taken.
	maxSecrets = 10_000
)

// add registers values. Values that are too short to be secret, and those beyond the bound, are left out.
func (r *redactor) add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	grew := false
	for _, value := range values {
		for _, form := range formsOf(value) {
			if _, ok := r.known[form]; ok || len(r.known) >= maxSecrets {
				continue
			}
			if r.known == nil {
				r.known = map[string]struct{}{}
			}
			r.known[form] = struct{}{}
			grew = true
		}
	}
	if grew {
		r.now.Store(indexOf(r.known))
	}
}

// formsOf are the forms in which a secret may be met: as it is, quoted, within JSON as several languages write it, within a URL, and by its lines.
func formsOf(value string) (forms []string) {
	value = strings.TrimSpace(value)
	if len(value) < minSecretBytes {
		return nil
	}
	query := url.QueryEscape(value)
	forms = []string{value, query, url.PathEscape(value), asScript.Replace(query), escaped(value)}
	for _, quoted := range []string{strconv.Quote(value), strconv.QuoteToASCII(value)} {
		forms = append(forms, quoted[1:len(quoted)-1], strings.ReplaceAll(quoted[1:len(quoted)-1], "/", `\/`))
	}
	if text, err := json.Marshal(value); err == nil {
		forms = append(forms, string(text[1:len(text)-1]))
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine && !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// asScript makes of what url.QueryEscape gives that of JavaScript's encodeURIComponent, which most servers use.
var asScript = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// escaped is s as texts of servers are bounded and made printable.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// text gives s without the secrets that are known now.
func (r *redactor) text(s string) string {
	index := r.now.Load()
	if index == nil {
		return s
	}
	return index.replace(s)
}

// secretIndex finds many values in one pass. It is not changed once it is in use.
type secretIndex struct {
	starts [1 << 13]uint64      // a bit for each hash of four bytes with which a secret begins: most places of a text are passed by this alone
	values map[[4]byte][]string // by their first four bytes, longest first
}

func startHash(a, b, c, d byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24) * 0x9E3779B1 >> 13
}

func indexOf(values map[string]struct{}) *secretIndex {
	x := &secretIndex{values: map[[4]byte][]string{}}
	for v := range values {
		start := [4]byte([]byte(v[:4]))
		x.values[start] = append(x.values[start], v)
		bit := startHash(v[0], v[1], v[2], v[3])
		x.starts[bit>>6] |= 1 << (bit & 63)
	}
	for _, list := range x.values {
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return x
}

// replace puts one mark in the place of each run of secrets: where two overlap, no rest of either is left.
func (x *secretIndex) replace(s string) string {
	var out strings.Builder
	done, from, to := 0, -1, -1 // what is copied, and the run that is open
	for i := 0; i+4 <= len(s); i++ {
		bit := startHash(s[i], s[i+1], s[i+2], s[i+3])
		if x.starts[bit>>6]&(1<<(bit&63)) == 0 {
			continue
		}
		n := 0
		for _, v := range x.values[[4]byte([]byte(s[i:i+4]))] {
			if strings.HasPrefix(s[i:], v) {
				n = max(n, len(v))
				break // those that follow are shorter
			}
			n = max(n, cutShort(s[i:], v))
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
		to = max(to, i+n)
	}
	if from < 0 {
		return s
	}
	out.WriteString(s[done:from])
	out.WriteString(redactedText)
	out.WriteString(s[to:])
	return out.String()
}

// cutShort gives how much of a secret s begins with, if what follows tells that a longer text was cut there: lines of stderr, bodies of answers and
// the like are bounded where they are read, before anybody can look for secrets in them. What is left of one that has less than minSecretBytes is
// not found.
func cutShort(s, secret string) int {
	n := 0
	for n < len(s) && n < len(secret) && s[n] == secret[n] {
		n++
	}
	for k := n; k >= minSecretBytes && k > n-len("..."); k-- { // the secret itself may have dots there
		if strings.HasPrefix(s[k:], "…") || strings.HasPrefix(s[k:], "...") {
			return k
		}
	}
	return 0
}

// redacted gives what members are as JSON (objects, lists, texts) without secrets in their texts: for what leaves the hub as a whole, such as the
// bundle for a bug report. Numbers stay as they are, names of members too.
func (h *Hub) redacted(members map[string]any) map[string]any {
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	if d.Decode(&tree) != nil {
		return nil // cannot be: it was marshalled just now
	}
	for name := range tree {
		tree[name] = h.redactor.tree(tree[name])
	}
	return tree
}

func (r *redactor) tree(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		for i := range v {
			v[i] = r.tree(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = r.tree(v[name])
		}
	}
	return v
}

// quote bounds a text that comes from a server or quotes one, without secrets.
func (s *server) quote(text string) string { return boundText(s.hub.redactor.text(text)) }
