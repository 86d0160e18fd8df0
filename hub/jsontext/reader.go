package jsontext

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted. encoding/json has the same limit.
const MaxDepth = 10000

// Results of the scanning methods in place of an index.
const (
	invalid = -1
	tooDeep = -2
	stopped = -3 // no error: the callback has ended the scan
)

// Reader parses JSON text in one pass. It reuses its memory for the next text. It must not be used concurrently. The
// zero Reader is ready to use.
//
// Its unexported methods take the index at which to begin, and return the index after what they have parsed, or one of
// the negative constants above.
type Reader struct {
	// For each open bracket inside a value, whether it is that of an object. A fixed size, so that it needs no heap.
	objects [(MaxDepth + 63) / 64]uint64
	places  []place // the members of a result
}

// place holds the positions of a member, relative to the first byte of its object.
type place struct {
	name, nameEnd int  // without the quotes
	from, end     int  // the value; end is used only where places are stored
	escaped       bool // the name has escapes
}

// Valid reports whether b is one JSON value, with optional white space around it.
func Valid(b []byte) bool {
	var r Reader
	i := r.value(b, 0, 0)
	return i >= 0 && skipBlanks(b, i) == len(b)
}

// IsObject reports whether b, which need not be JSON at all, is one JSON object.
func IsObject(b []byte) bool {
	i := skipBlanks(b, 0)
	return i < len(b) && b[i] == '{' && Valid(b)
}

// Members calls f with the members of the object b until f returns false. name is without its quotes and with its
// escapes decoded, and must not be retained; value is the exact text of the value, a slice of b. Members reports
// whether b is an object. It does not parse the text behind the last member that it has passed to f.
func Members(b []byte, f func(name []byte, value json.RawMessage) bool) (object bool) {
	var r Reader
	end := r.object(b, 0, func(p place) int {
		end := r.value(b, p.from, 1)
		if end >= 0 && !f(p.nameIn(b), b[p.from:end:end]) {
			return stopped
		}
		return end
	})
	return end >= 0 || end == stopped
}

// Elements calls f with the elements of the array b until f returns false, and reports whether b is an array.
func Elements(b []byte, f func(value json.RawMessage) bool) (array bool) {
	var r Reader
	return r.elements(b, f) >= 0
}

// Get returns the value of a member of the object b, or nil if there is none or b is no object.
func Get(b []byte, name string) json.RawMessage {
	var found json.RawMessage
	Members(b, func(n []byte, v json.RawMessage) bool {
		if string(n) == name {
			found = v
		}
		return true
	})
	return found
}

// object parses an object at i. It calls value at the beginning of each member's value; value parses that and may end
// the scan.
func (r *Reader) object(b []byte, i int, value func(p place) int) int {
	if i = skipBlanks(b, i); i == len(b) || b[i] != '{' {
		return invalid
	}
	if i = skipBlanks(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	var p place
	for {
		if i = skipBlanks(b, i); i == len(b) || b[i] != '"' {
			return invalid
		}
		p.name = i + 1
		if i, p.escaped = scanString(b, p.name); i < 0 {
			return invalid
		}
		p.nameEnd = i - 1
		if i = skipBlanks(b, i); i == len(b) || b[i] != ':' {
			return invalid
		}
		p.from = skipBlanks(b, i+1)
		if i = value(p); i < 0 {
			return i
		}
		if i = skipBlanks(b, i); i == len(b) {
			return invalid
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return i + 1
		default:
			return invalid
		}
	}
}

func (r *Reader) elements(b []byte, f func(value json.RawMessage) bool) int {
	i := skipBlanks(b, 0)
	if i == len(b) || b[i] != '[' {
		return invalid
	}
	if i = skipBlanks(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		from := skipBlanks(b, i)
		if i = r.value(b, from, 1); i < 0 {
			return i
		}
		if !f(b[from:i:i]) {
			return i
		}
		if i = skipBlanks(b, i); i == len(b) {
			return invalid
		}
		switch b[i] {
		case ',':
			i++
		case ']':
			return i + 1
		default:
			return invalid
		}
	}
}

// nameIn returns the name of a member of b with its escapes decoded.
func (p place) nameIn(b []byte) []byte {
	if name := b[p.name:p.nameEnd]; !p.escaped && utf8.Valid(name) {
		return name
	}
	return []byte(String(b[p.name-1 : p.nameEnd+1]))
}

// value parses any value at i, which is inside depth open brackets.
func (r *Reader) value(b []byte, i, depth int) int {
	open := 0
	for {
		// A value begins here.
		if i = skipBlanks(b, i); i == len(b) {
			return invalid
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth+open >= MaxDepth {
				return tooDeep
			}
			i = skipBlanks(b, i+1)
			if i == len(b) {
				return invalid
			}
			if b[i] == c+2 { // '{'+2 is '}', '['+2 is ']'
				i++
				break
			}
			word, bit := open/64, uint64(1)<<(open%64)
			open++
			if c == '[' {
				r.objects[word] &^= bit
				continue
			}
			r.objects[word] |= bit
			if i = scanName(b, i); i < 0 {
				return invalid
			}
			continue
		case '"':
			if i, _ = scanString(b, i+1); i < 0 {
				return invalid
			}
		case 't':
			i = scanWord(b, i, "true")
		case 'f':
			i = scanWord(b, i, "false")
		case 'n':
			i = scanWord(b, i, "null")
		default:
			i = scanNumber(b, i)
		}
		if i < 0 {
			return invalid
		}
		// A value has ended here: close the arrays and objects that end with it.
		for {
			if open == 0 {
				return i
			}
			if i = skipBlanks(b, i); i == len(b) {
				return invalid
			}
			object := r.objects[(open-1)/64]>>((open-1)%64)&1 != 0
			if b[i] == ',' {
				i++
				if object {
					if i = scanName(b, i); i < 0 {
						return invalid
					}
				}
				break
			}
			if object && b[i] != '}' || !object && b[i] != ']' {
				return invalid
			}
			i++
			open--
		}
	}
}

// IsID reports whether b is exactly one string or number, as an id must be.
func IsID(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case b[0] == '"':
		end, _ := scanString(b, 1)
		return end == len(b)
	}
	return scanNumber(b, 0) == len(b)
}

