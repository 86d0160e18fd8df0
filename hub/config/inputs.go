package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inputs reads the top-level "inputs" of a file of VS Code: the values that the user is asked for. A broken input does
// not affect the others; a server that refers to a broken one cannot start, as Resolve reports. So none of the problems
// is fatal for the file.
func (l *loader) inputs(doc *document, v value, origin Origin) []Input {
	if v.isNull() {
		return nil
	}
	elements, ok := v.array()
	if !ok {
		l.report(doc.problem(v.at(), "", "inputs", "must be an array of inputs, is "+v.kind(), false))
		return nil
	}
	if most := l.limits.values; len(elements) > most {
		l.report(doc.problem(elements[most].at(), "", fmt.Sprintf("inputs[%d]", most),
			fmt.Sprintf("a file of this kind may have %d inputs; this one and those after it were not read", most), false))
		elements = elements[:most]
	}
	var out []Input
	first := map[string]int{} // the line in which an id was first used
	for i, e := range elements {
		r := inputReader{loader: l, doc: doc, key: fmt.Sprintf("inputs[%d]", i)}
		in, ok := r.read(e)
		if !ok {
			continue
		}
		in.Origin = origin
		in.Origin.Line, in.Origin.Pointer = doc.line(e.at()), pointer(origin.Pointer, strconv.Itoa(i))
		if line, double := first[in.ID]; double {
			r.warn(e.at(), "id", "%s is the id of the input in line %d already; this one is ignored", quote(in.ID), line)
			continue
		}
		first[in.ID] = in.Origin.Line
		out = append(out, in)
	}
	return out
}

// inputReader reads one input.
type inputReader struct {
	*loader
	doc    *document
	key    string // the place of the input in the array
	broken bool
}

func (r *inputReader) warn(at int, key, format string, args ...any) {
	r.report(r.doc.problem(at, "", path(r.key, key), fmt.Sprintf(format, args...), false))
}

func (r *inputReader) fail(at int, key, format string, args ...any) {
	r.broken = true
	r.warn(at, key, format+"; a server that refers to this input cannot start", args...)
}

func (r *inputReader) read(v value) (in Input, ok bool) {
	members, ok := v.object()
	if !ok {
		// A value that is not an object has no keys of its own.
		r.report(r.doc.problem(v.at(), "", r.key, "must be an object, is "+v.kind(), false))
		return in, false
	}
	keys := map[string]member{}
	for _, m := range r.distinct(r.doc, members, "", r.key) {
		if !m.value.isNull() {
			keys[m.name] = m
		}
	}
	kind := r.kind(v, keys)
	in.ID = r.id(v, keys)
	for _, m := range members {
		if k, ok := keys[m.name]; !ok || k.at != m.at || kind == "" {
			continue // null, a duplicate that was reported, or an input of unknown type
		}
		switch name := m.name; {
		case name == "type", name == "id":
		case name == "description":
			in.Description = r.text(m)
		case name == "default":
			in.Default = r.text(m)
		case name == "password" && kind == "promptString":
			if in.Secret, ok = m.value.boolean(); !ok {
				r.fail(m.value.at(), name, "must be true or false, is %s", m.value.kind())
			}
		case name == "options" && kind == "pickString":
			in.Options = r.options(m.value)
		default:
			r.warn(m.at, name, "is not known for an input of type %s and was ignored", kind)
		}
	}
	if _, given := keys["options"]; kind == "pickString" && !given {
		r.fail(v.at(), "options", "is missing")
	}
	if in.Options != nil && in.Default != "" && !in.allows(in.Default) {
		r.warn(keys["default"].value.at(), "default", "is none of the options and was ignored")
		in.Default = ""
	}
	return in, !r.broken
}

func (r *inputReader) kind(v value, keys map[string]member) string {
	k, given := keys["type"]
	if !given {
		r.fail(v.at(), "type", "is missing")
		return ""
	}
	switch kind, isText := k.value.str(); {
	case !isText:
		r.fail(k.value.at(), "type", "must be a string, is %s", k.value.kind())
	case kind == "promptString" || kind == "pickString":
		return kind
	case kind == "command":
		// A file that makes the editor or a shell run a command when it is read could not be opened safely.
		id, _ := keys["id"].value.str()
		r.fail(k.value.at(), "type", "the input %s is to run a command, which the hub never does", quote(id))
	default:
		r.fail(k.value.at(), "type", `%s is not known; it is "promptString" or "pickString"`, quote(kind))
	}
	return ""
}

func (r *inputReader) id(v value, keys map[string]member) string {
	k, given := keys["id"]
	if !given {
		r.fail(v.at(), "id", "is missing")
		return ""
	}
	id, isText := k.value.str()
	switch {
	case !isText:
		r.fail(k.value.at(), "id", "must be a string, is %s", k.value.kind())
	case id == "" || utf8.RuneCountInString(id) > maxName || strings.ContainsFunc(id, func(c rune) bool {
		return c == '{' || c == '}' || unicode.IsControl(c)
	}):
		r.fail(k.value.at(), "id", "must have 1 to %d characters, without braces and control characters", maxName)
	}
	return id
}

func (r *inputReader) text(m member) string {
	s, ok := m.value.str()
	if !ok {
		r.fail(m.value.at(), m.name, "must be a string, is %s", m.value.kind())
	}
	return s
}

// options reads strings, and objects of a label and a value. A broken option is left out.
func (r *inputReader) options(v value) []InputOption {
	elements, ok := v.array()
	if !ok {
		r.fail(v.at(), "options", "must be an array, is %s", v.kind())
		return nil
	}
	var out []InputOption
	for i, e := range elements {
		key := fmt.Sprintf("options[%d]", i)
		if s, ok := e.str(); ok {
			out = append(out, InputOption{Value: s, Label: s})
			continue
		}
		members, isObject := e.object()
		var o InputOption
		hasValue := false
		for _, m := range members {
			switch s, ok := m.value.str(); {
			case ok && m.name == "value":
				o.Value, hasValue = s, true
			case ok && m.name == "label":
				o.Label = s
			}
		}
		if !isObject || !hasValue {
			r.warn(e.at(), key, `must be a string, or an object with the strings "label" and "value"; it was left out`)
			continue
		}
		if o.Label == "" {
			o.Label = o.Value
		}
		out = append(out, o)
	}
	if len(out) == 0 {
		r.fail(v.at(), "options", "holds nothing to choose from")
	}
	return out
}

// allows reports whether the input may have a value.
func (in Input) allows(v string) bool {
	for _, o := range in.Options {
		if o.Value == v {
			return true
		}
	}
	return in.Options == nil
}

// StandIns returns a value for every input of the server: the one in given, else one that the file allows: the first
// option, the default, or "1", which is valid in nearly every text. An input at the beginning of the address gets
// "https://1". With these values, everything about a server can be seen that does not depend on what a person would
// type.
func (s Server) StandIns(given map[string]string) map[string]string {
	values := make(map[string]string, len(s.Inputs))
	for _, in := range s.Inputs {
		value, ok := given[in.ID]
		switch {
		case ok && in.allows(value):
		case len(in.Options) > 0:
			value = in.Options[0].Value
		case strings.HasPrefix(s.URL, "${input:"+in.ID+"}"):
			value = cmp.Or(in.Default, "https://1")
		default:
			value = cmp.Or(in.Default, "1")
		}
		values[in.ID] = value
	}
	return values
}

// Inputs returns a function for Variables.Input that takes the values from a map by the ids of inputs.
func Inputs(values map[string]string) func(id string) (string, bool) {
	return func(id string) (string, bool) {
		value, ok := values[id]
		return value, ok
	}
}
