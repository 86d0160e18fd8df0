package toolset

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

const tooLong = "some parts are left open: written out, the schema would be too long"

// fit converts the text of a schema, and all schemas within it.
func (f *fitter) fit(raw json.RawMessage, p place) *schema {
	f.work -= len(raw) + 64
	if len(p.refs) > 0 {
		f.parts++
	}
	s := &schema{}
	switch text := string(raw); {
	case text == "true":
		return s
	case text == "false":
		f.say(p, "left out: it takes nothing")
		s.nothing = true
		return s
	case len(raw) == 0 || raw[0] != '{':
		f.say(p, "left open: it is no schema")
		return s
	case p.depth > bounds.FitDepth:
		f.say(p, "left open: it lies too deep")
		return open(raw)
	case f.work < 0 || f.parts > bounds.FitParts || f.room < 0:
		f.say(place{}, tooLong)
		return open(raw)
	}
	all := membersOf(raw)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !f.keyword(s, key, all[key], p) {
			f.say(p, "%s dropped", key)
		}
	}
	kinds := f.kinds(s, all["type"], p)
	f.enum(s, kinds, all, p)
	f.typed(s, kinds, p)
	if ref := all["$ref"]; ref != nil {
		f.and(s, f.referred(jsontext.String(ref), p), p)
	}
	for _, one := range f.many(all["allOf"], "allOf", p) {
		f.and(s, one, p)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if alternatives := f.many(all[key], key, p); len(alternatives) > 0 {
			f.and(s, f.any(alternatives, p), p)
			if key == "oneOf" && len(alternatives) > 1 {
				f.say(p, "oneOf told as anyOf")
			}
		}
	}
	return s
}

// open returns a schema that has only the type of raw.
func open(raw json.RawMessage) *schema {
	s := &schema{}
	if kind := jsontext.String(jsontext.Get(raw, "type")); slices.Contains(kindNames, kind) {
		s.kind = kind
	}
	return s
}

// keyword converts one member of a schema, if it can be seen without the others. It reports false if the keyword is not
// in the form, or its value is not what it should be.
func (f *fitter) keyword(s *schema, key string, raw json.RawMessage, p place) (ok bool) {
	switch key {
	case "type", "enum", "const", "allOf", "anyOf", "oneOf", "$ref", "$defs", "definitions":
		return true
	case "$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor":
		return true // notes for readers of the schema
	case "properties":
		return jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
			n := string(name)
			f.room -= len(n)
			if one := f.fit(value, p.in(key, n)); string(value) != "false" {
				s.properties.of(n).schema = one
			}
			return true
		})
	case "required":
		return jsontext.Elements(raw, func(name json.RawMessage) bool {
			if jsontext.IsString(name) {
				s.properties.of(jsontext.String(name)).required = true
			}
			return true
		})
	case "items", "prefixItems", "additionalItems":
		var each []*schema
		if raw[0] == '[' { // items, too, in older dialects
			each = f.many(raw, key, p)
		} else {
			each = append(each, f.fit(raw, p.in(key)))
		}
		if s.items != nil {
			each = append(each, s.items)
		}
		if s.items = f.any(each, p); len(each) > 1 {
			f.say(p, "a tuple told as an array of any of its kinds")
		}
		return true
	case "title":
		s.title, ok = jsontext.String(raw), jsontext.IsString(raw)
	case "description":
		s.description, ok = jsontext.String(raw), jsontext.IsString(raw)
	case "pattern":
		if ok = jsontext.IsString(raw); ok {
			s.set(key, jsontext.AppendString(nil, jsontext.String(raw))) // as valid UTF-8
		}
	case "format":
		if ok = jsontext.String(raw) == "date-time"; ok {
			s.set(key, json.RawMessage(`"date-time"`))
		}
	case "minimum", "maximum":
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil && !math.IsInf(n, 0) {
			s.set(key, raw)
			ok = true
		}
	case "minLength", "maxLength", "minItems", "maxItems":
		if _, err := strconv.ParseUint(string(raw), 10, 63); err == nil {
			s.set(key, raw)
			ok = true
		}
	default:
		return false
	}
	f.room -= len(raw)
	return ok
}

// many converts the schemas of an array.
func (f *fitter) many(raw json.RawMessage, key string, p place) (all []*schema) {
	if !jsontext.Elements(raw, func(one json.RawMessage) bool {
		all = append(all, f.fit(one, p.in(key, strconv.Itoa(len(all)))))
		return true
	}) && raw != nil {
		f.say(p, "%s dropped", key)
	}
	return all
}

