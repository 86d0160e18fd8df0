package toolset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// compose joins the pieces. If the text takes more than limit bytes in JSON quotes, its middle is left out: two thirds
// of what remains are from the beginning.
func (c *collector) compose(limit int) string {
	last := 0
	if limit >= 0 {
		last = limit / 3
	}
	extents := make([]extent, len(c.pieces))
	total := extent{bytes: max(len(c.pieces)-1, 0), lines: max(len(c.pieces)-1, 0)} // a line break between two
	for i, p := range c.pieces {
		extents[i] = p.measure(last)
		total.bytes += extents[i].bytes
		total.lines += extents[i].lines
	}
	if limit < 0 || total.bytes <= limit {
		var b strings.Builder
		for i, p := range c.pieces {
			if i > 0 {
				b.WriteByte('\n')
			}
			text, _, _ := p.head(extents[i].bytes)
			b.WriteString(text)
		}
		if limit < 0 || quotedBytes(b.String()) <= limit {
			return b.String()
		}
	}
	room := limit - markBytes
	head, kept, first, brokenFirst := c.beginning(room - room/3)
	tail, keptLast, brokenLast := c.end(room/3, extents, first, kept)
	c.view.Cut = true
	c.view.LeftBytes += max(total.bytes-kept-keptLast, 0)
	c.view.LeftLines = max(total.lines-strings.Count(head, "\n")-strings.Count(tail, "\n"), 0)
	mark := fmt.Sprintf("\n[... %d bytes, %d lines left out here", c.view.LeftBytes, c.view.LeftLines)
	if brokenFirst || brokenLast {
		mark += "; the JSON is cut and not valid"
	}
	if more := bounds.Cut(c.options.More, bounds.ViewSentence); more != "" {
		mark += ". " + more
	}
	return head + mark + " ...]\n" + tail
}

// markBytes is the maximum size of the mark in JSON quotes; the caller's sentence may contain quotes.
const markBytes = 130 + 2*bounds.ViewSentence

// beginning returns whole pieces, and the beginning of the first that does not fit. cut is the index of that one.
func (c *collector) beginning(room int) (text string, kept, cut int, broken bool) {
	var b strings.Builder
	for i, p := range c.pieces {
		if i > 0 {
			if room < 2 {
				return b.String(), kept, i, false
			}
			b.WriteByte('\n')
			room, kept = room-2, kept+1
		}
		part, n, all := p.head(room)
		if within := quotedPrefix(part, room); within < len(part) {
			part, n, all = part[:within], within, false
		}
		if !all {
			broken = jsonLike(part)
			b.WriteString(part)
			return b.String(), kept + n, i, broken
		}
		b.WriteString(part)
		room, kept = room-quotedBytes(part), kept+n
	}
	return b.String(), kept, len(c.pieces), false
}

// end returns whole pieces from the last one backward, and the end of the first that does not fit. It does not repeat
// text of beginning, which ended in the piece cut.
func (c *collector) end(room int, extents []extent, cut, before int) (text string, kept int, broken bool) {
	var parts []string
	for i := len(c.pieces) - 1; i >= cut && i >= 0; i-- {
		part, n := c.pieces[i].tail(room, extents[i].from)
		whole := n >= extents[i].bytes
		if i == cut { // beginning has a part of it
			had := before
			for _, e := range extents[:i] {
				had -= e.bytes + 1
			}
			if free := extents[i].bytes - had; n > free {
				start := max(n-free, 0)
				for start < len(part) && !utf8.RuneStart(part[start]) {
					start++
				}
				part = part[min(start, len(part)):]
				n = len(part)
			}
			whole = false
		}
		if start := quotedSuffix(part, room); start > 0 {
			part, whole = part[start:], false
			n = len(part)
		}
		parts = append(parts, part)
		kept += n
		if !whole {
			beginning, _, _ := c.pieces[i].head(64)
			broken = jsonLike(beginning)
			break
		}
		if room -= quotedBytes(part) + 2; room < 2 || i == cut {
			break
		}
		kept++
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
		if i > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String(), kept, broken
}

// quotedRune returns how many bytes a rune takes in a JSON string.
func quotedRune(r rune, size int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\t':
		return 2
	case r < ' ' || r == 0x7f:
		return 6
	}
	return size
}

func quotedBytes(s string) (n int) {
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		n += quotedRune(r, size)
	}
	return n
}

// quotedPrefix returns the end of the longest prefix of s that takes at most n bytes in JSON quotes.
func quotedPrefix(s string, n int) int {
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if n -= quotedRune(r, size); n < 0 {
			return i
		}
	}
	return len(s)
}

// quotedSuffix returns the start of the longest suffix of s that takes at most n bytes in JSON quotes.
func quotedSuffix(s string, n int) int {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= quotedRune(r, size); n < 0 {
			return i
		}
		i -= size
	}
	return 0
}
