package hub

import (
	"fmt"
	"strings"
	"unicode"
)

// maxReason bounds a reason in code points: reasons travel to servers, windows and logs.
const maxReason = 256

// bound cuts a reason after maxReason code points, and changes nothing else: it reaches the server word for word, and
// whoever shows it makes it fit for where it is shown. Bytes that are no UTF-8 are replaced, as neither JSON nor
// protobuf could carry them.
func bound(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxReason {
		return s
	}
	n := 0
	for i := range s {
		if n == maxReason {
			return s[:i]
		}
		n++
	}
	return s
}

// boundReason is a text of others in a log line or an error: cut, and with everything escaped that could forge a line,
// move a cursor or turn the direction of writing.
func boundReason(s string) string {
	plain := len(s) <= maxReason
	if plain {
		for _, r := range s {
			if !unicode.IsPrint(r) {
				plain = false
				break
			}
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n == maxReason {
			b.WriteString("...")
			break
		}
		n++
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// maxShownWireID bounds the id of a server's question for all who look at it, in bytes: the server chooses it, and each
// event of the request would carry it.
const maxShownWireID = 128

// shownWireID is the JSON text of an id, "" when it is too long.
func shownWireID(text string) string {
	if len(text) > maxShownWireID {
		return ""
	}
	return text
}