// IsString reports whether a token begins like a string. If the token is a value of valid text, it then is a string.
func IsString(token []byte) bool { return len(token) > 0 && token[0] == '"' }

// IsNull reports whether a token is null.
func IsNull(token []byte) bool { return string(token) == "null" }

// String returns the value of a string token, whose quotes are included, or "" for any other token. Bytes that are not
// UTF-8, and halves of surrogate pairs, become U+FFFD.
func String(token []byte) string {
	if len(token) < 2 || token[0] != '"' || token[len(token)-1] != '"' {
		return ""
	}
	inside := token[1 : len(token)-1]
	plain := true
	for _, c := range inside[skipPlain(inside, 0):] {
		if c == '\\' || c == '"' || c < ' ' {
			plain = false
			break
		}
	}
	if plain && utf8.Valid(inside) {
		return string(inside)
	}
	var s string
	if json.Unmarshal(token, &s) != nil {
		return ""
	}
	return s
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanName scans a member name and its colon.
func scanName(b []byte, i int) int {
	if i = skipBlanks(b, i); i == len(b) || b[i] != '"' {
		return -1
	}
	if i, _ = scanString(b, i+1); i < 0 {
		return -1
	}
	if i = skipBlanks(b, i); i == len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

// special marks the bytes of v that end the plain part of a string.
func special(v uint64) uint64 {
	const ones = 0x0101010101010101
	quote, slash := v^(ones*'"'), v^(ones*'\\')
	return ((v-ones*0x20)&^v | (quote-ones)&^quote | (slash-ones)&^slash) & (ones * 0x80)
}

// skipPlain skips blocks of 32 bytes that consist of plain bytes only.
func skipPlain(b []byte, i int) int {
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32 : i+32]
		if special(binary.LittleEndian.Uint64(w))|special(binary.LittleEndian.Uint64(w[8:]))|
			special(binary.LittleEndian.Uint64(w[16:]))|special(binary.LittleEndian.Uint64(w[24:])) != 0 {
			break
		}
	}
	return i
}

// scanString scans a string whose opening quote is before i. It accepts all bytes from 0x80 on and does not check
// whether they are UTF-8.
func scanString(b []byte, i int) (end int, escaped bool) {
	for {
		// Skip eight bytes at a time to the first quote, backslash or control character. Each of the three tests is exact for
		// the lowest byte that it marks, and only that one is used.
		for n := 1; i+8 <= len(b); n++ {
			if hit := special(binary.LittleEndian.Uint64(b[i : i+8])); hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			if i += 8; n&7 == 0 {
				i = skipPlain(b, i) // the string is a long one
			}
		}
		if i >= len(b) {
			return -1, escaped
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = scanEscape(b, i+1); i < 0 {
				return -1, true
			}
		case c < 0x20:
			return -1, escaped
		default:
			i++
		}
	}
}

func scanEscape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return -1
		}
		for _, c := range b[i+1 : i+5] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

func scanWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func scanNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i == len(b):
		return -1
	case b[i] == '0':
		i++
	default:
		if i = scanDigits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = scanDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = scanDigits(b, i)
	}
	return i
}

// scanDigits scans one or more digits.
func scanDigits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}

// Repeated finds a name that some object in the valid text b has twice, at any depth: two readers may find different
// meanings in such an object. Names are compared after their escapes were decoded. found is false if there is none.
func Repeated(b []byte) (name string, found bool) {
	var spare []map[string]struct{} // maps for reuse, empty and small
	var stack []level
	for i := 0; i < len(b); {
		switch b[i] {
		case '{', '[':
			stack = append(stack, level{object: b[i] == '{'})
		case '}', ']':
			if len(stack) == 0 {
				return "", false
			}
			if names := stack[len(stack)-1].names; names != nil && len(names) <= smallObject {
				clear(names)
				spare = append(spare, names)
			}
			stack = stack[:len(stack)-1]
		case '"':
			from := i
			if i, _ = scanString(b, i+1); i < 0 {
				return "", false
			}
			if at := skipBlanks(b, i); len(stack) == 0 || !stack[len(stack)-1].object || at == len(b) || b[at] != ':' {
				continue
			}
			top := &stack[len(stack)-1]
			if top.names == nil {
				if n := len(spare); n > 0 {
					top.names, spare = spare[n-1], spare[:n-1]
				} else {
					top.names = make(map[string]struct{})
				}
			}
			name = String(b[from:i])
			if _, known := top.names[name]; known {
				return name, true
			}
			top.names[name] = struct{}{}
			continue
		}
		i++
	}
	return "", false
}

// level is one open array or object.
type level struct {
	object bool
	names  map[string]struct{} // the names of the object so far; nil: none
}

// smallObject is how many names a map may have to be reused: clearing a large map takes long.
const smallObject = 16
