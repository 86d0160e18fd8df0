package toolset

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// gemini converts a settled schema into the form of OpenAPI 3.0: one type and nullable, enum of strings only, anyOf
// without other members.
func (f *fitter) gemini(s *schema, p place) {
	nullable := string(s.raw("nullable")) == "true"
	s.drop("nullable")
	if value := s.raw("const"); value != nil {
		s.drop("const")
		if !s.has("enum") {
			s.set("enum", json.RawMessage("["+string(value)+"]"))
		}
	}
	types := s.types()
	if at := slices.Index(types, "null"); at >= 0 {
		nullable = true
		types = slices.Delete(types, at, at+1)
	}
	if nullable = f.enum(s, types, p) || nullable; len(types) > 1 {
		f.alternatives(s, types, p)
	} else {
		s.setTypes(types)
	}
	if f.anyOf(s, p) {
		nullable = true
	}
	f.implied(s, p)
	f.formats(s, p)
	f.items(s)
	if nullable {
		f.nullable(s)
	}
}

func (f *fitter) nullable(s *schema) {
	yes := json.RawMessage("true")
	all := s.list("anyOf")
	if all == nil {
		s.set("nullable", yes)
	}
	for _, one := range all {
		one.set("nullable", yes)
	}
}

// enum keeps enum only if all values are non-empty strings or null, which means nullable. Otherwise the values are
// added to the description.
func (f *fitter) enum(s *schema, types []string, p place) (nullable bool) {
	raw := s.raw("enum")
	if raw == nil {
		return false
	}
	var names []string
	others := len(types) > 0 && !slices.Contains(types, "string")
	empty := false
	jsontext.Elements(raw, func(v json.RawMessage) bool {
		switch name := jsontext.String(v); {
		case jsontext.IsNull(v):
			nullable = true
		case !jsontext.IsString(v):
			others = true
		case name == "":
			empty = true
		default:
			names = append(names, name)
		}
		return true
	})
	if others || empty || len(names) == 0 {
		// Without the empty string, enum would be stricter than the server.
		s.drop("enum")
		f.told(s, raw)
		f.say(p, "enum told in the description: it is not of strings alone, or has an empty one")
		return nullable
	}
	s.setStrings("enum", names)
	return nullable
}

// ofType are the keywords that apply to values of one type.
var ofType = []struct{ key, types string }{
	{"properties", "object"}, {"required", "object"},
	{"items", "array"}, {"minItems", "array"}, {"maxItems", "array"},
	{"enum", "string"}, {"format", "string"}, {"pattern", "string"}, {"minLength", "string"}, {"maxLength", "string"},
	{"minimum", "number integer"}, {"maximum", "number integer"},
}

// alternatives replaces several types by an anyOf, unless there is one, which then has the types.
func (f *fitter) alternatives(s *schema, types []string, p place) {
	s.drop("type")
	if s.has("anyOf") {
		return
	}
	var all []*schema
	for _, one := range types {
		alone := &schema{}
		alone.setText("type", one)
		for _, k := range ofType {
			if strings.Contains(k.types, one) && s.has(k.key) { // types share only numbers, which are no parts of the tree
				alone.set(k.key, s.at[k.key])
			}
		}
		f.formats(alone, p)
		f.items(alone)
		all = append(all, alone)
	}
	for _, k := range ofType {
		s.drop(k.key)
	}
	s.set("anyOf", all)
	f.say(p, "several types told as anyOf")
}

// anyOf removes the other members: "when using any_of, it must be the only field set" (Vertex). An object whose
// alternatives have more properties becomes one object.
func (f *fitter) anyOf(s *schema, p place) (nullable bool) {
	all := s.list("anyOf")
	if all == nil {
		return false
	}
	all = slices.DeleteFunc(all, func(one *schema) bool {
		null := one.raw("type") == nil && len(one.keys) == 1 && one.has("nullable")
		nullable = nullable || null
		return null
	})
	s.set("anyOf", all)
	if len(all) == 0 || slices.ContainsFunc(all, func(one *schema) bool {
		return !one.has("type") && !one.has("anyOf") &&
			!one.has("required")
	}) {
		s.drop("anyOf")
		return nullable
	}
	if len(all) == 1 {
		s.drop("anyOf")
		f.and(s, all[0], p)
		nullable = nullable || s.has("nullable")
		s.drop("nullable")
		return nullable
	}
	switch {
	case s.has("items"):
		s.drop("anyOf")
		f.say(p, "anyOf dropped: there is more beside it")
		return nullable
	case s.has("properties") || s.has("required") || slices.ContainsFunc(all, func(one *schema) bool {
		return !one.has("type") && !one.has("anyOf")
	}):
		f.fold(s, p)
		return nullable
	}
	for _, key := range slices.Clone(s.keys) {
		switch key {
		case "anyOf":
			continue
		case "type":
			for _, one := range all {
				if !one.has("type") && !one.has("anyOf") {
					one.set("type", s.raw("type"))
					f.items(one)
				}
			}
		case "description":
			if first := all[0]; !first.has("description") {
				first.set("description", s.raw("description"))
			}
		}
		if key != "type" && key != "description" {
			f.say(p, "%s dropped beside anyOf", key)
		}
		s.drop(key)
	}
	return nullable
}

// implied adds a type to a schema that has none, if its other keywords allow only one.
func (f *fitter) implied(s *schema, p place) {
	if p.depth == 0 || s.has("type") || s.has("anyOf") {
		return // the top is an object in any case
	}
	for _, of := range []struct{ key, name string }{
		{"properties", "object"}, {"items", "array"}, {"enum", "string"},
	} {
		if s.has(of.key) {
			s.setText("type", of.name)
			f.say(p, "type %s added: it has %s", of.name, of.key)
			break
		}
	}
}

// formats drops keywords for another type, and the formats that Gemini refuses.
func (f *fitter) formats(s *schema, p place) {
	one := s.text("type")
	for _, k := range ofType {
		if one != "" && s.has(k.key) && !strings.Contains(k.types, one) {
			s.drop(k.key)
			f.say(p, "%s dropped: it says nothing of type %s", k.key, one)
		}
	}
	if !s.has("format") {
		return
	}
	format := s.text("format")
	if one == "string" && (format == "date-time" || format == "enum" && s.has("enum")) {
		return
	}
	s.drop("format")
	f.say(p, "format dropped")
}
