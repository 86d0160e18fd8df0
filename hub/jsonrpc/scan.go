package jsonrpc

// maxDepth is the deepest nesting of arrays and objects that is accepted; encoding/json has the same limit.
const maxDepth = 10000

// scanner checks JSON text in one pass without recursion and without decoding. Its methods take the index at which
// to begin and return the index after what they read, or -1 when the text is not JSON there.
type scanner struct {
	stack []byte // the open brackets inside value
}

// envelope holds the members of a message as slices of its text; nil is an absent member. As with encoding/json, the
// last of several members with one name counts.
type envelope struct {
	version, id, method, params, result, err []byte
}

type messageKind int

const (
	kindInvalid messageKind = iota
	kindObject
	kindArray
)

// message scans one whole message. For an array env stays empty and elements reads on.
func (s *scanner) message(b []byte, env *envelope) messageKind {
	*env = envelope{}
	i := skipBlanks(b, 0)
	if i == len(b) {
		return kindInvalid
	}
	kind := kindArray
	switch b[i] {
	case '{':
		kind = kindObject
		i = s.object(b, i, env.set)
	case '[':
		i = s.value(b, i, 0)
	default:
		return kindInvalid
	}
	if i < 0 || skipBlanks(b, i) != len(b) {
		return kindInvalid
	}
	return kind
}

func (e *envelope) set(name, value []byte) {
	switch string(name) {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.err = value
	}
}

// object reads an object at i and shows each member to visit: the name without quotes, escapes undone, and the exact
// text of the value.
func (s *scanner) object(b []byte, i int, visit func(name, value []byte)) int {
	if i = skipBlanks(b, i); i == len(b) || b[i] != '{' {
		return -1
	}
	if i = skipBlanks(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i = skipBlanks(b, i); i == len(b) || b[i] != '"' {
			return -1
		}
		from := i + 1
		end, escaped := scanString(b, from)
		if end < 0 {
			return -1
		}
		name := b[from : end-1]
		if escaped {
			name = []byte(unquote(b[i:end]))
		}
		if i = skipBlanks(b, end); i == len(b) || b[i] != ':' {
			return -1
		}
		from = skipBlanks(b, i+1)
		if i = s.value(b, from, 1); i < 0 {
			return -1
		}
		visit(name, b[from:i:i])
		if i = skipBlanks(b, i); i == len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

// elements shows each element of a valid array to visit.
func (s *scanner) elements(b []byte, visit func(value []byte)) {
	i := skipBlanks(b, 0) + 1
	for i > 0 {
		i = skipBlanks(b, i)
		if i >= len(b) || b[i] == ']' {
			return
		}
		from := i
		if i = s.value(b, from, 1); i < 0 {
			return
		}
		visit(b[from:i:i])
		if i = skipBlanks(b, i); i < len(b) && b[i] == ',' {
			i++
		}
	}
}

// value reads any value at i, which lies inside depth open brackets.
func (s *scanner) value(b []byte, i, depth int) int {
	s.stack = s.stack[:0]
	for {
		// A value begins here.
		if i = skipBlanks(b, i); i == len(b) {
			return -1
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth+len(s.stack) >= maxDepth {
				return -1
			}
			i = skipBlanks(b, i+1)
			if i == len(b) {
				return -1
			}
			if b[i] == c+2 { // '{'+2 is '}', '['+2 is ']'
				i++
				break
			}
			s.stack = append(s.stack, c)
			if c == '{' {
				if i = scanName(b, i); i < 0 {
					return -1
				}
			}
			continue
		case '"':
			if i, _ = scanString(b, i+1); i < 0 {
				return -1
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
			return -1
		}
		// A value has ended here: close what it closes.
		for {
			if len(s.stack) == 0 {
				return i
			}
			if i = skipBlanks(b, i); i == len(b) {
				return -1
			}
			open := s.stack[len(s.stack)-1]
			if b[i] == ',' {
				i++
				if open == '{' {
					if i = scanName(b, i); i < 0 {
						return -1
					}
				}
				break
			}
			if b[i] != open+2 {
				return -1
			}
			i++
			s.stack = s.stack[:len(s.stack)-1]
		}
	}
}

// validJSON tells whether b is one JSON value, blanks around it allowed.
func validJSON(b []byte) bool {
	var room [64]byte
	s := scanner{stack: room[:0]}
	i := s.value(b, 0, 0)
	return i >= 0 && skipBlanks(b, i) == len(b)
}
