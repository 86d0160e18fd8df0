package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
)

// FormAnswer returns the answer of a user who presses OK at once: the form shows the defaults of the schema (2025-11-25
// client/elicitation, "Clients that support defaults SHOULD pre-populate", SEP-1034), and a required boolean is
// answered with true. It fails if a person would have to type something.
func FormAnswer(schema json.RawMessage) (json.RawMessage, error) {
	var form struct {
		Properties map[string]struct {
			Type    string
			Default json.RawMessage
		}
		Required []string
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, fmt.Errorf("the form's schema: %w", err)
	}
	answer := map[string]json.RawMessage{}
	for name, field := range form.Properties {
		switch {
		case field.Default != nil:
			answer[name] = field.Default
		case !slices.Contains(form.Required, name):
		case field.Type == "boolean":
			answer[name] = json.RawMessage("true")
		default:
			return nil, fmt.Errorf("the form requires %q of type %q and has no default for it", name, field.Type)
		}
	}
	return json.Marshal(answer)
}
