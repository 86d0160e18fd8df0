package toolargs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// FindTool returns the tool with a name.
func FindTool(tools []*mcphubv1.Tool, server, name string) (*mcphubv1.Tool, error) {
	var names []string
	for _, t := range tools {
		if t.GetName() == name {
			return t, nil
		}
		names = append(names, t.GetName())
	}
	return nil, &exit.Failure{Code: "NOT_FOUND", Reason: "TOOL_NOT_FOUND",
		Message: fmt.Sprintf("server %q has no tool %q%s", server, name, event.Hint(name, names))}
}

// WithPairs sets arguments of the form NAME=VALUE in a JSON object; text "" means an empty object. No message quotes a
// value, since it may be secret.
func WithPairs(text string, pairs []string, schema *Argument) (string, error) {
	object := map[string]any{}
	if text != "" {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber() // keeps the spelling of numbers
		if err := decoder.Decode(&object); err != nil || object == nil {
			return "", errors.New(`--args: it is a JSON object, {"name":"Ada"} say`)
		}
	}
	if err := CheckPairs(pairs); err != nil {
		return "", err
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		if err := setArgument(object, schema, key, key, value); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// CheckPairs returns an error if an argument has not the form NAME=VALUE. It needs no schema.
func CheckPairs(pairs []string) error {
	for _, pair := range pairs {
		if key, _, ok := strings.Cut(pair, "="); !ok || key == "" {
			return errors.New("-a: it is NAME=VALUE, and one of them has no = or no name")
		}
	}
	return nil
}

// setArgument sets one value in object. If the schema does not know a name with dots, the parts of the name are names
// of nested objects.
func setArgument(object map[string]any, schema *Argument, whole, key, raw string) error {
	property, known := schema.find(key)
	head, rest, nested := strings.Cut(key, ".")
	if parent, ok := schema.find(head); !known && nested && head != "" && rest != "" && (ok || schema.open) {
		inner, isObject := object[head].(map[string]any)
		if !isObject {
			if _, other := object[head]; other || !parent.takes("object") {
				return fmt.Errorf("-a %s: %s is to be %s, and has nothing in it", whole, head, parent.Wants())
			}
			inner = map[string]any{}
			object[head] = inner
		}
		return setArgument(inner, &parent, whole, rest, raw)
	}
	if !known && !schema.open {
		names := strings.Join(schema.names(), ", ")
		if names == "" {
			return fmt.Errorf("-a %s: the tool takes no argument there", whole)
		}
		return fmt.Errorf("-a %s: the tool has no such argument; it has %s%s", whole, names,
			event.Hint(key, schema.names()))
	}
	before, again := object[key]
	value, ok := property.Read(raw)
	if list, isList := before.([]any); again && isList && property.items != nil {
		// The argument was given again: add an element.
		if element, fits := property.items.Read(raw); fits {
			object[key] = append(list, element)
			return nil
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("-a %s: the schema wants %s", whole, property.Wants())
	case again:
		return fmt.Errorf("-a %s: is given twice, and the schema wants %s", whole, property.Wants())
	}
	object[key] = value
	return nil
}

// Read reads a value according to the schema. ok is false if it fits none of the schema's types. It is read as a string
// only if it fits no other type: with a schema for a number or a string, 7 is the number.
func (a *Argument) Read(raw string) (value any, ok bool) {
	defer func() { ok = ok && a.among(value) }()
	var parsed any
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&parsed) == nil && !decoder.More() {
		fits := false
		switch v := parsed.(type) {
		case nil:
			fits = len(a.types) > 0 && a.takes("null")
		case bool:
			fits = a.takes("boolean")
		case json.Number: // without blanks around it
			fits = string(v) == raw && (a.takes("number") || a.takes("integer") && !strings.ContainsAny(raw, ".eE"))
		case []any:
			fits = a.takes("array")
		case map[string]any:
			fits = a.takes("object")
		}
		if fits {
			return parsed, true
		}
	}
	if a.takes("string") {
		return raw, true
	}
	if len(a.types) > 0 && a.takes("array") && a.items != nil {
		if element, fits := a.items.Read(raw); fits {
			return []any{element}, true
		}
	}
	return nil, false
}

// among reports whether the schema allows a value by its list of values, if it has one.
func (a *Argument) among(value any) bool {
	if len(a.enum) == 0 {
		return true
	}
	text, err := json.Marshal(value)
	for _, e := range a.enum {
		if err == nil && e == string(text) {
			return true
		}
	}
	return false
}
