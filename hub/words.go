package hub

import (
	"encoding/json"
	"time"
)

// Direction tells who asks whom.
type Direction int

// Directions.
const (
	Outgoing Direction = iota + 1 // the hub asked the server
	Incoming                      // the server asked the hub
)

// RequestState is where a request stands. StateDone, StateFailed and StateCancelled are terminal.
type RequestState int

// Request states, in the order of a request's life.
const (
	StateQueued RequestState = iota + 1
	StateAwaitingApproval
	StateConnecting
	StateRunning
	StateAwaitingInput
	StateTaskWorking // the server works on it apart from the message that asked for it
	StateCancelling
	StateDone
	StateFailed
	StateCancelled
)

var requestStateNames = [...]string{"", "queued", "awaiting_approval", "connecting", "running", "awaiting_input",
	"task_working", "cancelling", "done", "failed", "cancelled"}

func (s RequestState) String() string { return requestStateNames[s] }

// Terminal tells whether nothing comes after s.
func (s RequestState) Terminal() bool { return s >= StateDone }

// Origin is who ended a request or a prompt.
type Origin int

// Origins.
const (
	OriginUser Origin = iota + 1
	OriginHost
	OriginServer
	OriginTimeout
	OriginParent
	OriginTransport
	OriginPolicy
	OriginShutdown
)

var originNames = [...]string{"", "user", "host", "server", "timeout", "parent", "transport", "policy", "shutdown"}

func (o Origin) String() string { return originNames[o] }

// Outcome is what became of a cancel.
type Outcome int

// Outcomes.
const (
	OutcomeCancelling      Outcome = iota + 1 // it was open and is being cancelled
	OutcomeAlreadyFinished                    // it had ended
	OutcomeUnknown                            // no such request; remembered for 30 s
)

// CancelDelivery is what is known of the way of a cancel to the server; 0 = nothing was cancelled.
type CancelDelivery int

// Deliveries. None of them says that the server has stopped.
const (
	DeliveryNotNeeded CancelDelivery = iota + 1 // nothing had been sent, or nothing was open at the server
	DeliveryPending                             // it is on its way
	DeliveryDelivered                           // it is with the server
	DeliveryFailed                              // it did not get there, as far as can be known
)

var deliveryNames = [...]string{"", "not needed", "pending", "delivered", "failed"}

func (d CancelDelivery) String() string { return deliveryNames[d] }

// Era of a connection; 0 = not connected.
type Era int

// Eras.
const (
	EraLegacy Era = iota + 1 // revisions 2024-11-05 to 2025-11-25
	EraModern                // revision 2026-07-28
)

// Cancellation tells who cancelled and why. Reason is the raw text, at most 256 code points of it: whoever shows it
// escapes it. From a server it is untrusted.
type Cancellation struct {
	Origin Origin
	Reason string
	Time   time.Time
}

// Timings of an ended request.
type Timings struct{ Queued, Active, Human time.Duration }

// Progress as the server reports it.
type Progress struct {
	Progress float64
	Total    *float64
	Message  string
}

// McpError is a JSON-RPC error of a server.
type McpError struct {
	Code    int64
	Message string
	Data    string // JSON text, "" when absent
}

// RequestInfo shows one request.
type RequestInfo struct {
	ID, Server      string
	Direction       Direction
	Method, Tool    string
	Subject         string // URI of a resource or name of a prompt template
	State           RequestState
	ParentRequestID string
	TaskLabel       string
	Start           time.Time
	WireID          string // JSON text
	Progress        *Progress
	OpenPromptIDs   []string
	Cancellation    *Cancellation
	Task            *TaskInfo
}

// TaskInfo shows the task by which a server carries out a request. All of it is untrusted.
type TaskInfo struct{ ID, Status, Message string }

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
	Error            *McpError
	IsError          bool
	Rounds           int // requests sent; 0 for what was still fresh from an earlier one
	Timings          Timings
	OutputViolations []string  // how the structured content breaks the output schema
	Task             *TaskInfo // nil: none
}

// CancelScope says which requests to stop: exactly one field is set.
type CancelScope struct {
	Server, TaskLabel string
	All               bool
}

// Hello introduces a window.
type Hello struct {
	WindowID      string // "" = minted
	Title         string
	Kinds         []PromptKind
	SamplingTools bool
	Extensions    map[string]json.RawMessage // extensions of MCP that it can show, by name
	Roots         []Root
	Resume        *Resume
	MaxHistory    int // ended requests that the snapshot brings
}

// Resume says what a window has seen.
type Resume struct {
	HubID string
	After uint64
}

// Start is what a window is given first: the events that it missed, or a snapshot and events with what was too long for
// it.
type Start struct {
	Resumed  bool
	Events   []Event
	Snapshot *Snapshot // nil when resumed
}

// Sink takes the events of one window, in order, called while the hub's lock is held: it must not block and must not
// call the hub.
type Sink interface {
	Deliver(Event)
	Closed(err *Error) // the hub ended the window (shutdown); nothing is delivered afterwards
}
