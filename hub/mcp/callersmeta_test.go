package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

func TestCallersMeta(t *testing.T) {
	const level = "io.modelcontextprotocol/logLevel"
	type meta = map[string]json.RawMessage
	for _, c := range []struct {
		text, level string
		want        meta
		wrong       string
	}{
		{"", "", nil, ""},
		{"{}", "", meta{}, ""},
		{`{"a":1.0,"com.example/b":[ ]}`, "", meta{"a": json.RawMessage("1.0"), "com.example/b": json.RawMessage("[ ]")}, ""},
		{"", "info", meta{level: json.RawMessage(`"info"`)}, ""},
		{`{"a":1}`, "info", meta{"a": json.RawMessage("1"), level: json.RawMessage(`"info"`)}, ""},
		{"null", "", nil, "is no JSON object"},
		{"[]", "info", nil, "is no JSON object"},
		{"{", "", nil, "is no JSON object"},
		{`{"progressToken":1}`, "", nil, `has the key "progressToken", which the hub sets itself`},
		{`{"` + level + `":"debug"}`, "info", nil, `has the key "` + level + `", which the hub sets itself`},
		{`{"dev.mcp/x":1}`, "", nil, `has the key "dev.mcp/x", which the hub sets itself`},
		{`{"mcp/x":1,"mcp.dev/x":1}`, "", meta{"mcp/x": json.RawMessage("1"), "mcp.dev/x": json.RawMessage("1")}, ""},
	} {
		got, err := mcp.CallersMeta(c.text, c.level)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" || text != c.wrong {
			t.Errorf("%q with %q: %q (-want +got):\n%s", c.text, c.level, text, diff)
		}
	}
}
