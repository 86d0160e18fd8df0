package jsonrpc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReason is how many characters of a reason go into a log or an error text.
const maxReason = 256

// boundedReason makes foreign words fit for a log: at most maxReason characters, and nothing in it that moves a cursor
// or turns the direction of writing.
func boundedReason(s string) string {
	clean := true
	n := 0
	for _, r := range s {
		n++
		if n > maxReason || r == utf8.RuneError || !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	n = 0
	for _, r := range s {
		if n++; n > maxReason {
			b.WriteRune('…')
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		const hex = "0123456789abcdef"
		if r > 0xffff {
			b.WriteString(`\U00`)
			b.WriteByte(hex[r>>20&15])
			b.WriteByte(hex[r>>16&15])
		} else {
			b.WriteString(`\u`)
		}
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&15])
		}
	}
	return b.String()
}
