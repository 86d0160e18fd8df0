package hub

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
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

// What servers offer besides tools, as far as it is a request; Offers has the rest.

const (
	methodReadResource = "resources/read"
	methodGetPrompt    = "prompts/get"
)

// ReadResource reads one resource, as a request like a tool call: it is listed, has clocks, can be cancelled, and may
// ask a person.
func (h *Hub) ReadResource(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginReading(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runReading(ctx, r, meta, &c)
}

func (h *Hub) beginReading(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	return h.accept(&outgoing{CallRequest: c, method: methodReadResource, subject: c.URI, ofWindow: ofWindow})
}

func (h *Hub) runReading(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	return h.carryThrough(ctx, r, meta, c,
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.URI
			return session.ReadResource(out.Tag.(*request).ctx, out)
		})
}

// GetMcpPrompt fills one prompt template, as a request like a tool call.
func (h *Hub) GetMcpPrompt(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginFilling(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runFilling(ctx, r, meta, &c)
}

func (h *Hub) beginFilling(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	c.Arguments = ""
	if len(c.PromptArguments) > 0 {
		given, err := json.Marshal(c.PromptArguments)
		if err != nil {
			return nil, nil, event.AsError(err) // cannot happen: strings marshal
		}
		c.Arguments = string(given)
	}
	return h.accept(&outgoing{CallRequest: c, method: methodGetPrompt, subject: c.McpPrompt, given: c.Arguments,
		ofWindow: ofWindow})
}

func (h *Hub) runFilling(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	return h.carryThrough(ctx, r, meta, c,
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.McpPrompt
			if out.Arguments = nil; c.Arguments != "" {
				out.Arguments = json.RawMessage(c.Arguments)
			}
			return session.GetPrompt(out.Tag.(*request).ctx, out)
		})
}

// Timeouts are the clocks of a call; nil = from the config, 0 = no limit.
type Timeouts struct{ Idle, Total, Human *time.Duration }

// CallRequest holds the parameters of CallTool, ReadResource and GetMcpPrompt. Server and one of Tool, URI and
// McpPrompt are required.
type CallRequest struct {
	ID            string // host-chosen, at most 128 bytes; "" = minted
	Server        string
	Meta          string // JSON text of an object, "" = none
	Further       string // further members of the request's params, by mcp.FurtherParams; "" = none
	Timeouts      Timeouts
	TaskLabel     string
	OwnerWindowID string
	Trace         journal.SpanContext

	Caller     Caller         // the MCP client for which the request is made; nil: none
	CallerName string         // what the client calls itself, for people; untrusted
	Questions  event.Audience // who is asked what the server asks; used with a Caller
	AppOf      string         // the id of the tool call whose view makes the request (MCP Apps); "" = none
	// LogLevel is the level from which on a modern server logs for this request, if no level is set; "" = none.
	LogLevel string

	Tool        string // the tool to call
	Arguments   string // its arguments: JSON text of an object, "" = none
	Preapproved bool   // the host has asked the user already
	PreferTask  bool   // run as a task if the tool leaves that to the client

	URI string // the resource to read

	McpPrompt       string // the prompt template to fill
	PromptArguments map[string]string
}

// CallResult is the answer of a server: Result or Error.
type CallResult struct {
	RequestID        string
	Result           json.RawMessage // JSON text as it came
	Error            *event.McpError
	IsError          bool
	Rounds           int // requests sent; 0 if an earlier result was still fresh
	Timings          event.Timings
	OutputViolations []string        // how the structured content breaks the output schema
	Task             *event.TaskInfo // nil if there is none
}

// CancelScope selects the requests to cancel: exactly one field is set.
type CancelScope struct {
	Server, TaskLabel string
	All               bool
}

// Defaults of the clocks. They are generous, since a person or a host can always cancel: the clocks are for requests
// that nobody watches.
const (
	DefaultConnectTimeout = 60 * time.Second // npx and uvx download on their first start
	DefaultIdleTimeout    = 5 * time.Minute
	DefaultTotalTimeout   = time.Hour
	DefaultHumanTimeout   = 30 * time.Minute
)

// timeout returns the cause with which a clock ends r. Its error names the setting to change.
func (r *request) timeout(idle bool, limit time.Duration) *event.CancelCause {
	what, setting, reason := "did not finish", "timeouts.total", event.ReasonTotalTimeout
	if idle {
		what, setting, reason = "gave no sign of life", "timeouts.idle", event.ReasonIdleTimeout
	}
	key, where := settingOf(&r.server.conf, setting)
	err := event.Fail(event.CodeDeadlineExceeded, reason, []string{"server", r.server.name, "request_id", r.id,
		"setting", setting,
		"limit", limit.String()},
		"%s of server %q %s within %s; raise %s of the server%s or of the call", r.what(), r.server.name, what, limit, key,
		where)
	return &event.CancelCause{Origin: event.OriginTimeout, Reason: setting + " of " + limit.String() + " exceeded",
		Err: err}
}
