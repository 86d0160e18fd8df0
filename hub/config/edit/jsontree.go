package edit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonTree is a text of JSON with comments. It is parsed anew after each change, so places are always those of now.
type jsonTree struct {
	bom  []byte
	root hujson.Value
	src  []byte // that root is of, without bom
	nl   string
	unit string // one level of indentation
	// ended: an end of line was added, which a comment in the last line needs
	ended bool
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// openJSON parses a text. An empty one is one without members.
func openJSON(text []byte) (*jsonTree, *Refusal) {
	t := &jsonTree{nl: lineEnd(text)}
	if bytes.HasPrefix(text, byteOrderMark) {
		t.bom, text = text[:len(byteOrderMark)], text[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}" + t.nl)
	}
	if text[len(text)-1] != '\n' {
		text, t.ended = append(bytes.Clone(text), '\n'), true
	}
	if r := t.parse(text); r != nil {
		return nil, r
	}
	t.unit = unitOf(t.root.Value)
	return t, nil
}

func (t *jsonTree) parse(text []byte) *Refusal {
	root, err := hujson.Parse(text)
	if err != nil {
		return refuse(Broken, 0, "", "is no JSON text") // the reader has told where before
	}
	t.root, t.src = root, bytes.Clone(text)
	return nil
}

// lineEnd is what ends the first line of a text.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unitOf is by how much the first member of the root is indented; two blanks if it is not on a line of its own.
func unitOf(root hujson.ValueTrimmed) string {
	if o, ok := root.(*hujson.Object); ok {
		for _, m := range o.Members {
			if unit, own := ownLine(m.Name.BeforeExtra); own && unit != "" {
				return unit
			}
		}
	}
	return "  "
}

// ownLine tells whether what follows begins a line, and by what it is indented.
func ownLine(before hujson.Extra) (indent string, own bool) {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 || len(bytes.Trim(before[i+1:], " \t")) > 0 {
		return "", false
	}
	return string(before[i+1:]), true
}

func (t *jsonTree) text() []byte {
	text := t.src
	if t.ended {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return append(bytes.Clone(t.bom), text...)
}

// line is the line of an offset.
func (t *jsonTree) line(at int) int {
	return 1 + bytes.Count(t.src[:min(at, len(t.src))], []byte("\n"))
}

// indentOf is by what the line of an offset is indented.
func (t *jsonTree) indentOf(at int) string {
	line := t.src[bytes.LastIndexByte(t.src[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// find goes to the object of a path, and from there to its last step; i is -1 when there is none. rest are the steps
// that are not there, the last one among them.
func (t *jsonTree) find(path []string) (o *hujson.Object, i int, rest []string, r *Refusal) {
	v := &t.root
	for n, step := range path {
		var ok bool
		if o, ok = v.Value.(*hujson.Object); !ok {
			return nil, -1, nil, refuse(Unsupported, t.line(v.StartOffset), join(path[:n]), "is no object; edit the file by hand")
		}
		i = -1
		for at, m := range o.Members {
			if m.Name.Value.(hujson.Literal).String() != step {
				continue
			}
			if i >= 0 {
				return nil, -1, nil, refuse(Unsupported, t.line(m.Name.StartOffset), join(path[:n+1]),
					"comes twice, in line %d and line %d; remove one of them", t.line(o.Members[i].Name.StartOffset),
					t.line(m.Name.StartOffset))
			}
			i = at
		}
		if i < 0 {
			return o, -1, path[n:], nil
		}
		v = &o.Members[i].Value
	}
	return o, i, nil, nil
}

func (t *jsonTree) get(path []string) (any, bool, *Refusal) {
	o, i, _, r := t.find(path)
	if r != nil || i < 0 {
		return nil, false, r
	}
	at := o.Members[i]
	if name := doubled(at.Value.Value); name != "" {
		return nil, false, refuse(Unsupported, t.line(at.Name.StartOffset), join(path), "has the key %q twice; remove one of them",
			short(name))
	}
	return plain(at.Value.Value), true, nil
}

func (t *jsonTree) set(path []string, v any) *Refusal {
	o, i, rest, r := t.find(path)
	if r != nil {
		return r
	}
	if i >= 0 {
		at := o.Members[i].Name.StartOffset
		_, own := ownLine(o.Members[i].Name.BeforeExtra)
		o.Members[i].Value.Value = hujson.Literal(jsonText(v, t.indentOf(at), t.unit, t.nl, !own))
	} else {
		for n := len(rest) - 1; n > 0; n-- {
			v = object{{rest[n], v}}
		}
		t.insert(o, rest[0], v)
	}
	return t.parse(t.root.Pack())
}

// insert adds a member behind the others: on a line of its own if one of them is, or there are none.
func (t *jsonTree) insert(o *hujson.Object, name string, v any) {
	indent, own := t.indentWithin(o), len(o.Members) == 0
	for _, m := range o.Members {
		if in, ok := ownLine(m.Name.BeforeExtra); ok {
			indent, own = in, true
			break
		}
	}
	said, blanks := splitExtra(o.AfterExtra)
	fresh := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(said, ' '), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.Literal(jsonText(v, indent, t.unit, t.nl, !own))},
	}
	if own {
		fresh.Name.BeforeExtra = append(said, t.nl+indent...)
	}
	if last := len(o.Members) - 1; last >= 0 {
		fresh.Value.AfterExtra = emptyLike(o.Members[last].Value.AfterExtra)
	} else if !bytes.ContainsRune(blanks, '\n') {
		blanks = hujson.Extra(t.nl + strings.TrimSuffix(indent, t.unit))
	}
	o.Members = append(o.Members, fresh)
	o.AfterExtra = blanks
}

func (t *jsonTree) extend(path []string, v any) *Refusal {
	o, i, _, r := t.find(path)
	if r != nil {
		return r
	}
	if i < 0 {
		return t.set(path, []any{v})
	}
	at := &o.Members[i].Value
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return refuse(Unsupported, t.line(at.StartOffset), join(path), "is no array; edit the file by hand")
	}
	if len(list.Elements) == 0 && len(bytes.TrimSpace(list.AfterExtra)) == 0 {
		return t.set(path, []any{v})
	}
	indent, own := t.indentOf(at.StartOffset)+t.unit, len(list.Elements) == 0
	for _, e := range list.Elements {
		if in, ok := ownLine(e.BeforeExtra); ok {
			indent, own = in, true
			break
		}
	}
	said, blanks := splitExtra(list.AfterExtra)
	fresh := hujson.Value{BeforeExtra: append(said, ' '), Value: hujson.Literal(jsonText(v, indent, t.unit, t.nl, true))}
	if own {
		fresh.BeforeExtra = append(said, t.nl+indent...)
	}
	if last := len(list.Elements) - 1; last >= 0 {
		fresh.AfterExtra = emptyLike(list.Elements[last].AfterExtra)
	}
	list.Elements = append(list.Elements, fresh)
	list.AfterExtra = blanks
	return t.parse(t.root.Pack())
}

// emptyLike is nil for nil: hujson writes a comma behind a last value whose extra is not nil.
func emptyLike(e hujson.Extra) hujson.Extra {
	if e == nil {
		return nil
	}
	return hujson.Extra{}
}

// indentWithin is how members of an object without any are indented.
func (t *jsonTree) indentWithin(o *hujson.Object) string {
	for v := range t.root.All() {
		if v.Value == hujson.ValueTrimmed(o) {
			return t.indentOf(v.StartOffset) + t.unit
		}
	}
	return t.unit
}

// splitExtra divides what stands before a closing brace: comments, and the blanks behind the last of them.
func splitExtra(e hujson.Extra) (said, blanks hujson.Extra) {
	end := 0
	for i := 0; i < len(e); i++ {
		if e[i] != '/' || i+1 >= len(e) {
			continue
		}
		if e[i+1] == '*' {
			i += 2 + bytes.Index(e[i+2:], []byte("*/")) + 1
			end = i + 1
		} else {
			i += bytes.IndexByte(e[i:], '\n')
			end = i
			if end > 0 && e[end-1] == '\r' {
				end--
			}
		}
	}
	return bytes.Clone(e[:end]), bytes.Clone(e[end:])
}

func (t *jsonTree) remove(path []string) *Refusal {
	o, i, _, r := t.find(path)
	if r != nil || i < 0 {
		return r
	}
	before := o.Members[i].Name.BeforeExtra
	after := &o.AfterExtra
	if last := i == len(o.Members)-1; !last {
		after = &o.Members[i+1].Name.BeforeExtra
	} else if i > 0 {
		previous := &o.Members[i-1].Value
		if o.Members[i].Value.AfterExtra == nil && previous.AfterExtra != nil { // no comma behind the last one
			before = append(bytes.Clone(previous.AfterExtra), before...)
			previous.AfterExtra = nil
		}
	}
	if first := i == 0 && len(o.Members) > 1; first && len(bytes.Trim(*after, " \t")) == 0 {
		*after = before // of an object on one line
	} else {
		*after = append(kept(before), restOfLine(*after)...)
	}
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	if len(o.Members) == 0 && len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		o.AfterExtra = nil
	}
	return t.parse(t.root.Pack())
}

// kept is what stays of what stands before a member that goes: what is in the line of the member before it, and
// comments that a blank line divides from the member.
func kept(before hujson.Extra) hujson.Extra {
	i := bytes.IndexByte(before, '\n')
	if i < 0 {
		said, _ := splitExtra(before)
		return said
	}
	end := i
	if end > 0 && before[end-1] == '\r' {
		end--
	}
	lines := bytes.Split(before[i:], []byte("\n"))
	for n := len(lines) - 2; n > 0; n-- {
		if len(bytes.TrimSpace(lines[n])) > 0 {
			continue
		}
		if section := bytes.Join(lines[:n], []byte("\n")); bytes.ContainsRune(section, '/') && whole(section) {
			end = i + len(bytes.TrimRight(section, "\r"))
		}
		break
	}
	return bytes.Clone(before[:end])
}

// whole tells whether a part of an extra ends in no comment over several lines.
func whole(part []byte) bool { return hujson.Extra(append(bytes.Clone(part), '\n')).IsValid() }

// restOfLine leaves out what stands in the line of the member that goes.
func restOfLine(after hujson.Extra) hujson.Extra {
	i := bytes.IndexByte(after, '\n')
	if i < 0 {
		return after
	}
	if i > 0 && after[i-1] == '\r' {
		i--
	}
	if !whole(after[:i]) { // a comment that goes on in the next line
		return after
	}
	return after[i:]
}
