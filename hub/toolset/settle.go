package toolset

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// settle converts one schema, whose parts are settled, into a form that the provider accepts below the top level.
func (f *fitter) settle(s *schema, p place) {
	if all := s.list("allOf"); len(all) == 1 || len(all) > 0 && f.provider != Anthropic {
		s.drop("allOf")
		for _, one := range all {
			f.and(s, one, p)
		}
		if len(all) > 1 {
			f.say(p, "allOf folded")
		}
	}
	if all := s.list("oneOf"); len(all) > 0 && f.provider != Anthropic {
		if s.drop("oneOf"); !s.has("anyOf") {
			s.set("anyOf", all)
			f.say(p, "oneOf told as anyOf")
		} else {
			f.say(p, "oneOf dropped: there is anyOf, too")
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if all := s.list(key); len(all) == 1 {
			s.drop(key)
			f.and(s, all[0], p)
		}
	}
	if !s.has("if") {
		s.drop("then")
		s.drop("else")
	}
	f.tuple(s, p)
	f.items(s)
	if f.provider == Gemini {
		f.gemini(s, p)
	}
}

// tuple replaces the schemas of an array's elements by one schema. The position of each is lost.
func (f *fitter) tuple(s *schema, p place) {
	all := s.list("prefixItems")
	if f.provider == Anthropic || all == nil {
		return
	}
	if rest := s.sub("items"); rest != nil {
		all = append(all, rest)
	}
	s.drop("prefixItems")
	s.set("items", f.either(all, p))
	f.say(p, "a tuple told as an array of any of its kinds")
}

// declared removes names from required that are no properties.
func (f *fitter) declared(s *schema, p place) {
	if !s.has("required") {
		return
	}
	properties := s.table("properties")
	all := s.strings("required")
	kept := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !properties.has(name) })
	if len(kept) < len(all) {
		f.say(p, "names in required dropped that are no properties")
	}
	s.setStrings("required", kept)
}

// items adds items to an array without them: all providers except Anthropic require them.
func (f *fitter) items(s *schema) {
	if f.provider != Anthropic && slices.Contains(s.types(), "array") && s.sub("items") == nil {
		s.set("items", &schema{})
	}
}

// keyPattern is what Anthropic accepts as names of arguments: "Property keys should match pattern".
var keyPattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// finish converts the whole schema into a form for the top level.
func (f *fitter) finish(s *schema) (*schema, error) {
	top := place{}
	if types := s.types(); types != nil && !slices.Contains(types, "object") {
		return nil, errors.New("its schema takes no object")
	}
	if !f.fold(s, top) {
		return nil, errors.New("none of the alternatives of its schema is an object")
	}
	if f.provider != Anthropic {
		for _, key := range []string{"enum", "const", "not", "if", "then", "else", "nullable"} {
			if s.has(key) {
				s.drop(key)
				f.say(top, "%s dropped at the top", key)
			}
		}
		f.everywhere(s, top)
	}
	// Contradictory or several types are replaced: arguments are an object in MCP.
	made := &schema{}
	made.setText("type", "object")
	properties := s.table("properties")
	made.set("properties", properties)
	if !s.has("properties") {
		f.say(top, "properties added")
	}
	for _, key := range s.keys {
		if !made.has(key) {
			made.set(key, s.at[key])
		}
	}
	if f.provider == Gemini {
		f.formats(made, top)
	}
	if f.provider != Anthropic {
		return made, nil
	}
	for _, name := range made.strings("required") {
		if !keyPattern.MatchString(name) {
			return nil, fmt.Errorf("it requires an argument with a name that %s does not take: %s", f.provider,
				bounds.Printable(name))
		}
	}
	kept := &table{}
	for _, name := range properties.keys {
		if keyPattern.MatchString(name) {
			kept.set(name, properties.at[name])
		} else {
			f.say(top.in("properties", name), "dropped: %s does not take its name", f.provider)
		}
	}
	made.set("properties", kept)
	return made, nil
}

// everywhere calls declared for s and each schema within it. It runs after the merges, because before them a part may
// require a property of another part.
func (f *fitter) everywhere(s *schema, p place) {
	f.declared(s, p)
	for _, key := range s.keys {
		switch v := s.at[key].(type) {
		case *schema:
			f.everywhere(v, p.in(key))
		case []*schema:
			for _, one := range v {
				f.everywhere(one, p.in(key))
			}
		case *table:
			for _, name := range v.keys {
				f.everywhere(v.at[name], p.in(key, name))
			}
		}
	}
}

// told adds values that a provider does not accept as enum to the description.
func (f *fitter) told(s *schema, values json.RawMessage) {
	text := "Allowed: " + string(values) + "."
	if len(text) > 300 {
		return
	}
	if before := s.text("description"); before != "" {
		text = before + " " + text
	}
	s.setText("description", text)
}
