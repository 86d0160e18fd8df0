// Package toolargs reads the schema of a tool for people, and arguments that people type by that schema.
//
// What must not live here: how arguments are asked for, and the check that the hub makes (hub/schema).
package toolargs

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/console"
)

// Bounds of what is read of a schema: a stranger may write circular references, along many paths at once.
const (
	maxDepth   = 16    // of nesting and references together
	maxSchemas = 5_000 // how many schemas are read in all
)

// Argument is one argument of a tool, according to its input schema. Everything in it comes from the server.
type Argument struct {
	Name        string
	types       []string // JSON types; none: any
	items       *Argument
	enum        []string // JSON texts
	Def         string   // JSON text, "" if there is none
	Description string
	Required    bool
	Properties  []Argument
	open        bool // further properties are allowed
}

// Read reads the input schema in a tool's definition. If it is not a schema, nothing is known about the
// arguments.
func Read(definition string) Argument {
	return ReadSchema(string(jsontext.Get([]byte(definition), "inputSchema")))
}

// ReadSchema reads a schema whose root is an object.
func ReadSchema(schema string) Argument {
	var root map[string]any // keys must match exactly, and of two equal keys the last one counts, as in jsontext
	if json.Unmarshal([]byte(schema), &root) != nil {
		return Argument{open: true}
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
func (r *schemaReader) read(name string, schema map[string]any, depth int) Argument {
	a := Argument{Name: name}
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
	a.Description, _ = schema["description"].(string)
	if a.Description == "" {
		a.Description, _ = schema["title"].(string)
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
			a.enum = append(a.enum, console.JSONOf(v))
		}
	}
	if v, ok := schema["const"]; ok {
		a.enum = append(a.enum, console.JSONOf(v))
	}
	if v, ok := schema["default"]; ok {
		a.Def = console.JSONOf(v)
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
			read.Required = slices.Contains(required, any(key))
			a.Properties = append(a.Properties, read)
		}
		sort.SliceStable(a.Properties, func(i, j int) bool { return a.Properties[i].Required && !a.Properties[j].Required })
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

// takes reports whether the schema accepts values of a type.
func (a *Argument) takes(kind string) bool {
	return len(a.types) == 0 || slices.Contains(a.types, kind)
}

// Wants returns what the schema accepts, in words for people.
func (a *Argument) Wants() string {
	switch {
	case len(a.enum) > 0:
		return "one of " + strings.Join(a.enum[:min(len(a.enum), 20)], ", ")
	case len(a.types) == 0:
		return "any value"
	case len(a.types) == 1 && a.types[0] == "array" && a.items != nil:
		return "array of " + a.items.Wants()
	}
	return strings.Join(a.types, " or ")
}

// About returns what is known about the argument, in words for people.
func (a *Argument) About() string {
	about := a.Wants()
	if a.Required {
		about += ", required"
	}
	if a.Def != "" {
		about += ", default " + console.Cut(a.Def, 60)
	}
	if a.Description != "" {
		about += ": " + strings.Join(strings.Fields(a.Description), " ")
	}
	return about
}

// find returns the property with a name.
func (a *Argument) find(name string) (property Argument, ok bool) {
	for _, p := range a.Properties {
		if p.Name == name {
			return p, true
		}
	}
	return Argument{open: true}, false
}

func (a *Argument) names() []string {
	var names []string
	for _, p := range a.Properties {
		names = append(names, p.Name)
	}
	return names
}

// Example returns a value that the schema accepts.
func (a *Argument) Example() string {
	value := ""
	switch {
	case a.Def != "":
		value = a.Def
	case len(a.enum) > 0:
		value = a.enum[0]
	case len(a.types) == 0:
		return "TEXT"
	default:
		switch a.types[0] {
		case "boolean":
			return "true"
		case "integer", "number":
			return "1"
		case "array":
			if a.items != nil && !a.items.takes("object") {
				return a.items.Example()
			}
			return "[]"
		case "object":
			return "{}"
		case "null":
			return "null"
		}
		return "TEXT"
	}
	if text := console.JSONText(value); a.takes("string") {
		return text
	}
	return value
}

// Choices returns the values that the schema lists, in the form in which they are typed: a string without its quotes.
func (a *Argument) Choices() []string {
	choices := make([]string, len(a.enum))
	for i, e := range a.enum {
		if choices[i] = e; jsontext.IsString([]byte(e)) {
			choices[i] = jsontext.String([]byte(e))
		}
	}
	return choices
}

// Choice returns the value with the typed number, or typed itself if it is a value.
func (a *Argument) Choice(typed string) string {
	choices := a.Choices()
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(choices) && !slices.Contains(choices, typed) {
		return choices[n-1]
	}
	return typed
}
