package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// schemaCosts holds the data from which the cost of a check is computed. It is immutable.
type schemaCosts struct {
	refs  map[*jsonschema.Schema]*jsonschema.Schema // the target of each $ref
	own   map[*jsonschema.Schema]int                // see ownCost
	steps map[string]int                            // states of a regular expression, by its text
	bytes int                                       // about how much memory the prepared schema takes
}

// partBytes is about the memory of one subschema: its struct, its places in the validator's tables and in ours.
const partBytes = 1536

// survey walks all subschemas and resolves references. The validator has no limit in time or depth, so a schema whose
// cost cannot be computed is refused: one with references to other documents, with embedded documents, or with dynamic
// references. Tools have no use for them, nor for anchors.
func survey(root *jsonschema.Schema) (*schemaCosts, error) {
	c := &schemaCosts{
		refs: map[*jsonschema.Schema]*jsonschema.Schema{}, own: map[*jsonschema.Schema]int{}, steps: map[string]int{},
	}
	places := map[string]*jsonschema.Schema{} // by JSON pointer
	paths, steps := 0, 0
	var walk func(s *jsonschema.Schema, path string) error
	walk = func(s *jsonschema.Schema, path string) error {
		if s == nil {
			return errors.New("a subschema is null")
		}
		places[path] = s
		paths += len(path)
		patterns := []string{s.Pattern}
		for pattern := range s.PatternProperties {
			patterns = append(patterns, pattern)
		}
		for _, pattern := range patterns {
			n, err := patternSteps(pattern)
			if err != nil {
				return err
			}
			steps += n
			c.steps[pattern] = n
		}
		c.own[s] = ownCost(s, path)
		switch {
		case s != root && s.ID != "":
			return errors.New("it has a schema with an $id of its own within")
		case s.Anchor != "", s.DynamicAnchor != "", s.DynamicRef != "":
			return errors.New("it has an anchor or a dynamic reference")
		case len(c.own) > bounds.SchemaParts:
			return fmt.Errorf("it has more than %d subschemas", bounds.SchemaParts)
		case paths > bounds.SchemaPathBytes, steps > bounds.SchemaPatternSteps:
			return errors.New("its names or patterns are too large")
		}
		return eachSubschema(s, func(below string, sub *jsonschema.Schema) error { return walk(sub, path+below) })
	}
	if err := walk(root, ""); err != nil {
		return nil, err
	}
	c.bytes = len(c.own)*partBytes + 2*paths
	for s := range c.own {
		if s.Ref == "" {
			continue
		}
		pointer, within := strings.CutPrefix(s.Ref, "#")
		if !within {
			return nil, errFetch
		}
		pointer, err := url.PathUnescape(pointer)
		if c.refs[s] = places[pointer]; err != nil || c.refs[s] == nil {
			return nil, fmt.Errorf("its reference %q leads nowhere", s.Ref)
		}
	}
	return c, nil
}

// ownCost returns the cost of one schema by itself, without its subschemas, in bytes of text: a unit of work has 64. It
// is the length of an error's text that comes from the schema, with the values to compare with four times, and a unit
// for each name that is looked up in every object.
func ownCost(s *jsonschema.Schema, path string) int {
	names := len(s.Properties) + len(s.DependentSchemas) + len(s.DependencySchemas)
	values := []any{s.Enum, s.Const, s.Required, s.DependentRequired, s.DependencyStrings}
	text, err := json.Marshal(values)
	if err != nil {
		return bounds.SchemaBytes
	}
	const short = 24 // of another schema in a text
	return len(path) + len(s.ID) + 2*len(s.Pattern) + 4*len(text) + 64*names + short*(1+len(s.AnyOf)+len(s.OneOf))
}

// patternSteps returns about how many states a regular expression has once its repetitions are expanded. It does not
// expand them.
func patternSteps(pattern string) (int, error) {
	if pattern == "" {
		return 0, nil
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, errors.New("it has a pattern that is no regular expression of Go")
	}
	var count func(re *syntax.Regexp) int
	count = func(re *syntax.Regexp) int {
		n := 1 + len(re.Rune)
		for _, sub := range re.Sub {
			n += count(sub)
		}
		if re.Op == syntax.OpRepeat {
			n *= max(re.Min, re.Max, 1)
		}
		return min(n, bounds.SchemaPatternSteps+1)
	}
	return count(re), nil
}

// eachSubschema calls f for each direct subschema of s with its JSON pointer within s, until a call fails.
func eachSubschema(s *jsonschema.Schema, f func(path string, sub *jsonschema.Schema) error) error {
	for keyword, sub := range map[string]*jsonschema.Schema{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains, "not": s.Not, "if": s.If,
		"unevaluatedItems": s.UnevaluatedItems, "additionalProperties": s.AdditionalProperties, "then": s.Then,
		"propertyNames": s.PropertyNames, "unevaluatedProperties": s.UnevaluatedProperties, "else": s.Else,
		"contentSchema": s.ContentSchema,
	} {
		if sub != nil {
			if err := f("/"+keyword, sub); err != nil {
				return err
			}
		}
	}
	for keyword, list := range map[string][]*jsonschema.Schema{
		"prefixItems": s.PrefixItems, "items": s.ItemsArray, "allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf,
	} {
		for i, sub := range list {
			if err := f("/"+keyword+"/"+strconv.Itoa(i), sub); err != nil {
				return err
			}
		}
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901
	for keyword, named := range map[string]map[string]*jsonschema.Schema{
		"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties,
		"dependentSchemas": s.DependentSchemas, "dependencies": s.DependencySchemas,
	} {
		for name, sub := range named {
			if err := f("/"+keyword+"/"+escape.Replace(name), sub); err != nil {
				return err
			}
		}
	}
	return nil
}

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
