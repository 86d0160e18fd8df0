package jsontext

import (
	"encoding/json"
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
