package toolset

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// fields is a map that keeps the order in which its keys were added. The zero value is empty.
type fields[V any] struct {
	keys []string
	at   map[string]V
}

func (f *fields[V]) set(key string, v V) {
	if f.at == nil {
		f.at = map[string]V{}
	}
	if _, has := f.at[key]; !has {
		f.keys = append(f.keys, key)
	}
	f.at[key] = v
}

func (f *fields[V]) has(key string) bool {
	if f == nil {
		return false
	}
	_, has := f.at[key]
	return has
}

func (f *fields[V]) drop(key string) {
	if !f.has(key) {
		return
	}
	delete(f.at, key)
	for i, k := range f.keys {
		if k == key {
			f.keys = append(f.keys[:i:i], f.keys[i+1:]...)
			return
		}
	}
}

// schema is a schema under construction. A value is a *schema, a []*schema, a *table, or the JSON text of anything
// else. Schemas form a tree: none is used in two places.
type schema struct{ fields[any] }

// table maps names to schemas, as in properties.
type table struct{ fields[*schema] }

func (s *schema) sub(key string) *schema {
	v, _ := s.at[key].(*schema)
	return v
}

func (s *schema) list(key string) []*schema {
	v, _ := s.at[key].([]*schema)
	return v
}

// table returns the table of a key. It is never nil; a new one is not added to s.
func (s *schema) table(key string) *table {
	if v, ok := s.at[key].(*table); ok {
		return v
	}
	return &table{}
}

func (s *schema) raw(key string) json.RawMessage {
	v, _ := s.at[key].(json.RawMessage)
	return v
}

func (s *schema) setStrings(key string, all []string) {
	if len(all) == 0 {
		s.drop(key)
		return
	}
	b := []byte{'['}
	for i, one := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, one)
	}
	s.set(key, json.RawMessage(append(b, ']')))
}

// strings returns the elements of an array of strings without duplicates.
func (s *schema) strings(key string) []string {
	var all []string
	seen := map[string]bool{}
	jsontext.Elements(s.raw(key), func(v json.RawMessage) bool {
		if one := jsontext.String(v); jsontext.IsString(v) && !seen[one] {
			seen[one] = true
			all = append(all, one)
		}
		return true
	})
	return all
}

// types returns the types that s may have; nil means any type.
func (s *schema) types() []string {
	if one := s.raw("type"); jsontext.IsString(one) {
		return []string{jsontext.String(one)}
	}
	return s.strings("type")
}

func (s *schema) setTypes(types []string) {
	switch len(types) {
	case 0:
		s.drop("type")
	case 1:
		s.setText("type", types[0])
	default:
		s.setStrings("type", types)
	}
}

func (s *schema) setText(key, text string) {
	s.set(key, json.RawMessage(jsontext.AppendString(nil, text)))
}

func (s *schema) text(key string) string { return jsontext.String(s.raw(key)) }

// append appends s as JSON.
func (s *schema) append(b []byte) []byte {
	b = append(b, '{')
	for i, key := range s.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, key), ':')
		switch v := s.at[key].(type) {
		case json.RawMessage:
			b = append(b, v...)
		case *schema:
			b = v.append(b)
		case []*schema:
			b = append(b, '[')
			for j, one := range v {
				if j > 0 {
					b = append(b, ',')
				}
				b = one.append(b)
			}
			b = append(b, ']')
		case *table:
			b = append(b, '{')
			for j, name := range v.keys {
				if j > 0 {
					b = append(b, ',')
				}
				b = v.at[name].append(append(jsontext.AppendString(b, name), ':'))
			}
			b = append(b, '}')
		}
	}
	return append(b, '}')
}

// appendClean appends a value without white space and with valid strings. It returns false if the value is nested too
// deep for any provider, or is no JSON.
func appendClean(b []byte, raw json.RawMessage, depth int) ([]byte, bool) {
	if depth > bounds.FitDepth || len(raw) == 0 {
		return b, false
	}
	ok, first := true, true
	next := func() {
		if !first {
			b = append(b, ',')
		}
		first = false
	}
	switch raw[0] {
	case '"':
		return jsontext.AppendString(b, jsontext.String(raw)), true
	case '{':
		b = append(b, '{')
		whole := jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
			next()
			b = append(jsontext.AppendString(b, string(name)), ':')
			b, ok = appendClean(b, value, depth+1)
			return ok
		})
		return append(b, '}'), ok && whole
	case '[':
		b = append(b, '[')
		whole := jsontext.Elements(raw, func(value json.RawMessage) bool {
			next()
			b, ok = appendClean(b, value, depth+1)
			return ok
		})
		return append(b, ']'), ok && whole
	}
	return append(b, bytes.TrimSpace(raw)...), true
}

// pointed returns the tokens of a JSON pointer.
func pointed(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}
