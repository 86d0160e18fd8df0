package redact

import "strings"

// Lines hides a secret that is spread over lines that follow each other: whoever wraps lines, or logs what it reads
// piece by piece, writes it that way. Its lines come one by one, from one goroutine at a time, or under a lock.
type Lines struct {
	redactor *Redactor
	open     []string // what would have to follow: the rests of secrets that the last line ended with
}

// NewLines gives lines that follow each other, without the secrets of r.
func NewLines(r *Redactor) *Lines { return &Lines{redactor: r} }

// maxHalves bounds the rests that are remembered.
const maxHalves = 16

// Line gives a line without secrets, and without halves of them.
func (h *Lines) Line(s string) string {
	index := h.redactor.now.Load()
	if index == nil {
		h.open = nil
		return s
	}
	return h.hide(index, index.replace(s))
}

// hide takes halves out of a line that has no whole secrets. A half of minEncoded bytes at the end of a line is taken
// out at once, whatever follows; one at the beginning only when the line before it ended with what belongs before it.
func (h *Lines) hide(index *secretIndex, s string) string {
	text := strings.TrimRight(s, " \t\r")
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	text = text[indent:]
	var open []string
	head := 0 // bytes of text that go on with a secret
	for _, rest := range h.open {
		switch {
		case strings.HasPrefix(text, rest):
			head = max(head, len(rest))
		case text != "" && strings.HasPrefix(rest, text): // the whole line is a piece of it
			head = len(text)
			open = append(open, unspaced(rest[len(text):]))
		}
	}
	tail := len(text) // where a secret begins that does not end
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

// unspaced is what follows on the next line when a secret is broken at its spaces: neither line has them.
func unspaced(rest string) string { return strings.TrimLeft(rest, " \t") }
