package hub

import (
	"fmt"
	"strings"
	"unicode"
)

// maxReason bounds a reason in runes: reasons travel to servers, windows and logs.
const maxReason = 256

// boundReason cuts a reason and escapes its control characters, so that it can neither flood nor forge a log line.
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

// cancelCause is the cause of every context that the hub cancels: who, why, and what the caller is told.
type cancelCause struct {
	Origin Origin
	Reason string // bounded
	Err    *Error // what the caller gets; nil = CANCELLED
}

func (c *cancelCause) Error() string {
	if c.Reason == "" {
		return "cancelled by " + c.Origin.String()
	}
	return "cancelled by " + c.Origin.String() + ": " + c.Reason
}

// CancelReason is what travels to the server (jsonrpc.Reasoner). "" leaves the reason out.
func (c *cancelCause) CancelReason() string { return c.Reason }

// maxShownWireID bounds the id of a server's question for all who look at it, in bytes: the server chooses it, and each event of the request would carry it.
const maxShownWireID = 128

// shownWireID is the JSON text of an id, "" when it is too long.
func shownWireID(text string) string {
	if len(text) > maxShownWireID {
		return ""
	}
	return text
}
