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

// CallRequest is what CallTool, ReadResource and GetMcpPrompt ask a server for. Server and one of Tool, URI and
// McpPrompt are needed.
type CallRequest struct {
	ID            string // host-chosen, at most 128 bytes; "" = minted
	Server        string
	Meta          string // JSON text of an object, "" = none
	Timeouts      Timeouts
	TaskLabel     string
	OwnerWindowID string
	Trace         telemetry.Context

	Caller     Caller    // the MCP client that it is made for; nil: none
	CallerName string    // for people: what the client calls itself, untrusted
	Questions  Questions // who is asked what the server asks; with a Caller
	AppOf      string    // the request whose view makes it (MCP Apps); "" = none
	LogLevel   string    // from which on a modern server logs for this request, where no level is set; "" = none

	Tool        string // to call
	Arguments   string // its arguments: JSON text of an object, "" = none
	Preapproved bool   // the host has asked the user itself
	PreferTask  bool   // run as a task where the tool leaves that to the client

	URI string // of the resource to read

	McpPrompt       string // the template to fill
	PromptArguments map[string]string
}

// CallResult is what a server answered: Result, or Error.
type CallResult struct {
	RequestID        string
	Result           json.RawMessage // JSON text as it came
	Error            *event.McpError
	IsError          bool
	Rounds           int // requests sent; 0 for what was still fresh from an earlier one
	Timings          event.Timings
	OutputViolations []string        // how the structured content breaks the output schema
	Task             *event.TaskInfo // nil: none
}

// CancelScope says which requests to stop: exactly one field is set.
type CancelScope struct {
	Server, TaskLabel string
	All               bool
}