// kinds returns the types that a schema may have, without null; none means any.
func (f *fitter) kinds(s *schema, raw json.RawMessage, p place) (kinds []string) {
	null := false
	add := func(token json.RawMessage) bool {
		switch kind := jsontext.String(token); {
		case kind == "null":
			null = true
		case slices.Contains(kindNames, kind) && !slices.Contains(kinds, kind):
			kinds = append(kinds, kind)
		}
		return true
	}
	if !jsontext.Elements(raw, add) {
		add(raw)
	}
	switch {
	case null:
		f.say(p, "null is left out")
		s.nothing = kinds == nil
	case raw != nil && kinds == nil:
		f.say(p, "type dropped")
	}
	return kinds
}

// enum converts enum and const. If the values are not all non-empty strings, they are added to the description.
func (f *fitter) enum(s *schema, kinds []string, all map[string]json.RawMessage, p place) {
	raw := all["enum"]
	if one := all["const"]; raw == nil && one != nil {
		raw = slices.Concat(json.RawMessage("["), one, json.RawMessage("]"))
	}
	seen := map[string]bool{}
	null, others := false, kinds != nil && !slices.Contains(kinds, "string")
	names := json.RawMessage("[")
	array := jsontext.Elements(raw, func(v json.RawMessage) bool {
		switch name := jsontext.String(v); {
		case jsontext.IsNull(v):
			null = true
		case name == "":
			others = true // without the empty string, enum would be stricter than the server
		case !seen[name]:
			seen[name] = true
			names = append(jsontext.AppendString(names, name), ',')
		}
		return true
	})
	if null {
		f.say(p, "null is left out")
	}
	switch {
	case !array:
		if raw != nil {
			f.say(p, "enum dropped")
		}
	case others:
		f.say(p, "enum told in the description: it is not of strings alone, or has an empty one")
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err == nil && compact.Len() <= 300 {
			s.description = strings.TrimSpace(s.description + " Allowed: " + compact.String() + ".")
		}
	case len(seen) == 0:
		s.nothing = null
	default:
		names[len(names)-1] = ']'
		f.room -= len(names)
		s.set("enum", names)
	}
}

// typed gives s its type, or an alternative for each of several.
func (f *fitter) typed(s *schema, kinds []string, p place) {
	if kinds == nil && !s.nothing {
		switch {
		case s.properties.all != nil:
			kinds = []string{"object"}
		case s.items != nil:
			kinds = []string{"array"}
		case s.values["enum"] != nil:
			kinds = []string{"string"}
		default:
			return
		}
		f.say(p, "type %s added", kinds[0])
	}
	switch len(kinds) {
	case 0: // null alone
		*s = schema{title: s.title, description: s.description, nothing: true}
		return
	case 1:
		for _, key := range s.only(kinds[0]) {
			f.say(p, "%s dropped: it says nothing of type %s", key, kinds[0])
		}
		return
	}
	f.say(p, "several types told as anyOf")
	var all []*schema
	for _, kind := range kinds {
		one := &schema{values: maps.Clone(s.values), properties: s.properties, items: s.items}
		one.only(kind)
		all = append(all, one)
	}
	*s = schema{title: s.title, description: s.description, anyOf: all}
}

// referred returns the converted target of a $ref.
func (f *fitter) referred(ref string, p place) *schema {
	target := f.find(ref)
	switch {
	case target == nil:
		f.say(p, "left open: %s leads to nothing in this schema", strconv.Quote(ref))
		return &schema{}
	case slices.Contains(p.refs, ref):
		f.say(p, "left open: %s contains itself", strconv.Quote(ref))
		return open(target)
	}
	f.say(place{}, "references are written out where they are used")
	p.refs = append(slices.Clip(p.refs), ref)
	p.depth++ // a reference to a reference counts as a level, too
	return f.fit(target, p)
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

func (f *fitter) find(ref string) json.RawMessage {
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	tokens := strings.Split(ref, "/")
	if tokens[0] != "#" {
		return nil
	}
	at, walked := f.root, ""
	for _, token := range tokens[1:] {
		members := f.objects[walked]
		if members == nil {
			if f.work -= len(at); f.work < 0 {
				return nil
			}
			members = membersOf(at)
			f.objects[walked] = members
		}
		if at = members[pointerEscapes.Replace(token)]; at == nil {
			return nil
		}
		walked += "/" + token
	}
	return at
}

// membersOf returns the members of an object, or the elements of an array by their index.
func membersOf(raw json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if !jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
		all[string(name)] = value
		return true
	}) {
		jsontext.Elements(raw, func(value json.RawMessage) bool {
			all[strconv.Itoa(len(all))] = value
			return true
		})
	}
	return all
}
