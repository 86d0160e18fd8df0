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
	own   map[*jsonschema.Schema]ownCost
	steps map[string]int // states of a regular expression, by its text
	bytes int            // about how much memory the prepared schema takes
}

// ownCost is the cost of one schema by itself, without its subschemas.
type ownCost struct {
	text  int // length of an error's text that comes from the schema
	enums int // length of the values to compare with
	names int // how many names are looked up in every object
}

// partBytes is about the memory of one subschema: its struct, its places in the validator's tables and in ours.
const partBytes = 1536

// survey walks all subschemas and resolves references. The validator has no limit in time or depth, so a schema whose
// cost cannot be computed is refused: one with references to other documents, with embedded documents, or with dynamic
// references. Tools have no use for them.
func survey(root *jsonschema.Schema) (*schemaCosts, error) {
	c := &schemaCosts{
		refs: map[*jsonschema.Schema]*jsonschema.Schema{}, own: map[*jsonschema.Schema]ownCost{}, steps: map[string]int{},
	}
	anchors := map[string]*jsonschema.Schema{}
	paths, steps := 0, 0
	var walk func(s *jsonschema.Schema, path int) error
	walk = func(s *jsonschema.Schema, path int) error {
		if s == nil {
			return errors.New("a subschema is null")
		}
		paths += path
		for _, name := range []string{s.Anchor, s.DynamicAnchor} {
			if name != "" {
				anchors[name] = s
			}
		}
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
		c.own[s] = ownCostOf(s, path)
		switch {
		case s != root && s.ID != "":
			return errors.New("it has a schema with an $id of its own within")
		case s.DynamicRef != "":
			return errors.New("it has a dynamic reference")
		case len(c.own) > bounds.SchemaParts:
			return fmt.Errorf("it has more than %d subschemas", bounds.SchemaParts)
		case paths > bounds.SchemaPathBytes, steps > bounds.SchemaPatternSteps:
			return errors.New("its names or patterns are too large")
		}
		return eachSubschema(s, func(keyword, name string, sub *jsonschema.Schema) error {
			return walk(sub, path+len(keyword)+2*len(name)+2)
		})
	}
	if err := walk(root, 0); err != nil {
		return nil, err
	}
	c.bytes = len(c.own)*partBytes + 2*paths
	known := map[string]*jsonschema.Schema{}
	for s := range c.own {
		if s.Ref == "" {
			continue
		}
		target := known[s.Ref]
		if target == nil {
			var err error
			if target, err = follow(root, anchors, s.Ref); err != nil {
				return nil, err
			}
			known[s.Ref] = target
		}
		c.refs[s] = target
	}
	return c, nil
}

func ownCostOf(s *jsonschema.Schema, path int) ownCost {
	size := func(v any) int {
		text, err := json.Marshal(v)
		if err != nil {
			return bounds.SchemaBytes
		}
		return len(text)
	}
	own := ownCost{text: 128 + path + 2*len(s.Pattern)}
	own.names = len(s.Properties) + len(s.Required) + len(s.DependentSchemas) + len(s.DependencySchemas) +
		len(s.DependentRequired) + len(s.DependencyStrings)
	if s.Enum != nil {
		own.enums += size(s.Enum)
	}
	if s.Const != nil {
		own.enums += size(*s.Const)
	}
	own.text += 2 * own.enums
	for _, list := range s.DependentRequired {
		own.text += size(list)
	}
	for _, list := range s.DependencyStrings {
		own.text += size(list)
	}
	own.text += 2 * size(s.Required)
	for _, sub := range append(append([]*jsonschema.Schema{s, s.Not, s.Contains}, s.AnyOf...), s.OneOf...) {
		if sub != nil {
			own.text += 24 + len(sub.ID) + len(sub.Anchor) + len(sub.DynamicAnchor)
		}
	}
	return own
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

// eachSubschema calls f for each direct subschema of s, until a call fails.
func eachSubschema(s *jsonschema.Schema, f func(keyword, name string, sub *jsonschema.Schema) error) error {
	for keyword, sub := range singles(s) {
		if sub != nil {
			if err := f(keyword, "", sub); err != nil {
				return err
			}
		}
	}
	for keyword, list := range sequences(s) {
		for i, sub := range list {
			if err := f(keyword, strconv.Itoa(i), sub); err != nil {
				return err
			}
		}
	}
	for keyword, named := range tables(s) {
		for name, sub := range named {
			if err := f(keyword, name, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func singles(s *jsonschema.Schema) map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains,
		"unevaluatedItems":     s.UnevaluatedItems,
		"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames,
		"unevaluatedProperties": s.UnevaluatedProperties,
		"not":                   s.Not, "if": s.If, "then": s.Then, "else": s.Else, "contentSchema": s.ContentSchema,
	}
}

func sequences(s *jsonschema.Schema) map[string][]*jsonschema.Schema {
	return map[string][]*jsonschema.Schema{
		"prefixItems": s.PrefixItems, "items": s.ItemsArray, "allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf,
	}
}

func tables(s *jsonschema.Schema) map[string]map[string]*jsonschema.Schema {
	return map[string]map[string]*jsonschema.Schema{
		"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties,
		"dependentSchemas": s.DependentSchemas, "dependencies": s.DependencySchemas,
	}
}

// follow returns the schema to which a reference within the document leads: "#", a JSON pointer (RFC 6901), or an
// anchor.
func follow(root *jsonschema.Schema, anchors map[string]*jsonschema.Schema, ref string) (*jsonschema.Schema, error) {
	fragment, within := strings.CutPrefix(ref, "#")
	if !within {
		return nil, errFetch
	}
	lost := fmt.Errorf("its reference %q leads nowhere", ref)
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, lost
	}
	if fragment == "" {
		return root, nil
	}
	tokens := strings.Split(fragment, "/")
	if tokens[0] != "" {
		if s := anchors[fragment]; s != nil {
			return s, nil
		}
		return nil, lost
	}
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	s := root
	for rest := tokens[1:]; len(rest) > 0; {
		next, used := below(s, rest)
		if next == nil {
			return nil, lost
		}
		s, rest = next, rest[used:]
	}
	return s, nil
}

// below follows one step of a pointer, which is one or two of its tokens.
func below(s *jsonschema.Schema, tokens []string) (next *jsonschema.Schema, used int) {
	if next := singles(s)[tokens[0]]; next != nil {
		return next, 1
	}
	if len(tokens) < 2 {
		return nil, 0
	}
	if list := sequences(s)[tokens[0]]; list != nil {
		if i, err := strconv.Atoi(tokens[1]); err == nil && i >= 0 && i < len(list) {
			return list[i], 2
		}
		return nil, 0
	}
	return tables(s)[tokens[0]][tokens[1]], 2
}
