package config

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inputs reads the top-level "inputs" of a file of VS Code: the values that the user is asked for. A broken input does
// not affect the others; a server that refers to a broken one cannot start, as Resolve reports. So none of the problems
// is fatal for the file.
func (l *loader) inputs(v value, origin Origin) (out []Input) {
	if v.isNull() {
		return nil
	}
	all := reader{loader: l}
	first := map[string]int{} // the line in which an id was first used
	i := -1
	for at, e := range all.elements(v, "inputs", "an array of inputs") {
		if i++; i == l.limits.values {
			all.warn(e.at(), at, "a file of this kind may have %d inputs; this one and those after it were not read", i)
			break
		}
		r := inputReader{reader{loader: l, instead: "; a server that refers to this input cannot start"}}
		in := r.read(e, at)
		if r.broken {
			continue
		}
		in.Origin = origin
		in.Origin.Line, in.Origin.Pointer = l.doc.line(e.at()), pointer(origin.Pointer, strconv.Itoa(i))
		if line, double := first[in.ID]; double {
			r.warn(e.at(), path(at, "id"), "%s is the id of the input in line %d already; this one is ignored",
				quote(in.ID), line)
			continue
		}
		first[in.ID] = in.Origin.Line
		out = append(out, in)
	}
	return out
}

// inputReader reads one input.
type inputReader struct{ reader }

func (r *inputReader) read(v value, at string) (in Input) {
	var ks []key
	given := map[string]key{}
	for at, m := range r.members(v, at, "an object") {
		if !m.value.isNull() {
			given[m.name] = key{m, at}
			ks = append(ks, given[m.name])
		}
	}
	if r.broken {
		return in
	}
	needed := func(name string) (k key, s string, ok bool) {
		if k, ok = given[name]; !ok {
			r.fail(v.at(), path(at, name), "is missing")
			return k, "", false
		}
		s = r.text(k)
		_, ok = k.value.str()
		return k, s, ok
	}
	k, kind, ok := needed("type")
	switch {
	case !ok || kind == "promptString" || kind == "pickString":
	case kind == "command":
		// A file that makes the editor or a shell run a command when it is read could not be opened safely.
		id, _ := given["id"].value.str()
		r.fail(k.value.at(), k.path, "the input %s is to run a command, which the hub never does", quote(id))
	default:
		r.fail(k.value.at(), k.path, `%s is not known; it is "promptString" or "pickString"`, quote(kind))
	}
	known := !r.broken
	if k, in.ID, ok = needed("id"); ok && (in.ID == "" || utf8.RuneCountInString(in.ID) > maxName ||
		strings.ContainsFunc(in.ID, func(c rune) bool { return c == '{' || c == '}' || unicode.IsControl(c) })) {
		r.fail(k.value.at(), k.path, "must have 1 to %d characters, without braces and control characters", maxName)
	}
	if !known {
		return in
	}
	for _, k := range ks {
		switch name := k.name; {
		case name == "type", name == "id":
		case name == "description":
			in.Description = r.text(k)
		case name == "default":
			in.Default = r.text(k)
		case name == "password" && kind == "promptString":
			in.Secret = r.truth(k)
		case name == "options" && kind == "pickString":
			in.Options = r.options(k)
		default:
			r.warn(k.at, k.path, "is not known for an input of type %s and was ignored", kind)
		}
	}
	if _, ok := given["options"]; kind == "pickString" && !ok {
		r.fail(v.at(), path(at, "options"), "is missing")
	}
	if in.Options != nil && in.Default != "" && !in.allows(in.Default) {
		r.warn(given["default"].value.at(), given["default"].path, "is none of the options and was ignored")
		in.Default = ""
	}
	return in
}

func (r *inputReader) text(k key) string {
	s, ok := k.value.str()
	if !ok {
		r.wrong(k.value, k.path, "a string")
	}
	return s
}

// options reads strings, and objects of a label and a value. A broken option is left out.
func (r *inputReader) options(k key) (out []InputOption) {
	for at, e := range r.elements(k.value, k.path, "an array") {
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
			r.warn(e.at(), at, `must be a string, or an object with the strings "label" and "value"; it was left out`)
			continue
		}
		o.Label = cmp.Or(o.Label, o.Value)
		out = append(out, o)
	}
	if len(out) == 0 && !r.broken {
		r.fail(k.value.at(), k.path, "holds nothing to choose from")
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
