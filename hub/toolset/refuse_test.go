package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
)

// refusals returns what one of the providers would refuse in a schema, by the rules that are known of them. It is
// written independently of Fit, over decoded values.
func refusals(text []byte) (all []string) {
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if root["type"] != "object" {
		say("the top has type %v", root["type"])
	}
	arguments, has := root["properties"].(map[string]any)
	if !has {
		say("the top has no properties")
	}
	for name := range arguments {
		if !keyPattern.MatchString(name) {
			say("argument %q", name)
		}
	}
	for _, key := range []string{"anyOf", "enum"} {
		if _, has := root[key]; has {
			say("%s at the top", key)
		}
	}
	refusedIn(root, 0, say)
	return all
}

// accepted are the keywords that all providers accept, with the type that they are for; "" is any.
var accepted = map[string]string{
	"type": "", "title": "", "description": "", "anyOf": "", "properties": "object", "required": "object", "items": "array",
	"enum": "string", "format": "string", "pattern": "string", "minLength": "string", "maxLength": "string",
	"minimum": "number", "maximum": "number", "minItems": "array", "maxItems": "array",
}

func refusedIn(v any, depth int, say func(string, ...any)) {
	s, ok := v.(map[string]any)
	if !ok || depth > 60 {
		say("no schema, or too deep: %.80v", v)
		return
	}
	kind, single := s["type"].(string)
	if _, has := s["type"]; has && !single || kind == "null" {
		say("type %v", s["type"])
	}
	for key := range s {
		of, known := accepted[key]
		switch {
		case !known:
			say("Unknown name %s", key)
		case of != "" && kind != "" && of != kind && (of != "number" || kind != "integer"),
			kind == "" && (key == "properties" || key == "required" || key == "items" || key == "enum"):
			say("%s: only allowed for %s, not for %q", key, of, kind)
		}
	}
	if f, has := s["format"]; has && f != "date-time" {
		say("format %v", f)
	}
	values, _ := s["enum"].([]any)
	for _, v := range values {
		if text, ok := v.(string); !ok || text == "" {
			say("enum with %v", v)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, sub := range properties {
		refusedIn(sub, depth+1, say)
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, has := properties[name.(string)]; !has {
			say("required names no property: %v", name)
		}
	}
	if items, has := s["items"]; has {
		refusedIn(items, depth+1, say)
	} else if kind == "array" {
		say("array schema missing items")
	}
	if alternatives, has := s["anyOf"].([]any); has {
		if len(s) > 1 || len(alternatives) == 0 || slices.Contains(alternatives, nil) {
			say("other fields alongside any_of, or none in it: %v", s)
		}
		for _, sub := range alternatives {
			refusedIn(sub, depth+1, say)
		}
	}
}
