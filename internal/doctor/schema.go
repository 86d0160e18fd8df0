package doctor

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// refusal is a property of a schema that the API of some model refuses.
type refusal struct {
	level Level
	text  string
}

// Bounds for one schema, which comes from the server.
const (
	schemaDepth = 32
	schemaNodes = 10_000
)

// refused returns what the APIs of models do not accept in an inputSchema, each kind once. One such tool makes an API
// refuse the whole request.
func refused(schema json.RawMessage) []refusal {
	if !jsontext.IsObject(schema) {
		return []refusal{{Mend, "have an inputSchema that is no object"}}
	}
	var found []refusal
	once := map[string]bool{}
	add := func(level Level, text string) {
		if !once[text] {
			once[text] = true
			found = append(found, refusal{level, text})
		}
	}
	if jsontext.String(jsontext.Get(schema, "type")) != "object" {
		add(Mend, `have a schema whose root does not say "type": "object"`)
	}
	for _, name := range []string{"oneOf", "anyOf", "allOf", "not", "enum"} {
		if jsontext.Get(schema, name) != nil {
			add(Mend, `have "`+name+`" at the root of the schema, which Anthropic and OpenAI refuse`)
		}
	}
	if jsontext.Get(schema, "properties") == nil {
		add(Mend, `have a schema without "properties", which OpenAI refuses`)
	}
	nodes := 0
	walk(schema, 0, &nodes, func(node json.RawMessage) {
		switch kind := jsontext.Get(node, "type"); {
		case jsontext.String(kind) == "array" && jsontext.Get(node, "items") == nil:
			add(Mend, `have an array without "items", which OpenAI and VS Code refuse`)
		case !jsontext.IsString(kind) && kind != nil:
			add(Note, `have several types for one value, which Gemini's older form does not take`)
		}
		if items := jsontext.Get(node, "items"); items != nil && jsontext.Elements(items, stop) {
			add(Improve, `have an array of schemas as "items", which JSON Schema 2020-12 calls "prefixItems"`)
		}
		if ref := jsontext.String(jsontext.Get(node, "$ref")); ref != "" && ref[0] != '#' {
			add(Mend, `have a "$ref" that leads out of the schema, which clients must not follow`)
		} else if ref != "" {
			add(Note, `have a "$ref", which Gemini's older form does not take`)
		}
		jsontext.Elements(jsontext.Get(node, "enum"), func(value json.RawMessage) bool {
			if !jsontext.IsString(value) {
				add(Mend, `have an "enum" of values that are no strings, which Gemini refuses`)
			}
			return jsontext.IsString(value)
		})
	})
	return found
}

func stop(json.RawMessage) bool { return false }

// walk calls visit for the schema and every schema inside it.
func walk(schema json.RawMessage, depth int, nodes *int, visit func(json.RawMessage)) {
	if *nodes++; depth > schemaDepth || *nodes > schemaNodes || !jsontext.IsObject(schema) {
		return
	}
	visit(schema)
	for _, name := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains",
		"propertyNames"} {
		walk(jsontext.Get(schema, name), depth+1, nodes, visit)
	}
	for _, name := range []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"} {
		jsontext.Members(jsontext.Get(schema, name), func(_ []byte, value json.RawMessage) bool {
			walk(value, depth+1, nodes, visit)
			return *nodes <= schemaNodes
		})
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		jsontext.Elements(jsontext.Get(schema, name), func(value json.RawMessage) bool {
			walk(value, depth+1, nodes, visit)
			return *nodes <= schemaNodes
		})
	}
}
