package event

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Direction tells who asks whom.
type Direction uint8

// Directions.
const (
	Outgoing Direction = iota + 1 // the hub asked the server
	Incoming                      // the server asked the hub
)

// String is the word for logs.
func (d Direction) String() string {
	if d == Incoming {
		return "server_to_client"
	}
	return "client_to_server"
}

// RequestState is where a request stands. StateDone, StateFailed and StateCancelled are terminal.
type RequestState uint8

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

var eraNames = [...]string{"", "legacy", "modern"}

// String is the era's word in the config.
func (e Era) String() string { return eraNames[e] }

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

// Shown is e as the windows are told of it.
func (e *McpError) Shown() *McpError {
	if e == nil || len(e.Message) <= bounds.ErrorTextBytes && len(e.Data) <= bounds.ErrorDataBytes {
		return e
	}
	cut := *e
	cut.Message = bounds.Cut(e.Message, bounds.ErrorTextBytes)
	if len(e.Data) > bounds.ErrorDataBytes {
		cut.Data = "" // a part of it would be no JSON
	}
	return &cut
}

// RequestInfo shows one request.
type RequestInfo struct {
	ID, Server      string
	Direction       Direction
	State           RequestState
	Method, Tool    string
	Title           string // of the tool, as far as it is known; untrusted
	Subject         string // URI of a resource or name of a prompt template
	ParentRequestID string
	TaskLabel       string
	Caller          string // name of the MCP client that it is made for; untrusted
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
