package toolset

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// unquoter returns the bytes of a JSON text without the white space between tokens. If the text is a JSON string, it
// returns those of the text in the string and decodes the escapes one by one, without buffering the text.
type unquoter struct {
	text    []byte
	escaped bool
	at      int
	rune    [utf8.UTFMax]byte // for an escape
	pending []byte            // the rest of it
	within  bool              // inside a string of the inner text
	slash   bool              // after a backslash in that string
}

func newUnquoter(raw json.RawMessage) *unquoter {
	if jsontext.IsString(raw) && len(raw) > 1 {
		return &unquoter{text: raw[1 : len(raw)-1], escaped: true}
	}
	return &unquoter{text: raw}
}

func (u *unquoter) next() (b byte, ok bool) {
	for {
		switch {
		case len(u.pending) > 0:
			b, u.pending = u.pending[0], u.pending[1:]
		case u.at == len(u.text):
			return 0, false
		case u.escaped && u.text[u.at] == '\\':
			size, r := escapeAt(u.text[u.at:])
			u.at += size
			u.pending = utf8.AppendRune(u.rune[:0], r)
			continue
		default:
			b = u.text[u.at]
			u.at++
		}
		switch {
		case u.slash:
			u.slash = false
		case u.within && b == '\\':
			u.slash = true
		case b == '"':
			u.within = !u.within
		case !u.within && (b == ' ' || b == '\n' || b == '\t' || b == '\r'):
			continue
		}
		return b, true
	}
}

func sameTokens(a, b *unquoter) bool {
	for {
		x, more := a.next()
		y, moreToo := b.next()
		if x != y || more != moreToo {
			return false
		}
		if !more {
			return true
		}
	}
}

// canonicalDepth bounds the nesting of values that are compared by appendCanonical.
const canonicalDepth = 64

// appendCanonical appends a value in one form: members sorted, only the last of several with one name, strings and
// numbers in one notation. It returns nil if the value is nested too deep.
func appendCanonical(b []byte, raw json.RawMessage, depth int) []byte {
	if depth > canonicalDepth || len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '{':
		members := membersOf(raw)
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(members)) {
			b = append(jsontext.AppendString(b, name), ':')
			if b = appendCanonical(b, members[name], depth+1); b == nil {
				return nil
			}
			b = append(b, ',')
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		jsontext.Elements(raw, func(value json.RawMessage) bool {
			if b = appendCanonical(b, value, depth+1); b != nil {
				b = append(b, ',')
			}
			return b != nil
		})
		if b == nil {
			return nil
		}
		return append(b, ']')
	case '"':
		return jsontext.AppendString(b, jsontext.String(raw))
	case 't', 'f', 'n':
		return append(b, strings.TrimSpace(string(raw))...)
	}
	return append(b, number(raw)...)
}

// number returns the same text for 1, 1.0 and 10e-1. A number whose text is long stays as it is.
func number(raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	if len(text) > 40 {
		return text
	}
	if _, exponent, has := strings.Cut(strings.ToLower(text), "e"); has && len(exponent) > 3 {
		return text
	}
	if n, ok := new(big.Rat).SetString(text); ok {
		return n.RatString()
	}
	return text
}
