package event

import "time"

// Event is one thing that windows are told. Seq rises by at least one with each event of the hub.
type Event struct {
	Seq  uint64
	Time time.Time
	Body Body
}

// EventBody is one of the event types of this file.
type Body interface{ eventBody() }

// ServerChanged shows a server as it is now.
type ServerChanged struct {
	Server  ServerInfo
	Removed bool
}

// ToolsChanged says that a server's tools changed.
type ToolsChanged struct{ Server string }

// ResourcesChanged says that a server's resources changed.
type ResourcesChanged struct{ Server string }

// McpPromptsChanged says that a server's prompt templates changed.
type McpPromptsChanged struct{ Server string }

// ResourceUpdated says that a resource that was subscribed to changed.
type ResourceUpdated struct{ Server, URI string }

// RequestStarted shows a new request.
type RequestStarted struct{ Request RequestInfo }

// RequestProgressed shows state and progress of a request. It may be coalesced: the newest of one request wins.
type RequestProgressed struct {
	RequestID, Server string
	State             RequestState
	Progress          *Progress
	WireID            string
	Task              *TaskInfo
}

// RequestCancelling says that a cancel was accepted.
type RequestCancelling struct {
	RequestID, Server string
	Cancellation      Cancellation
}

// RequestCancelled is the end of a request by a cancel. Terminal.
type RequestCancelled struct {
	RequestID, Server string
	Direction         Direction
	Method, Tool      string
	Subject           string
	Caller, Preview   string // as in RequestInfo
	Title             string // as in RequestInfo
	Cancellation      Cancellation
	WireID            string
	Sending           Sending // of the cancel to the server
	ServerMayContinue bool    // as far as can be known: see cancelKnown
	Timings           Timings
	Era               Era
	Err               *Error // set when a clock ran out: the same that the caller got
	Task              *TaskInfo
}

// Sending is what is known of a cancel on its way to the server.
type Sending struct {
	Delivery CancelDelivery
	Err      string // why it failed, for people; it may quote the server
}

// ServerNotified tells whether the cancel is with the server.
func (c *RequestCancelled) ServerNotified() bool { return c.Sending.Delivery == DeliveryDelivered }

// RequestCancelDelivery is the outcome of a cancel that was pending when its request ended. Not terminal; at most one
// for each request.
type RequestCancelDelivery struct {
	RequestID, Server string
	Sending           Sending
}

// RequestFinished is any other end of a request. Terminal.
type RequestFinished struct {
	RequestID, Server string
	Direction         Direction
	State             RequestState // StateDone or StateFailed
	IsError           bool
	ServerMayContinue bool // it has failed, and the protocol cannot promise that the server has stopped
	Method, Tool      string
	Subject           string
	Caller, Preview   string // as in RequestInfo
	Title             string // as in RequestInfo
	McpError          *McpError
	Err               *Error
	Timings           Timings
	Task              *TaskInfo
	// JSON text, for a tool call of a window; "" when it is too long, or no longer kept. Untrusted
	Result     string
	ResultSize int // bytes, for what a server was asked
}

// PromptOpened shows a new prompt. Only windows that declared its kind get it.
type PromptOpened struct{ Prompt PromptInfo }

// PromptClosed is the one end of a prompt.
type PromptClosed struct {
	PromptID string
	Cause    PromptCause
	Reason   string
	WindowID string // the window that answered, if one did
	Origin   Origin
}

// ConfigReloaded says what is wrong with the config as a whole now. Servers that changed are told one by one.
type ConfigReloaded struct {
	Problems    []ConfigProblem
	Stopped     []string // servers whose launch changed or whose entry is gone
	ChangedFile string   // "" = the host asked for it
}

// LogMessage is a log notification or a stderr line of a server. It may be dropped by a slow window.
type LogMessage struct {
	Server, Level, Logger string
	Data                  string // JSON text
	// Dropped is how many messages of the server this one says were dropped; a window that does not get it counts them as
	// dropped.
	Dropped int64
	// Own: it is a note of the hub about the server, or a line of its stderr, and no log message of the protocol.
	Own bool
}

func (*ServerChanged) eventBody()         {}
func (*ToolsChanged) eventBody()          {}
func (*ResourcesChanged) eventBody()      {}
func (*McpPromptsChanged) eventBody()     {}
func (*ResourceUpdated) eventBody()       {}
func (*RequestStarted) eventBody()        {}
func (*RequestProgressed) eventBody()     {}
func (*RequestCancelling) eventBody()     {}
func (*RequestCancelled) eventBody()      {}
func (*RequestCancelDelivery) eventBody() {}
func (*RequestFinished) eventBody()       {}
func (*PromptOpened) eventBody()          {}
func (*PromptClosed) eventBody()          {}
func (*LogMessage) eventBody()            {}
func (*ConfigReloaded) eventBody()        {}

// Snapshot is everything that a window shows. Seq is the number to go on from.
type Snapshot struct {
	Seq      uint64
	Time     time.Time
	Servers  []ServerInfo
	Requests []RequestInfo // oldest first
	Prompts  []PromptInfo  // of the kinds that the window declared, oldest first
	Problems []ConfigProblem
	History  []Ended // as many as the window wants, oldest first
	// Subscriptions of the window, by server in config order.
	Subscriptions []Subscription
}

// Subscription is a resource whose changes a window is told of.
type Subscription struct{ Server, URI string }

// Ended is a request that is over: Body is its *RequestCancelled or *RequestFinished.
type Ended struct {
	Time       time.Time
	Body       Body
	EarlierHub bool // it was a request of the hub before this one, which ended it when it ended itself
}
