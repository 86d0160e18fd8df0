package mcp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeaderParams: a server computes which headers a call must have.
func TestHeaderParams(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},` +
		`"n":{"type":"integer","x-mcp-header":"Count"},"free":{"type":"string"}}}`)
	got, err := HeaderParams(schema, json.RawMessage(`{"region":"Zürich","n":1E2,"free":"x"}`))
	if diff := cmp.Diff(map[string]string{"region": "Zürich", "count": "100"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := HeaderParams(schema, json.RawMessage(`{}`)); len(got) != 0 || err != nil {
		t.Errorf("without arguments: %v, %v", got, err)
	}
	broken := json.RawMessage(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`)
	if _, err := HeaderParams(broken, json.RawMessage(`{"a":{}}`)); err == nil {
		t.Error("an annotation that breaks the rules is taken")
	}
}
