package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// tomlTree is a text of TOML that is changed by lines. Only what is below entry is: a server with a table of its own.
type tomlTree struct {
	bom   []byte
	src   []byte
	nl    string
	entry []string // the path of the server
	exprs []expression
	all   map[string]any
}

func openTOML(text []byte, entry []string) (*tomlTree, *Refusal) {
	t := &tomlTree{nl: lineEnd(text), entry: entry}
	if bytes.HasPrefix(text, byteOrderMark) {
		t.bom, text = text[:len(byteOrderMark)], text[len(byteOrderMark):]
	}
	return t, t.parse(bytes.Clone(text))
}

func (t *tomlTree) parse(text []byte) *Refusal {
	var all map[string]any
	exprs, ok := expressions(text)
	if err := toml.Unmarshal(text, &all); err != nil || !ok {
		return refuse(Unsupported, 0, "", "this form of TOML cannot be changed by the hub; edit the file by hand")
	}
	t.src, t.exprs, t.all = text, exprs, all
	return nil
}

func (t *tomlTree) text() []byte { return append(bytes.Clone(t.bom), t.src...) }

func (t *tomlTree) line(at int) int { return 1 + bytes.Count(t.src[:at], []byte("\n")) }

// notPlain tells why the server has no plain table of its own; nil: it has one.
func (t *tomlTree) notPlain() *Refusal {
	headers := 0
	for _, x := range t.exprs {
		switch {
		case !beginsWith(x.path, t.entry) && (x.header || !beginsWith(t.entry, x.path)):
		case x.array:
			return refuse(Unsupported, t.line(x.start), "", "is in an array of tables, which the hub does not change; edit the file by hand")
		case !beginsWith(x.table, t.entry):
			return refuse(Unsupported, t.line(x.start), "",
				"is no table of its own but written as a value or with dotted keys, which the hub does not change; edit the file by hand, or write it as [%s]",
				tomlKey(t.entry))
		case x.header && len(x.path) == len(t.entry):
			headers++
		}
	}
	if headers != 1 {
		return refuse(Unsupported, 0, "", "has no header [%s] of its own, so the hub does not change it; edit the file by hand",
			tomlKey(t.entry))
	}
	return nil
}

func (t *tomlTree) get(path []string) (any, bool, *Refusal) {
	var v any = t.all
	for _, step := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false, nil
		}
		if v, ok = m[step]; !ok {
			return nil, false, nil
		}
	}
	return fromTOML(v), true, nil
}

// fromTOML gives a value of the decoder as one that can be written. Members come out by name.
func fromTOML(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := object{}
		for name, inner := range v {
			out = append(out, member{name, fromTOML(inner)})
		}
		slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, fromTOML(e))
		}
		return out
	case string, bool:
		return v
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return fmt.Sprint(v) // dates and times
}

// extend is for inputs, which no dialect of TOML has.
func (t *tomlTree) extend(path []string, _ any) *Refusal {
	return refuse(Unsupported, 0, join(path), "cannot be written into TOML by the hub; edit the file by hand")
}

func (t *tomlTree) set(path []string, v any) *Refusal {
	if _, there, _ := t.get(t.entry); !there {
		return t.append(path, v)
	}
	if r := t.notPlain(); r != nil {
		return r
	}
	if v = withoutNulls(v); v == nil {
		return refuse(Wrong, 0, join(path[len(t.entry):]), "is null, which TOML has not; leave it out")
	}
	for _, x := range t.exprs {
		switch {
		case x.header:
		case slices.Equal(x.path, path):
			return t.splice(x.from, x.to, tomlValue(v))
		case len(path) > len(x.path) && beginsWith(path, x.path): // it is in an inline table
			old, _, _ := t.get(x.path)
			return t.splice(x.from, x.to, tomlValue(putInto(old, path[len(x.path):], v)))
		}
	}
	if r := t.remove(path); r != nil { // a table, or dotted keys
		return r
	}
	for n := len(path) - 1; n >= len(t.entry); n-- {
		if at, ok := t.endOf(path[:n]); ok {
			for i := len(path) - 1; i > n; i-- {
				if _, there, _ := t.get(path[:i]); !there { // else dotted keys have made it
					v = object{{path[i], v}}
					path = path[:i]
				}
			}
			return t.addLine(at, tomlKey(path[n:])+" = "+tomlValue(v))
		}
	}
	return refuse(Unsupported, 0, "", "is in a form of TOML that the hub does not change; edit the file by hand")
}

// putInto sets a value within a value that is an object.
func putInto(old any, path []string, v any) any {
	o, _ := old.(object)
	if len(path) > 1 {
		inner, _ := o.get(path[0])
		v = putInto(inner, path[1:], v)
	}
	return o.with(path[0], v)
}

// endOf is where a further key of the table with this header belongs: behind its last one.
func (t *tomlTree) endOf(table []string) (at int, ok bool) {
	for _, x := range t.exprs {
		if !x.array && slices.Equal(x.table, table) {
			at, ok = x.end, true
		}
	}
	return at, ok
}

