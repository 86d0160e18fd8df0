package toolset

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// schema is a schema in the form that all providers accept:
//   - Gemini has the schemas of OpenAPI 3.0: one type, an enum of non-empty strings, nothing beside anyOf. What only it
//     knows (nullable) is left out, so that null cannot be said.
//   - OpenAI requires items of each array, and that required names are properties.
//   - Anthropic and OpenAI accept no alternatives at the top, and Anthropic not every name of an argument there.
//
// A keyword that is not documented for all is left out: a refusal costs the whole request, a missing keyword a hint.
// Schemas form a tree: none is used in two places.
type schema struct {
	kind               string // its type, "" is any
	title, description string
	values             map[string]json.RawMessage // of keywords
	properties         properties
	items              *schema
	anyOf              []*schema // then nothing else but title and description
	nothing            bool      // it takes null at most
}

// keywords are those whose values are no schemas, with the types that they say something about.
var keywords = []struct{ key, of string }{
	{"enum", "string"}, {"format", "string"}, {"pattern", "string"}, {"minLength", "string"}, {"maxLength", "string"},
	{"minimum", "number integer"}, {"maximum", "number integer"}, {"minItems", "array"}, {"maxItems", "array"},
}

var kindNames = []string{"object", "array", "string", "number", "integer", "boolean"}

// properties are the properties of an object in their order.
type properties struct {
	all []*property
	at  map[string]*property
}

type property struct {
	name     string
	schema   *schema // nil if it is only named as required
	required bool
}

// of returns the property with a name, and adds it if there is none.
func (t *properties) of(name string) *property {
	q := t.at[name]
	if q == nil {
		if t.at == nil {
			t.at = map[string]*property{}
		}
		q = &property{name: name}
		t.all, t.at[name] = append(t.all, q), q
	}
	return q
}

func (s *schema) set(key string, value json.RawMessage) {
	if s.values == nil {
		s.values = map[string]json.RawMessage{}
	}
	s.values[key] = value
}

// only makes kind the type of s, and returns the keywords that it drops because they are for other types.
func (s *schema) only(kind string) (dropped []string) {
	s.kind = kind
	for _, k := range keywords {
		if s.values[k.key] != nil && !strings.Contains(k.of, kind) {
			delete(s.values, k.key)
			dropped = append(dropped, k.key)
		}
	}
	if s.properties.all != nil && kind != "object" {
		s.properties, dropped = properties{}, append(dropped, "properties")
	}
	if s.items != nil && kind != "array" {
		s.items, dropped = nil, append(dropped, "items")
	}
	return dropped
}

// alternatives returns anyOf, or s alone. Title and description go to the first alternative.
func (s *schema) alternatives() []*schema {
	if s.anyOf == nil {
		return []*schema{s}
	}
	first := s.anyOf[0]
	first.title = cmp.Or(first.title, s.title)
	first.description = strings.TrimSpace(s.description + " " + first.description)
	s.title, s.description = "", ""
	return s.anyOf
}

// append appends s as JSON. Required names that are no properties are left out and passed to undeclared.
func (s *schema) append(b []byte, undeclared func(name string)) []byte {
	b = append(b, '{')
	member := func(key string) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, key), ':')
	}
	if s.anyOf != nil {
		member("anyOf")
		for i, one := range s.alternatives() {
			b = one.append(append(b, "[,"[min(i, 1)]), undeclared)
		}
		return append(b, "]}"...)
	}
	for i, text := range []string{s.kind, s.title, s.description} {
		if text != "" {
			member([]string{"type", "title", "description"}[i])
			b = jsontext.AppendString(b, text)
		}
	}
	for _, k := range keywords {
		if v := s.values[k.key]; v != nil {
			member(k.key)
			b = append(b, v...)
		}
	}
	if s.properties.all != nil {
		member("properties")
		b = append(b, '{')
		var required []byte
		for _, q := range s.properties.all {
			if q.schema == nil {
				undeclared(q.name)
				continue
			}
			if q.required {
				required = jsontext.AppendString(append(required, ','), q.name)
			}
			member(q.name)
			b = q.schema.append(b, undeclared)
		}
		b = append(b, '}')
		if required != nil {
			member("required")
			required[0] = '['
			b = append(append(b, required...), ']')
		}
	}
	if s.kind == "array" {
		member("items")
		if s.items == nil {
			return append(b, "{}}"...)
		}
		b = s.items.append(b, undeclared)
	}
	return append(b, '}')
}
