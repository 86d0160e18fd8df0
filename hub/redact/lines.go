package redact

import "strings"

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