func (t *tomlTree) addLine(at int, line string) *Refusal {
	if at > 0 && t.src[at-1] != '\n' {
		line = t.nl + line
	}
	return t.splice(at, at, line+t.nl)
}

func (t *tomlTree) splice(from, to int, text string) *Refusal {
	return t.parse(slices.Concat(t.src[:from:from], []byte(text), t.src[to:]))
}

// append adds the server as a table at the end.
func (t *tomlTree) append(path []string, v any) *Refusal {
	o, isTable := withoutNulls(v).(object)
	if !isTable || !slices.Equal(path, t.entry) {
		return refuse(Missing, 0, "", "there is no such table")
	}
	var b strings.Builder
	if len(t.src) > 0 && !bytes.HasSuffix(t.src, []byte("\n")) {
		b.WriteString(t.nl)
	}
	if len(bytes.TrimSpace(t.src)) > 0 {
		b.WriteString(t.nl)
	}
	b.WriteString("[" + tomlKey(path) + "]" + t.nl)
	var tables object
	for _, m := range o {
		if inner, isTable := m.value.(object); isTable && len(inner) > 0 {
			tables = append(tables, m)
			continue
		}
		b.WriteString(tomlKey([]string{m.name}) + " = " + tomlValue(m.value) + t.nl)
	}
	for _, m := range tables {
		b.WriteString(t.nl + "[" + tomlKey(append(slices.Clone(path), m.name)) + "]" + t.nl)
		for _, inner := range m.value.(object) {
			b.WriteString(tomlKey([]string{inner.name}) + " = " + tomlValue(inner.value) + t.nl)
		}
	}
	return t.splice(len(t.src), len(t.src), b.String())
}

func (t *tomlTree) remove(path []string) *Refusal {
	if _, there, _ := t.get(path); !there {
		return nil
	}
	if r := t.notPlain(); r != nil {
		return r
	}
	for _, x := range t.exprs {
		if !x.header && len(path) > len(x.path) && beginsWith(path, x.path) { // it is in an inline table
			old, _, _ := t.get(x.path)
			return t.splice(x.from, x.to, tomlValue(takeFrom(old, path[len(x.path):])))
		}
	}
	var out []byte
	at := 0
	for i, x := range t.exprs {
		if !beginsWith(x.path, path) {
			continue
		}
		from := x.start
		switch {
		case x.header:
			from = t.commentsAbove(i)
		case beginsWith(x.table, path):
			from = at // the header before it goes, and so do comments in between
		}
		if from > at {
			out = append(out, t.src[at:from]...)
		}
		at = max(at, x.end)
		if next := i + 1; beginsWith(x.table, path) && (next == len(t.exprs) || t.exprs[next].header) {
			at = max(at, t.blanksFrom(at)) // those behind a table that goes
		}
	}
	out = append(out, t.src[at:]...)
	return t.parse(out)
}

// takeFrom takes a member out of a value that is an object.
func takeFrom(old any, path []string) any {
	o, _ := old.(object)
	if len(path) == 1 {
		return o.without(path[0])
	}
	inner, _ := o.get(path[0])
	return o.with(path[0], takeFrom(inner, path[1:]))
}

// commentsAbove is where the comments begin that stand right above a header: they go with it.
func (t *tomlTree) commentsAbove(i int) int {
	at, least := t.exprs[i].start, 0
	if i > 0 {
		least = t.exprs[i-1].end
	}
	for at > least {
		line := bytes.LastIndexByte(t.src[:at-1], '\n') + 1
		if line < least || !bytes.HasPrefix(bytes.TrimLeft(t.src[line:at], " \t"), []byte("#")) {
			break
		}
		at = line
	}
	return at
}

// blanksFrom skips empty lines.
func (t *tomlTree) blanksFrom(at int) int {
	for at < len(t.src) {
		next := lineFrom(t.src, at)
		if len(bytes.TrimSpace(t.src[at:next])) > 0 {
			break
		}
		at = next
	}
	return at
}

// withoutNulls leaves out what TOML cannot say.
func withoutNulls(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for _, m := range o {
		if inner := withoutNulls(m.value); inner != nil {
			out = append(out, member{m.name, inner})
		}
	}
	return out
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		if parts[i] = p; !bareKey.MatchString(p) {
			parts[i] = tomlString(p)
		}
	}
	return strings.Join(parts, ".")
}

// tomlString writes a basic string. Its escapes are those of JSON, and U+007F needs one besides.
func tomlString(s string) string {
	return strings.ReplaceAll(string(hujson.String(s)), "\x7f", `\u007f`)
}

// tomlValue writes a value on one line.
func tomlValue(v any) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = tomlKey([]string{m.name}) + " = " + tomlValue(m.value)
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = tomlValue(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return string(v)
	}
	return `""` // cannot be: withoutNulls has left it out
}
