package hub

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

const methodCallTool = "tools/call"

// CallTool runs one tool to its end: policy, approval, connection, the call itself with its rounds. It runs in the
// caller's goroutine. The end of ctx cancels the request with origin host. Errors are *event.Error; what the server
// answered, errors included, is in the result.
func (h *Hub) CallTool(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginTool(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runTool(ctx, r, meta, &c)
}

// beginTool checks the arguments of a tool call and makes the call a request. runTool then carries it through.
func (h *Hub) beginTool(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	if c.Arguments != "" && !isObject(c.Arguments) {
		return nil, nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidArguments,
			[]string{"server", c.Server, "request_id", c.ID, "field", "arguments_json"},
			"the arguments of tool %q are no JSON object", c.Tool)
	}
	return h.accept(&outgoing{CallRequest: c, method: methodCallTool, tool: c.Tool, given: c.Arguments,
		ofWindow: ofWindow})
}

// runTool carries a tool call through. It and the functions that it calls pass pointers, to keep the stack small: the
// goroutine exists for as long as the tool works, and there may be ten thousand such goroutines.
func (h *Hub) runTool(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	var called *mcp.Tool
	var by *mcp.Session
	result, err := h.carryThrough(ctx, r, meta, c,
		func(session *mcp.Session, tool *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			called, by = tool, session
			out.Name = c.Tool
			if c.Arguments != "" { // nil leaves them out
				out.Arguments = json.RawMessage(c.Arguments)
			}
			out.TaskSupport, out.PreferTask = tool.TaskSupport, c.PreferTask
			return session.CallTool(out.Tag.(*request).ctx, out)
		})
	if err == nil && result.Error == nil && called.OutputSchema != nil {
		result.OutputViolations = by.CheckOutput(called.OutputSchema, result.Result)
	}
	return result, err
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}
