package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A value is what is written: object, []any, string, bool, json.Number, or nil for JSON's null. It keeps the order of
// its members.
type object []member

type member struct {
	name  string
	value any
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// get returns the value at a path of names.
func (o object) get(path ...string) (v any, ok bool) {
	v = o
	for _, name := range path {
		inner, _ := v.(object)
		i := inner.index(name)
		if i < 0 {
			return nil, false
		}
		v = inner[i].value
	}
	return v, true
}

// with returns o with a value at a path, in the place of the one there or at the end, and the objects on the way.
func (o object) with(v any, path ...string) object {
	out, i := slices.Clone(o), o.index(path[0])
	if i < 0 {
		out, i = append(out, member{name: path[0]}), len(out)
	}
	if len(path) > 1 {
		inner, _ := out[i].value.(object)
		v = inner.with(v, path[1:]...)
	}
	out[i].value = v
	return out
}

// without returns o without the value at a path.
func (o object) without(path ...string) object {
	i := o.index(path[0])
	switch {
	case i < 0:
		return o
	case len(path) == 1:
		return slices.Delete(slices.Clone(o), i, i+1)
	}
	inner, _ := o[i].value.(object)
	if inner == nil {
		return o
	}
	return o.with(inner.without(path[1:]...), path[0])
}

// withoutEmpty returns o without the object at a path if that is empty.
func (o object) withoutEmpty(path []string) object {
	v, _ := o.get(path...)
	if inner, ok := v.(object); ok && len(inner) == 0 {
		return o.without(path...)
	}
	return o
}

// replaced returns what takes the place of old: members that stay keep their places.
func replaced(old, v any) any {
	was, _ := old.(object)
	now, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for _, m := range was {
		if fresh, stays := now.get(m.name); stays {
			out = append(out, member{m.name, replaced(m.value, fresh)})
		}
	}
	for _, m := range now {
		if was.index(m.name) < 0 {
			out = append(out, m)
		}
	}
	return out
}

// merged returns an object with a merge patch carried out (RFC 7396, section 2).
func merged(o, patch object) object {
	for _, m := range patch {
		switch v := m.value.(type) {
		case nil:
			o = o.without(m.name)
		case object:
			old, _ := o.get(m.name)
			inner, _ := old.(object)
			o = o.with(merged(inner, v), m.name)
		default:
			o = o.with(v, m.name)
		}
	}
	if o == nil {
		return object{}
	}
	return o
}

// members counts those of an object, and of the objects in it.
func members(o object) (n int) {
	for _, m := range o {
		inner, _ := m.value.(object)
		n += 1 + members(inner)
	}
	return n
}

// sorted returns a value with the members of its objects by name.
func sorted(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for _, m := range o {
		out = append(out, member{m.name, sorted(m.value)})
	}
	slices.SortStableFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out
}

// texts makes a list of strings.
func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Bounds of what somebody hands over to be written.
const (
	maxValueBytes = 256 << 10
	maxValueDepth = 32
)

// parseValue reads the JSON text of an object, with comments and trailing commas as people paste them. No name may come
// twice: which of two values counts must not depend on who reads.
func parseValue(text string) (object, error) {
	if len(text) > maxValueBytes {
		return nil, fmt.Errorf("is longer than %d bytes", maxValueBytes)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("is no valid UTF-8")
	}
	if deep(text) > maxValueDepth {
		return nil, fmt.Errorf("is nested more than %d levels deep", maxValueDepth)
	}
	v, err := hujson.Parse(append([]byte(text), '\n'))
	if err != nil {
		return nil, fmt.Errorf("is no JSON text") // hujson's words may hold a part of a secret
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("must be a JSON object")
	}
	out := plain(o).(object)
	if name := doubled(out); name != "" {
		return nil, fmt.Errorf("has the key %q twice", short(name))
	}
	return out, nil
}

// doubled returns a name that comes twice in one object of a value, "" if none does.
func doubled(v any) string {
	switch v := v.(type) {
	case object:
		seen := make(map[string]bool, len(v))
		for _, m := range v {
			if seen[m.name] {
				return m.name
			}
			seen[m.name] = true
			if name := doubled(m.value); name != "" {
				return name
			}
		}
	case []any:
		for _, e := range v {
			if name := doubled(e); name != "" {
				return name
			}
		}
	}
	return ""
}

// deep counts the levels of nesting, before anything recurses. Brackets in strings and comments count too.
func deep(text string) (most int) {
	level := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			level++
			most = max(most, level)
		case '}', ']':
			level--
		}
	}
	return most
}

// plain gives a value of hujson without its comments. Keys that come twice do so there, too.
func plain(v hujson.ValueTrimmed) any {
	switch v := v.(type) {
	case *hujson.Object:
		out := object{}
		for _, m := range v.Members {
			out = append(out, member{m.Name.Value.(hujson.Literal).String(), plain(m.Value.Value)})
		}
		return out
	case *hujson.Array:
		out := []any{}
		for _, e := range v.Elements {
			out = append(out, plain(e.Value))
		}
		return out
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return v.String()
		case 't', 'f':
			return v.Bool()
		case '0':
			return json.Number(v)
		}
	}
	return nil
}

// jsonText writes a value as JSON. Members of an object are on lines of their own, below indent by unit each, unless
// inline. A list is on one line, unless it has objects, each of which has one of its own then.
func jsonText(v any, indent, unit, nl string, inline bool) string {
	w := writer{unit: unit, nl: nl, key: func(name string) string { return quoted(name) + ": " }}
	w.write(v, indent, inline)
	return w.b.String()
}

// quoted writes a string as JSON and TOML read it alike: TOML wants U+007F escaped.
func quoted(s string) string { return strings.ReplaceAll(string(hujson.String(s)), "\x7f", `\u007f`) }

func isObject(v any) bool {
	_, ok := v.(object)
	return ok
}

// writer writes values as JSON or TOML, which differ in what stands before the value of a member.
type writer struct {
	b        strings.Builder
	unit, nl string
	key      func(name string) string
}

func (w *writer) write(v any, indent string, inline bool) {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			w.b.WriteString("{}")
			return
		}
		own, end := w.nl+indent+w.unit, w.nl+indent
		if inline {
			own, end = " ", " "
		}
		w.b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.b.WriteString(own + w.key(m.name))
			w.write(m.value, indent+w.unit, inline)
		}
		w.b.WriteString(end + "}")
	case []any:
		own, between, end := "", ", ", ""
		if !inline && slices.ContainsFunc(v, isObject) {
			own, end = w.nl+indent+w.unit, w.nl+indent
			between = "," + own
		}
		w.b.WriteString("[" + own)
		for i, e := range v {
			if i > 0 {
				w.b.WriteString(between)
			}
			w.write(e, indent, true)
		}
		w.b.WriteString(end + "]")
	case string:
		w.b.WriteString(quoted(v))
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case json.Number:
		w.b.WriteString(string(v))
	default:
		w.b.WriteString("null") // which TOML has not: the reading of what came out refuses it
	}
}

// String shows an object for tests and panics; it is never logged.
func (o object) String() string { return fmt.Sprint(len(o), " members") }
