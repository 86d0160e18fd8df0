package bounds

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut gives at most n bytes of a text, whole code points of it, and says at its end that it was cut.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "... (cut)"
	end := max(n-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// PrintableRunes bounds a text of a peer in errors and logs, in runes of what it says: one that does not print is
// written with up to eight.
const PrintableRunes = 256

// Printable bounds a peer's text and escapes what does not print, so that it can neither fill nor forge a log or an
// error.
func Printable(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == PrintableRunes {
			b.WriteString("…")
			break
		}
		n++
		if !unicode.IsPrint(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
