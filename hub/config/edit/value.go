package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// get gives a member of an object; nil: there is none.
func (o object) get(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// with gives o with a member set, in its place or at the end.
func (o object) with(name string, v any) object {
	out := append(object(nil), o...)
	for i := range out {
		if out[i].name == name {
			out[i].value = v
			return out
		}
	}
	return append(out, member{name, v})
}

// without gives o without a member.
func (o object) without(name string) object {
	var out object
	for _, m := range o {
		if m.name != name {
			out = append(out, m)
		}
	}
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
	if name := doubled(o); name != "" {
		return nil, fmt.Errorf("has the key %q twice", short(name))
	}
	return plain(o).(object), nil
}

// doubled is a key that comes twice in one object, "" if none does.
func doubled(v hujson.ValueTrimmed) string {
	in := hujson.Value{Value: v}
	for v := range in.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := make(map[string]bool, len(o.Members))
		for _, m := range o.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				return name
			}
			seen[name] = true
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
	var b bytes.Buffer
	writeJSON(&b, v, indent, unit, nl, inline)
	return b.String()
}

func isObject(v any) bool {
	_, ok := v.(object)
	return ok
}

func writeJSON(b *bytes.Buffer, v any, indent, unit, nl string, inline bool) {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if inline {
				b.WriteByte(' ')
			} else {
				b.WriteString(nl + indent + unit)
			}
			b.Write(hujson.String(m.name))
			b.WriteString(": ")
			writeJSON(b, m.value, indent+unit, unit, nl, inline)
		}
		if inline {
			b.WriteString(" }")
		} else {
			b.WriteString(nl + indent + "}")
		}
	case []any:
		own := !inline && slices.ContainsFunc(v, isObject)
		b.WriteByte('[')
		for i, e := range v {
			switch {
			case own && i > 0:
				b.WriteString("," + nl + indent + unit)
			case own:
				b.WriteString(nl + indent + unit)
			case i > 0:
				b.WriteString(", ")
			}
			writeJSON(b, e, indent, unit, nl, true)
		}
		if own {
			b.WriteString(nl + indent)
		}
		b.WriteByte(']')
	case string:
		b.Write(hujson.String(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		b.WriteString(string(v))
	default:
		b.WriteString("null")
	}
}
