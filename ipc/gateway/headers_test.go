package gateway_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// TestArgumentsInHeaders: a call whose headers lack an argument, or differ from it, is refused; a client whose
// transport has no headers (nil) need not repeat arguments in them.
func TestArgumentsInHeaders(t *testing.T) {
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	for _, c := range []struct {
		said map[string]string
		ok   bool
	}{
		{nil, true}, {map[string]string{}, false}, {map[string]string{"region": "us"}, false},
		{map[string]string{"region": "eu", "other": "x"}, true},
	} {
		err := gateway.SameInHeaders(&mcpserver.Call{HeaderParams: c.said}, []byte(schema), []byte(`{"region":"eu"}`))
		if (err == nil) != c.ok {
			t.Errorf("headers %v: %v", c.said, err)
		}
	}
}
