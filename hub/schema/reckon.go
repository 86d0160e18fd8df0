package schema

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

var errTooCostly = errors.New("checking it would take too long")

// size returns about the length of a decoded value in an error's text, and how many values it has within, with names.
func size(v any) (text, values int) {
	text, values = 24, 1
	add := func(v any) {
		t, n := size(v)
		text, values = text+t+2, values+n
	}
	switch v := v.(type) {
	case string:
		text = 2*len(v) + 2
	case []any:
		for _, item := range v {
			add(item)
		}
	case map[string]any:
		for name, item := range v {
			add(name)
			add(item)
		}
	}
	return text, values
}

// reckoning goes the way of a check, without doing it, and spends its work. It takes every branch, so the check spends
// no more. It ends where the work does: a schema may lead to the same value on exponentially many paths, and in a
// cycle.
type reckoning struct {
	*schemaCosts
	left  int // units of work, each of 64 bytes of text; below 0 nothing is visited any more
	depth int
}

// affordable returns nil if the validator may check content.
func (c *schemaCosts) affordable(root *jsonschema.Schema, content any) error {
	r := &reckoning{schemaCosts: c, left: bounds.CheckWork}
	r.visit(root, content)
	if r.left < 0 {
		return errTooCostly
	}
	return nil
}

// visit spends the work of a visit and of all below it. It returns the length of the longest error that can result,
// which is copied on each level above. The validator joins the errors of an anyOf; of all others it keeps one.
func (r *reckoning) visit(s *jsonschema.Schema, v any) (text int) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > bounds.CheckStack {
		r.left = -1
	}
	str, _ := v.(string)
	array, _ := v.([]any)
	object, _ := v.(map[string]any)
	bytes, values := size(v)
	r.left -= 1 + r.own[s]/64 + len(object) + values/8 + len(str)*r.steps[s.Pattern]/32
	if s.UniqueItems {
		r.left -= bytes / 8
	}
	below, joined := 0, 0
	visit := func(s *jsonschema.Schema, v any) int {
		if s == nil || r.left < 0 {
			return 0
		}
		text := r.visit(s, v)
		below = max(below, text)
		return text
	}
	visit(r.refs[s], v)
	for _, sub := range s.AnyOf {
		joined = min(joined+visit(sub, v), 64*bounds.CheckWork)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.OneOf, {s.Not, s.If, s.Then, s.Else}} {
		for _, sub := range list {
			visit(sub, v)
		}
	}
	for _, named := range []map[string]*jsonschema.Schema{s.DependentSchemas, s.DependencySchemas} {
		for name, sub := range named {
			if _, has := object[name]; has {
				visit(sub, v)
			}
		}
	}
	r.items(s, array, visit)
	r.properties(s, object, visit)
	text = r.own[s] + 2*bytes + max(below, joined)
	r.left -= text / 64
	return text
}

// items calls visit for the items of an array.
func (r *reckoning) items(s *jsonschema.Schema, array []any, visit func(*jsonschema.Schema, any) int) {
	for i, item := range array {
		if r.left < 0 {
			return
		}
		for _, list := range [][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray} {
			if i < len(list) {
				visit(list[i], item)
			}
		}
		for _, sub := range []*jsonschema.Schema{s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems} {
			visit(sub, item)
		}
	}
}

// properties calls visit for the members of an object, and for their names.
func (r *reckoning) properties(s *jsonschema.Schema, object map[string]any, visit func(*jsonschema.Schema, any) int) {
	for name, item := range object {
		if sub := s.Properties[name]; sub != nil {
			visit(sub, item)
		} else {
			visit(s.AdditionalProperties, item)
		}
		for pattern, sub := range s.PatternProperties {
			if r.left -= len(name) * r.steps[pattern] / 32; r.left < 0 {
				return
			}
			visit(sub, item)
		}
		visit(s.UnevaluatedProperties, item)
		visit(s.PropertyNames, name)
	}
}
