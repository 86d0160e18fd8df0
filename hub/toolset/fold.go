package toolset

import (
	"encoding/json"
	"slices"
)

// mostKinds is how many alternatives one argument may have when alternative objects become one object.
const mostKinds = 8

// and merges b into s: s then says at most what s and b said together. b must not be used afterwards.
func (f *fitter) and(s, b *schema, p place) {
	if len(s.keys) == 0 {
		*s = *b
		return
	}
	f.andProperties(s, b, p)
	condition := s.has("if") || s.has("then") || s.has("else")
	if s.has("prefixItems") || b.has("prefixItems") {
		// items applies to the elements after them, which differ between the two.
		s.drop("items")
		b.drop("items")
		f.loosened++
	}
	for _, key := range b.keys {
		theirs := b.at[key]
		if !s.has(key) {
			// These three are one condition, and s has a condition already.
			if condition && (key == "if" || key == "then" || key == "else") {
				f.loosened++
				continue
			}
			if key != "additionalProperties" { // andProperties has handled it
				s.set(key, theirs)
			}
			continue
		}
		switch key {
		case "type":
			both := common(s.types(), b.types())
			if len(both) == 0 {
				f.say(p, "type dropped: it can have none")
			}
			s.setTypes(both)
		case "required":
			s.setStrings(key, union(s.strings(key), b.strings(key)))
		case "allOf":
			s.set(key, append(s.list(key), b.list(key)...))
		case "items", "contains", "propertyNames":
			mine, their := s.sub(key), b.sub(key)
			if mine != nil && their != nil {
				f.and(mine, their, p)
				f.settle(mine, p.in(key))
			}
		case "title", "description", "default", "examples":
		default: // each of the two alone says less than both
			if string(s.raw(key)) != string(b.raw(key)) || s.raw(key) == nil {
				f.say(p, "one of two %s dropped", key)
			}
		}
	}
}

// andProperties merges the properties and additionalProperties of b into s. A schema that forbids additional properties
// does not know those of the other schema.
func (f *fitter) andProperties(s, b *schema, p place) {
	mine, theirs := s.table("properties"), b.table("properties")
	further := func(s *schema, own, others *table) any {
		v := s.at["additionalProperties"]
		if raw, ok := v.(json.RawMessage); ok && string(raw) != "true" || v != nil && !ok {
			for _, name := range others.keys {
				if !own.has(name) {
					return nil
				}
			}
		}
		return v
	}
	a, c := further(s, mine, theirs), further(b, theirs, mine)
	switch {
	case (s.has("additionalProperties") || b.has("additionalProperties")) &&
		(s.has("patternProperties") || b.has("patternProperties")),
		s.has("additionalProperties") && a == nil, b.has("additionalProperties") && c == nil:
		s.drop("additionalProperties")
		f.loosened++
	case a == nil && c != nil:
		s.set("additionalProperties", c)
	}
	for _, name := range theirs.keys {
		if mine.has(name) {
			f.and(mine.at[name], theirs.at[name], p.in("properties", name))
			f.settle(mine.at[name], p.in("properties", name))
		} else {
			mine.set(name, theirs.at[name])
		}
	}
	if len(mine.keys) > 0 {
		s.set("properties", mine)
	}
	b.drop("properties")
}

// or merges alternatives into one object: it has all of their properties, and requires those that all of them require.
// Alternatives that are no objects are dropped. It returns nil if none is an object.
func (f *fitter) or(all []*schema, p place) *schema {
	kinds := map[string][]*schema{}
	s := &schema{}
	names := &table{}
	var required []string
	objects, closed := 0, true
	for _, one := range all {
		f.fold(one, p)
		if types := one.types(); types != nil && !slices.Contains(types, "object") {
			f.say(p, "an alternative dropped: it is no object")
			continue
		}
		if objects++; objects == 1 {
			required = one.strings("required")
		} else {
			also := map[string]bool{}
			for _, name := range one.strings("required") {
				also[name] = true
			}
			required = slices.DeleteFunc(required, func(name string) bool { return !also[name] })
		}
		closed = closed && string(one.raw("additionalProperties")) == "false" && !one.has("patternProperties")
		for _, name := range one.table("properties").keys {
			property := one.table("properties").at[name]
			names.set(name, property)
			kinds[name] = append(kinds[name], property)
		}
	}
	if objects == 0 {
		return nil
	}
	for _, name := range names.keys {
		names.at[name] = f.either(kinds[name], p)
	}
	if len(names.keys) > 0 {
		s.set("properties", names)
	}
	s.setStrings("required", required)
	if closed {
		s.set("additionalProperties", json.RawMessage("false"))
	}
	return s
}

// either returns a schema for an argument that has one of several schemas.
func (f *fitter) either(all []*schema, p place) *schema {
	if all = distinct(all); len(all) == 1 {
		return all[0]
	}
	s := &schema{}
	if len(all) > mostKinds {
		f.say(p, "an argument left open: it has more than %d kinds", mostKinds)
		return s
	}
	s.set("anyOf", all)
	f.settle(s, p.in("anyOf"))
	return s
}

// fold merges anyOf, oneOf and allOf of a schema into one object. It reports whether the result is an object.
func (f *fitter) fold(s *schema, p place) (object bool) {
	for _, one := range s.list("allOf") {
		f.fold(one, p)
		f.and(s, one, p)
	}
	s.drop("allOf")
	object = true
	for _, key := range []string{"anyOf", "oneOf"} {
		all := s.list(key)
		if s.drop(key); len(all) == 0 {
			continue
		}
		if len(all) > 1 {
			f.say(p, "%s folded: which of the arguments go together is not said any more", key)
		}
		if one := f.or(all, p); one != nil {
			f.and(s, one, p)
		} else {
			object = false
		}
	}
	return object
}

func distinct(all []*schema) []*schema {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s *schema) bool {
		text := string(s.append(nil))
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

// common returns the types in both lists; nil means any type.
func common(a, b []string) (both []string) {
	if a == nil {
		return b
	}
	for _, one := range a {
		switch {
		case b == nil || slices.Contains(b, one):
			both = append(both, one)
		case one == "number" && slices.Contains(b, "integer") && !slices.Contains(a, "integer"):
			both = append(both, "integer")
		case one == "integer" && slices.Contains(b, "number"):
			both = append(both, one)
		}
	}
	return both
}

func union(a, b []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Concat(a, b), func(s string) bool {
		defer func() { seen[s] = true }()
		return seen[s]
	})
}
