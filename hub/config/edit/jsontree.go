package edit

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcphub-go/mcphub/hub/config"
)

// jsonTree is a text of JSON with comments. Offsets in it are those of the text before all changes.
type jsonTree struct {
	root hujson.Value
	src  []byte
	nl   string
	unit string // one level of indentation
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// openJSON opens a text for changes of the entry at a path, and beside it.
func openJSON(l config.Layout, entry []string) (*jsonTree, *Refusal) {
	t := &jsonTree{root: l.Root, src: l.Text, nl: lineEnd(l.Text), unit: unitOf(l.Root.Value)}
	_, _, r := t.find(entry)
	return t, r
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

// text is the whole with all changes, without the line end that reading has added.
func (t *jsonTree) text() []byte { return bytes.TrimSuffix(t.root.Pack(), []byte("\n")) }

// line is the line of an offset.
func (t *jsonTree) line(at int) int { return 1 + bytes.Count(t.src[:at], []byte("\n")) }

// indentOf is by what the line of an offset is indented.
func (t *jsonTree) indentOf(at int) string {
	line := t.src[bytes.LastIndexByte(t.src[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// find returns the object that a path leads to before its last step, and the index of that step in it; -1 if there is
// none.
func (t *jsonTree) find(path []string) (in *hujson.Value, i int, r *Refusal) {
	in = &t.root
	for n, step := range path {
		if n > 0 {
			in = &in.Value.(*hujson.Object).Members[i].Value
		}
		o, ok := in.Value.(*hujson.Object)
		if !ok {
			return nil, -1, refuse(Unsupported, t.line(in.StartOffset), join(path[:n]), "is no object; edit the file by hand")
		}
		i = -1
		for at, m := range o.Members {
			if m.Name.Value.(hujson.Literal).String() != step {
				continue
			}
			if i >= 0 {
				first, second := t.line(o.Members[i].Name.StartOffset), t.line(m.Name.StartOffset)
				return nil, -1, refuse(Unsupported, second, join(path[:n+1]),
					"comes twice, in line %d and line %d; remove one of them", first, second)
			}
			i = at
		}
		if i < 0 {
			break
		}
	}
	return in, i, nil
}

func (t *jsonTree) set(path []string, v any) *Refusal {
	in, i, r := t.find(path)
	if r != nil {
		return r
	}
	o := in.Value.(*hujson.Object)
	if i < 0 {
		t.insert(o, t.indentOf(in.StartOffset)+t.unit, path[len(path)-1], v)
		return nil
	}
	at := &o.Members[i]
	if list, ok := at.Value.Value.(*hujson.Array); ok {
		all, _ := v.([]any)
		if n := len(list.Elements); n < len(all) && reflect.DeepEqual(plain(list), any(all[:n:n])) &&
			n+len(bytes.TrimSpace(list.AfterExtra)) > 0 {
			t.extend(list, t.indentOf(at.Value.StartOffset)+t.unit, all[n:])
			return nil
		}
	}
	_, own := ownLine(at.Name.BeforeExtra)
	at.Value.Value = hujson.Literal(jsonText(v, t.indentOf(at.Name.StartOffset), t.unit, t.nl, !own))
	return nil
}

// insert adds a member behind the others: on a line of its own if one of them is, or there are none.
func (t *jsonTree) insert(o *hujson.Object, indent, name string, v any) {
	own := len(o.Members) == 0
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
	if own || !said.IsValid() {
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

// extend adds elements behind those of an array, on lines of their own if one of these is, or there are none.
func (t *jsonTree) extend(list *hujson.Array, indent string, more []any) {
	own := len(list.Elements) == 0
	for _, e := range list.Elements {
		if in, ok := ownLine(e.BeforeExtra); ok {
			indent, own = in, true
			break
		}
	}
	for _, v := range more {
		said, blanks := splitExtra(list.AfterExtra)
		fresh := hujson.Value{BeforeExtra: append(said, ' '), Value: hujson.Literal(jsonText(v, indent, t.unit, t.nl, true))}
		if own || !said.IsValid() {
			fresh.BeforeExtra = append(said, t.nl+indent...)
		}
		if last := len(list.Elements) - 1; last >= 0 {
			fresh.AfterExtra = emptyLike(list.Elements[last].AfterExtra)
		}
		list.Elements = append(list.Elements, fresh)
		list.AfterExtra = blanks
	}
}

// emptyLike is nil for nil: hujson writes a comma behind a last value whose extra is not nil.
func emptyLike(e hujson.Extra) hujson.Extra {
	if e == nil {
		return nil
	}
	return hujson.Extra{}
}

// splitExtra divides what stands before a closing brace: comments, without the line end of the last one, and the blanks
// behind them.
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
	in, i, r := t.find(path)
	if r != nil {
		return r
	}
	o := in.Value.(*hujson.Object)
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
		if !after.IsValid() { // a comment needs its line end
			*after = append(*after, t.nl...)
		}
	}
	o.Members = slices.Delete(o.Members, i, i+1)
	if len(o.Members) == 0 && len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		o.AfterExtra = nil
	}
	return nil
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
