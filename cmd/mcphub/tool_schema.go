package main

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Bounds of what is read of a schema: a stranger may write circular references, along many paths at once.
const (
	maxDepth   = 16    // of nesting and references together
	maxSchemas = 5_000 // how many schemas are read in all
)

// argument is one argument of a tool, according to its input schema. Everything in it comes from the server.
type argument struct {
	name        string
	types       []string // JSON types; none: any
	items       *argument
	enum        []string // JSON texts
	def         string   // JSON text, "" if there is none
	description string
	required    bool
	properties  []argument
	open        bool // further properties are allowed
}

// readToolArguments reads the input schema in a tool's definition. If it is not a schema, nothing is known about the
// arguments.
func readToolArguments(definition string) argument {
	return readArguments(string(jsontext.Get([]byte(definition), "inputSchema")))
}

// readArguments reads a schema whose root is an object.
func readArguments(schema string) argument {
	var root map[string]any // keys must match exactly, and of two equal keys the last one counts, as in jsontext
	if json.Unmarshal([]byte(schema), &root) != nil {
		return argument{open: true}
	}
	r := schemaReader{root: root, left: maxSchemas}
	return r.read("", root, maxDepth)
}

// schemaReader reads the schemas within root.
type schemaReader struct {
	root map[string]any
	left int // schemas that may still be read
}

// read reads one schema. Beyond the bounds, any value is allowed.
func (r *schemaReader) read(name string, schema map[string]any, depth int) argument {
	a := argument{name: name}
	if r.left--; depth == 0 || r.left < 0 {
		a.open = true
		return a
	}
	if ref, ok := schema["$ref"].(string); ok {
		if target := referred(r.root, ref); target != nil {
			merged := maps.Clone(target)
			for k, v := range schema {
				if k != "$ref" {
					merged[k] = v
				}
			}
			return r.read(name, merged, depth-1)
		}
	}
	a.description, _ = schema["description"].(string)
	if a.description == "" {
		a.description, _ = schema["title"].(string)
	}
	a.types = typesOf(schema)
	for _, key := range []string{"anyOf", "oneOf"} {
		alternatives, _ := schema[key].([]any)
		for _, alternative := range alternatives {
			if s, ok := alternative.(map[string]any); ok {
				read := r.read(name, s, depth-1)
				a.types = append(a.types, read.types...)
				a.enum = append(a.enum, read.enum...)
				if read.items != nil {
					a.items = read.items
				}
			}
		}
	}
	slices.Sort(a.types)
	a.types = slices.Compact(a.types)
	if values, ok := schema["enum"].([]any); ok {
		for _, v := range values {
			a.enum = append(a.enum, jsonOf(v))
		}
	}
	if v, ok := schema["const"]; ok {
		a.enum = append(a.enum, jsonOf(v))
	}
	if v, ok := schema["default"]; ok {
		a.def = jsonOf(v)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		read := r.read("", items, depth-1)
		a.items = &read
	}
	a.open = true
	properties, ok := schema["properties"].(map[string]any)
	if ok {
		a.open = false
		required, _ := schema["required"].([]any)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			s, _ := properties[key].(map[string]any)
			read := r.read(key, s, depth-1)
			read.required = slices.Contains(required, any(key))
			a.properties = append(a.properties, read)
		}
		sort.SliceStable(a.properties, func(i, j int) bool { return a.properties[i].required && !a.properties[j].required })
	}
	switch more := schema["additionalProperties"].(type) {
	case bool:
		a.open = more
	case map[string]any:
		a.open = true
	}
	return a
}

// referred returns the part of root that a reference within it means, nil if there is none.
func referred(root map[string]any, ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for part := range strings.SplitSeq(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at, ok = at[part].(map[string]any); !ok {
			return nil
		}
	}
	return at
}

func typesOf(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var types []string
		for _, one := range t {
			if s, ok := one.(string); ok {
				types = append(types, s)
			}
		}
		return types
	}
	return nil
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(text)
}

// takes reports whether the schema accepts values of a type.
func (a *argument) takes(kind string) bool {
	return len(a.types) == 0 || slices.Contains(a.types, kind)
}

// wants returns what the schema accepts, in words for people.
func (a *argument) wants() string {
	switch {
	case len(a.enum) > 0:
		return "one of " + strings.Join(a.enum[:min(len(a.enum), 20)], ", ")
	case len(a.types) == 0:
		return "any value"
	case len(a.types) == 1 && a.types[0] == "array" && a.items != nil:
		return "array of " + a.items.wants()
	}
	return strings.Join(a.types, " or ")
}

// about returns what is known about the argument, in words for people.
func (a *argument) about() string {
	about := a.wants()
	if a.required {
		about += ", required"
	}
	if a.def != "" {
		about += ", default " + cut(a.def, 60)
	}
	if a.description != "" {
		about += ": " + strings.Join(strings.Fields(a.description), " ")
	}
	return about
}

// find returns the property with a name.
func (a *argument) find(name string) (property argument, ok bool) {
	for _, p := range a.properties {
		if p.name == name {
			return p, true
		}
	}
	return argument{open: true}, false
}

func (a *argument) names() []string {
	var names []string
	for _, p := range a.properties {
		names = append(names, p.name)
	}
	return names
}
