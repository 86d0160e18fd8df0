package mcp

import (
	"encoding/json"
	"testing"
)

// TestTaskExtensionDeclared: the tasks extension is in each modern declaration, with the owner's extensions beside it,
// and in no legacy one.
func TestTaskExtensionDeclared(t *testing.T) {
	given := func(pairs ...string) Capabilities {
		c := Capabilities{Extensions: map[string]json.RawMessage{}}
		for i := 0; i+1 < len(pairs); i += 2 {
			c.Extensions[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return c
	}
	for _, c := range []struct {
		revision string
		given    Capabilities
		want     string
	}{
		{Revision20260728, Capabilities{}, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{Revision20260728, given("z/ui", "{\n\"a\":1.0}"),
			`{"extensions":{"io.modelcontextprotocol/tasks":{},"z/ui":{"a":1.0}}}`},
		{Revision20260728, given(extensionTasks, `{"s":1}`), `{"extensions":{"io.modelcontextprotocol/tasks":{"s":1}}}`},
		{Revision20260728, given(extensionTasks, `1`, "x/y", `null`), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{Revision20251125, given("z/ui", `{}`, extensionTasks, `{}`), `{"extensions":{"z/ui":{}}}`},
		{Revision20251125, given(extensionTasks, `{}`), `{}`},
		{Revision20251125, Capabilities{}, `{}`},
	} {
		if got := string(c.given.appendTo(nil, c.revision)); got != c.want {
			t.Errorf("%s: declares %s, want %s", c.revision, got, c.want)
		}
	}
}
