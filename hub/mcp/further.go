package mcp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// knownParams are the members of params that each method has. The hub writes them itself.
var knownParams = map[string][]string{
	protocol.MethodCallTool:     {"name", "arguments"},
	protocol.MethodGetPrompt:    {"name", "arguments"},
	protocol.MethodReadResource: {"uri"},
	protocol.MethodComplete:     {"ref", "argument", "context"},
}

// engineParams are those that each method may have: metadata, tasks of 2025-11-25 and rounds of 2026-07-28.
var engineParams = []string{"_meta", "task", "inputResponses", "requestState"}

// FurtherParams returns the members of the params of a request that MCP does not define for its method, as an object,
// or nil if there are none. They are passed on as they are. A member is none of them if its name differs from a defined
// one in case alone: servers that decode with Go's encoding/json would take it for that one, and call another tool, or
// with other arguments, than was agreed to.
func FurtherParams(method string, params json.RawMessage) json.RawMessage {
	var o *object
	known := knownParams[method]
	jsontext.Members(params, func(name []byte, value json.RawMessage) bool {
		is := func(defined string) bool { return strings.EqualFold(defined, string(name)) }
		if slices.ContainsFunc(known, is) || slices.ContainsFunc(engineParams, is) {
			return true
		}
		if o == nil {
			o = newObject(64)
		}
		o.raw(string(name), oneLine(value))
		return true
	})
	if o == nil {
		return nil
	}
	return o.end()
}

// further adds what FurtherParams has returned.
func (o *object) further(members json.RawMessage) {
	jsontext.Members(members, func(name []byte, value json.RawMessage) bool {
		o.raw(string(name), value)
		return true
	})
}
