package event

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Direction says who asks whom.
type Direction uint8

// Directions.
const (
	Outgoing Direction = iota + 1 // the hub asked the server
	Incoming                      // the server asked the hub
)

// String returns the word for logs.
func (d Direction) String() string {
	if d == Incoming {
		return "server_to_client"
	}
	return "client_to_server"
}

// RequestState is the state of a request. StateDone, StateFailed and StateCancelled are terminal.
type RequestState uint8

// Request states.
const (
	StateQueued RequestState = iota + 1
	StateAwaitingApproval
	StateConnecting
	StateRunning
	StateAwaitingInput
	StateCancelling
	StateDone
	StateFailed
	StateCancelled
	StateTaskWorking // a task of the server carries out the request
)

var requestStateNames = [...]string{"", "queued", "awaiting_approval", "connecting", "running", "awaiting_input",
	"cancelling", "done", "failed", "cancelled", "task_working"}

func (s RequestState) String() string { return requestStateNames[s] }

// Terminal reports whether no other state can follow s.
func (s RequestState) Terminal() bool { return s >= StateDone && s <= StateCancelled }

// Origin says who ended a request or a prompt.
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

// Outcome is the outcome of an order to cancel.
type Outcome int

// Outcomes.
const (
	OutcomeCancelling      Outcome = iota + 1 // the request was open and is being cancelled
	OutcomeAlreadyFinished                    // the request had ended
	OutcomeUnknown                            // there is no such request; the cancel is remembered for 30 s
)

func (o Outcome) String() string {
	return [...]string{"", "cancelling", "already_finished", "unknown"}[o]
}

// CancelDelivery says what is known about the delivery of a cancel to the server; 0 = nothing was cancelled.
type CancelDelivery int

// Deliveries. None of them says that the server has stopped.
const (
	DeliveryNotNeeded CancelDelivery = iota + 1 // nothing had been sent, or the server had nothing open
	DeliveryPending                             // the cancel is being sent
	DeliveryDelivered                           // the cancel has reached the server
	DeliveryFailed                              // the cancel did not reach the server, as far as can be known
)

var deliveryNames = [...]string{"", "not needed", "pending", "delivered", "failed"}

func (d CancelDelivery) String() string { return deliveryNames[d] }

// Era is the era of a connection; 0 = not connected.
type Era int

// Eras.
const (
	EraLegacy Era = iota + 1 // revisions 2024-11-05 to 2025-11-25
	EraModern                // revision 2026-07-28
)

var eraNames = [...]string{"", "legacy", "modern"}

// String returns the word for the era that configs use.
func (e Era) String() string { return eraNames[e] }

// Cancellation says who cancelled and why. Reason is the raw text, at most 256 code points of it; it must be escaped
// where it is shown. If it comes from a server, it is untrusted.
type Cancellation struct {
	Origin Origin
	Reason string
	Time   time.Time
}

// Timings are the times that an ended request has spent in its states.
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

// Shown returns e in the form that windows are sent.
func (e *McpError) Shown() *McpError {
	if e == nil || len(e.Message) <= bounds.ErrorTextBytes && len(e.Data) <= bounds.ErrorDataBytes {
		return e
	}
	cut := *e
	cut.Message = bounds.Cut(e.Message, bounds.ErrorTextBytes)
	if len(e.Data) > bounds.ErrorDataBytes {
		cut.Data = "" // a part of it would not be JSON
	}
	return &cut
}

// RequestInfo shows one request.
type RequestInfo struct {
	ID, Server      string
	Direction       Direction
	State           RequestState
	Method, Tool    string
	Title           string // the title of the tool, if it is known; untrusted
	Subject         string // URI of a resource or name of a prompt template
	ParentRequestID string
	TaskLabel       string
	Caller          string // name of the MCP client that the request is made for; untrusted
	Preview         string // one line of the arguments, without secrets; untrusted
	Start           time.Time
	WireID          string // JSON text
	Progress        *Progress
	OpenPromptIDs   []string
	Cancellation    *Cancellation
	Task            *TaskInfo
}

// TaskInfo shows the task by which a server carries out a request. All of it is untrusted.
type TaskInfo struct{ ID, Status, Message string }

// CancelCause is the cause of every context that the hub cancels. It says who cancelled, why, and what error the caller
// gets.
type CancelCause struct {
	Origin Origin
	Reason string // bounded, otherwise as it was given
	Err    *Error // the error that the caller gets; nil = CANCELLED
}

func (c *CancelCause) Error() string {
	if c.Reason == "" {
		return "cancelled by " + c.Origin.String()
	}
	return "cancelled by " + c.Origin.String() + ": " + bounds.Printable(c.Reason)
}

// CancelReason returns the reason that is sent to the server (jsonrpc.Reasoner). If it is "", the reason is left out.
func (c *CancelCause) CancelReason() string { return c.Reason }

// TraceInfo is the timeline of one request. It holds no arguments, no results and no secrets.
type TraceInfo struct {
	Request RequestInfo // the request as it is, or as it was at its end; without progress, subject and the task's message
	Entries []TraceEntry
	Omitted int    // how many entries were left out, from the middle
	TraceID string // the W3C trace id, "" = none
}

// TraceEntry is one entry of a timeline: exactly one field besides Time is set.
type TraceEntry struct {
	Time         time.Time
	State        RequestState
	Message      *TraceMessage
	Cancellation *Cancellation
	Prompt       *TracePrompt
	Err          *Error
	Sending      *Sending // of a cancel; if it is pending, another entry may follow
}

// TraceMessage is one JSON-RPC message on the wire.
type TraceMessage struct {
	Direction Direction // Outgoing: the hub sent it
	Type      string    // "request", "response", "error" or "notification"
	Method    string    // the method of the request or notification, or of the request that is answered
	WireID    string    // JSON text
	Bytes     int
	ErrorCode int64
	Dropped   bool // it is a late response, or the answer to a withdrawn request, which was not written
}

// TracePrompt is a prompt that opened, or, with a cause, closed.
type TracePrompt struct {
	PromptID string
	Kind     PromptKind
	Cause    PromptCause
}

// TraceFilter selects timelines. Zero values do not filter.
type TraceFilter struct {
	RequestID, Server string
	Max               int // most timelines to return, the latest ones
}
