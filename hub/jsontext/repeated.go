package jsontext

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
