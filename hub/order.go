package hub

import (
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Root is a workspace folder.
type Root struct{ URI, Name string }

// Timeouts are the clocks of a call; nil = from the config, 0 = no limit.
type Timeouts struct{ Idle, Total, Human *time.Duration }

// CallRequest is one tool call.
type CallRequest struct {
	ID            string // host-chosen, at most 128 bytes; "" = minted
	Server, Tool  string
	Arguments     string // JSON text of an object, "" = none
	Meta          string // JSON text of an object, "" = none
	Timeouts      Timeouts
	Preapproved   bool
	TaskLabel     string
	OwnerWindowID string
	PreferTask    bool // run as a task where the tool leaves that to the client
	Trace         TraceContext
}

// TraceContext is the W3C trace context of a caller; it is passed on to the server in _meta. Empty: none.
type TraceContext struct{ Parent, State, Baggage string }

// ResourceRequest reads one resource; its fields are as those of CallRequest.
type ResourceRequest struct {
	ID, Server, URI string
	Meta            string
	Timeouts        Timeouts
	TaskLabel       string
	OwnerWindowID   string
	Trace           TraceContext
}

// McpPromptRequest fills one prompt template; its fields are as those of CallRequest.
type McpPromptRequest struct {
	ID, Server, Name string
	Arguments        map[string]string
	Meta             string
	Timeouts         Timeouts
	TaskLabel        string
	OwnerWindowID    string
	Trace            TraceContext
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

// ConfigSource is one config file or its text. Scope is "user", "workspace" or "host". The servers of a workspace file
// start only after the user has agreed to each, unless the host answers for it (Trusted). Dialect may be empty; Folder
// is the workspace folder that the file belongs to.
type ConfigSource struct {
	Path, JSON, Scope string
	Trusted           bool
	Dialect, Folder   string
}
