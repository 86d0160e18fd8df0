package jsontext

// Repeated finds a name that an object in the valid text b has twice, however deep inside: two readers may take two
// meanings from it. Names are the same when a reader would take them for the same, however they are spelled. found is
// false when there is none.
func Repeated(b []byte) (name string, found bool) {
	var spare []map[string]struct{} // small and empty
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
	names  map[string]struct{} // those of the object so far; nil: none
}

// smallObject bounds the names of an object whose book is used again: to clear a large one takes long.
const smallObject = 16
