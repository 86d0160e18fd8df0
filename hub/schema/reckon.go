package schema

import (
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

var errTooCostly = errors.New("checking it would take too long")

// value is a decoded JSON value with the cost of visiting it.
type value struct {
	bytes  int // length of its text in an error, about
	object map[string]*value
	names  []*value // the object's keys, as values
	array  []*value
	length int // length of a string
}

func weigh(v any) *value {
	switch v := v.(type) {
	case string:
		return &value{bytes: 2*len(v) + 2, length: len(v)}
	case []any:
		out := &value{bytes: 2}
		for _, item := range v {
			w := weigh(item)
			out.array = append(out.array, w)
			out.bytes += w.bytes + 1
		}
		return out
	case map[string]any:
		out := &value{bytes: 2, object: make(map[string]*value, len(v))}
		for name, item := range v {
			w, n := weigh(item), weigh(name)
			out.object[name] = w
			out.names = append(out.names, n)
			out.bytes += w.bytes + n.bytes + 2
		}
		return out
	}
	return &value{bytes: 24}
}

// reckoning goes the way of a check, without doing it, and spends its work. It takes every branch, so the check spends
// no more. It ends where the work does: a schema may lead to the same value on exponentially many paths, and in a cycle.
type reckoning struct {
	*schemaCosts
	left  int // units of work; below 0 nothing is visited any more
	depth int
}

// affordable returns nil if the validator may check content.
func (c *schemaCosts) affordable(root *jsonschema.Schema, content any) error {
	r := &reckoning{schemaCosts: c, left: bounds.CheckWork}
	r.visit(root, weigh(content))
	if r.left < 0 {
		return errTooCostly
	}
	return nil
}

// visit spends the work of a visit and of all below it. It returns the length of the longest error that can result,
// which is copied on each level above. The validator joins the errors of an anyOf; of all others it keeps one.
func (r *reckoning) visit(s *jsonschema.Schema, v *value) (text int) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > bounds.CheckStack {
		r.left = -1
	}
	own := r.own[s]
	r.left -= 1 + own/16 + len(v.names) + len(v.array)/8 + v.length*r.steps[s.Pattern]/32
	if s.UniqueItems {
		r.left -= v.bytes / 8
	}
	below, joined := 0, 0
	visit := func(s *jsonschema.Schema, v *value) int {
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
			if v.object[name] != nil {
				visit(sub, v)
			}
		}
	}
	r.items(s, v, visit)
	r.properties(s, v, visit)
	text = own + 2*v.bytes + max(below, joined)
	r.left -= text / 64
	return text
}

// items calls visit for the items of an array.
func (r *reckoning) items(s *jsonschema.Schema, v *value, visit func(*jsonschema.Schema, *value) int) {
	for i, item := range v.array {
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
func (r *reckoning) properties(s *jsonschema.Schema, v *value, visit func(*jsonschema.Schema, *value) int) {
	for name, item := range v.object {
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
	}
	for _, name := range v.names {
		visit(s.PropertyNames, name)
	}
}
