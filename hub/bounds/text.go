package bounds

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns at most n bytes of a text, in whole code points. If it cuts the text, the end of the result says so. It
// is for windows, which show the text, and for what is kept.
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

// PrintableRunes bounds a text of others in errors and logs, in runes of the text: a rune that is not printable is
// written with up to ten.
const PrintableRunes = 256

// PreviewRunes bounds the line that windows show of the arguments of a request, in runes.
const PreviewRunes = 200

// Printable returns a text of others in a form for a line of a log or an error: bounded and escaped, so that it can
// neither fill nor forge the line, move a cursor or change the direction of writing.
func Printable(s string) string {
	n := 0
	for i := range s {
		if n == PrintableRunes {
			return Escape(s[:i]) + "…"
		}
		n++
	}
	return Escape(s)
}

// Escape writes runes that are not printable as Go does. Bytes that are not UTF-8 are replaced.
func Escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// reasonRunes bounds a reason in code points: reasons are sent to servers and windows, and are logged.
const reasonRunes = 256

// Reason cuts the reason of a cancel. It changes nothing else: the server gets the reason word for word, and it has to
// be escaped where it is shown. Bytes that are not UTF-8 are replaced, since neither JSON nor protobuf can carry them.
func Reason(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := 0
	for i := range s {
		if n == reasonRunes {
			return s[:i]
		}
		n++
	}
	return s
}
