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
