package mcp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// eachMember walks the members of a JSON object without decoding them, until f returns false. The name is decoded and must not be kept; the
// value is a part of raw. It reports whether raw is an object. raw must be valid JSON: what comes from jsonrpc is. Results can be very large, and all
// that a session needs of them is a member or two.
func eachMember(raw []byte, f func(name []byte, value json.RawMessage) bool) bool {
	i := skipBlanks(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	i = skipBlanks(raw, i+1)
	for i < len(raw) && raw[i] == '"' {
		end := skipValue(raw, i)
		name := memberName(raw[i:end])
		i = skipBlanks(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			return true
		}
		i = skipBlanks(raw, i+1)
		end = skipValue(raw, i)
		if !f(name, raw[i:end:end]) {
			return true
		}
		i = skipBlanks(raw, end)
		if i >= len(raw) || raw[i] != ',' {
			return true
		}
		i = skipBlanks(raw, i+1)
	}
	return true
}

// member is one member's value, nil when it is absent or raw is no object. The last of two members of one name counts, as in encoding/json.
func member(raw []byte, name string) json.RawMessage {
	var found json.RawMessage
	eachMember(raw, func(n []byte, v json.RawMessage) bool {
		if string(n) == name {
			found = v
		}
		return true
	})
	return found
}

func memberName(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(stringOf(quoted))
}

// stringOf is a JSON string's value, "" for anything else.
func stringOf(raw json.RawMessage) string {
	if plainString(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// plainString tells whether raw is a string of ASCII without escapes, as most are: there is nothing to decode.
func plainString(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c < ' ' || c >= utf8.RuneSelf || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the index behind the value that starts at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(b)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// isObject reports whether raw, which need not be JSON at all, is one valid JSON object.
func isObject(raw json.RawMessage) bool {
	i := skipBlanks(raw, 0)
	return i < len(raw) && raw[i] == '{' && json.Valid(raw)
}

// oneLine makes raw fit for a line of its own: stdio allows no line end within a message (basic/transports, every revision). Valid JSON has
// line ends between tokens only, so nothing but layout is lost.
func oneLine(raw json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(raw, "\n\r") {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// appendString writes s as a JSON string.
func appendString(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	text, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // cannot happen: every string can be marshalled
	}
	return append(b, text...)
}

// isPlain reports whether s is the inside of its own JSON string.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}
