package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
)

// refusals returns what a provider would refuse in a schema, by the rules that are known of it. It is written
// independently of Fit, over decoded values.
func refusals(p Provider, text []byte) (all []string) {
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if root["type"] != "object" {
		say("the top has type %v", root["type"])
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		say("the top has no properties")
	}
	forbidden := []string{"anyOf", "oneOf", "allOf"}
	if p == OpenAI {
		forbidden = append(forbidden, "enum", "not")
	}
	for _, key := range forbidden {
		if _, has := root[key]; has {
			say("%s at the top", key)
		}
	}
	if names, _ := root["properties"].(map[string]any); p == Anthropic {
		for name := range names {
			if !keyPattern.MatchString(name) {
				say("argument %q", name)
			}
		}
	}
	var look func(v any, depth int)
	look = func(v any, depth int) {
		s, ok := v.(map[string]any)
		if !ok {
			if _, is := v.(bool); !is || p == Gemini {
				say("%v is no schema", v)
			}
			return
		}
		if depth > 60 {
			say("too deep")
			return
		}
		types, _ := s["type"].([]any)
		if one, ok := s["type"].(string); ok {
			types = []any{one}
		}
		isArray := slices.Contains(types, any("array"))
		if items, has := s["items"].(map[string]any); isArray && !has && p != Anthropic {
			say("array schema missing items: %v", items)
		}
		if p == Gemini {
			gemini(s, say)
		}
		for key, value := range s {
			switch key {
			case "$ref", "$defs", "definitions", "nullable":
				if key != "nullable" || p != Gemini {
					say("%s", key)
				}
			case "properties", "patternProperties", "dependentSchemas":
				for _, sub := range value.(map[string]any) {
					look(sub, depth+1)
				}
			case "anyOf", "oneOf", "allOf", "prefixItems":
				subs := value.([]any)
				if len(subs) == 0 {
					say("empty %s", key)
				}
				for _, sub := range subs {
					look(sub, depth+1)
				}
			case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
				look(value, depth+1)
			}
			if p != Anthropic && (key == "allOf" || key == "oneOf" || key == "prefixItems") {
				say("%s", key)
			}
		}
		if p != Anthropic {
			properties, _ := s["properties"].(map[string]any)
			required, _ := s["required"].([]any)
			for _, name := range required {
				if _, has := properties[name.(string)]; !has {
					say("required names no property: %v", name)
				}
			}
		}
	}
	look(root, 0)
	return all
}

func gemini(s map[string]any, say func(string, ...any)) {
	known := []string{"type", "title", "description", "enum", "properties", "required", "items", "anyOf", "format", "pattern",
		"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "nullable"}
	for key := range s {
		if !slices.Contains(known, key) {
			say("Unknown name %s", key)
		}
	}
	name, single := s["type"].(string)
	if _, has := s["type"]; has && !single || name == "null" {
		say("type %v", s["type"])
	}
	if _, has := s["anyOf"]; has && len(s) > 1 {
		say("other fields alongside any_of: %v", s)
	}
	for key, of := range map[string]string{"properties": "object", "required": "object", "items": "array", "enum": "string"} {
		if _, has := s[key]; has && name != of {
			say("%s: only allowed for %s, not for %q", key, of, name)
		}
	}
	values, _ := s["enum"].([]any)
	for _, v := range values {
		if text, ok := v.(string); !ok || text == "" {
			say("enum with %v", v)
		}
	}
	if f, has := s["format"]; has && f != "date-time" && f != "enum" {
		say("format %v", f)
	}
}
