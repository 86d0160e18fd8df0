package hub

import (
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/telemetry"
)

// Root is a workspace folder.
type Root struct{ URI, Name string }

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
	Trace         telemetry.Context

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
