package event

import (
	"time"
)

// Event is one event that is sent to windows. Seq rises by at least one with each event of the hub.
type Event struct {
	Seq  uint64
	Time time.Time
	Body Body
}

// Body is one of the event types of this file.
type Body interface{ eventBody() }

// ServerChanged holds the present state of a server.
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

// RequestStarted announces a new request.
type RequestStarted struct{ Request RequestInfo }

// RequestProgressed holds the state and the progress of a request. Events of one request may be coalesced: the newest
// counts.
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

// RequestCancelled is the end of a request by a cancel. It is terminal.
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
	ServerMayContinue bool    // as far as can be known: see outcome.Call.Cancelled
	Timings           Timings
	Era               Era
	Err               *Error // set if a clock ran out: the error that the caller got
	Task              *TaskInfo
	Late              *LateAnswer // nil if no answer has come so far
}

// Sending is what is known about the sending of a cancel to the server.
type Sending struct {
	Delivery CancelDelivery
	Err      string // why it failed, in words for people; it may quote the server
}

// ServerNotified reports whether the cancel has reached the server.
func (c *RequestCancelled) ServerNotified() bool { return c.Sending.Delivery == DeliveryDelivered }

// RequestCancelDelivery is the outcome of a cancel that was pending when its request ended. It is not terminal, and
// comes at most once for each request.
type RequestCancelDelivery struct {
	RequestID, Server string
	Sending           Sending
}

// LateAnswer is the answer of a server to a request that was cancelled before. Its result is dropped.
type LateAnswer struct {
	After    time.Duration // since the cancel was accepted
	NoResult bool          // it is an error, or could not be read
}

// AnsweredLate returns the end of a request with the answer that has come since. The server does not go on any more.
func (c RequestCancelled) AnsweredLate(answer LateAnswer) *RequestCancelled {
	c.Late, c.ServerMayContinue = &answer, false
	return &c
}

// RequestAnsweredLate says that the server has answered a request after its end as cancelled. It comes at most once for
// each request.
type RequestAnsweredLate struct {
	RequestID, Server string
	Answer            LateAnswer
}

// RequestFinished is any other end of a request. It is terminal.
type RequestFinished struct {
	RequestID, Server string
	Direction         Direction
	State             RequestState // StateDone or StateFailed
	IsError           bool
	ServerMayContinue bool // the request has failed, and the protocol cannot promise that the server has stopped
	Method, Tool      string
	Subject           string
	Caller, Preview   string // as in RequestInfo
	Title             string // as in RequestInfo
	McpError          *McpError
	Err               *Error
	Timings           Timings
	Task              *TaskInfo
	// JSON text, for a request of a window; "" if it is too long or no longer kept. Untrusted
	Result     string
	ResultSize int // bytes of the server's answer
}

// PromptOpened announces a new prompt. Only windows that declared its kind get it.
type PromptOpened struct{ Prompt PromptInfo }

// PromptClosed is the end of a prompt; it comes once.
type PromptClosed struct {
	PromptID string
	Cause    PromptCause
	Reason   string
	WindowID string // the window that answered, if one did
	Origin   Origin
}

// ConfigReloaded lists the present problems of the config as a whole. Servers that changed have events of their own.
type ConfigReloaded struct {
	Problems    []ConfigProblem
	Stopped     []string // servers whose launch changed or whose entry is gone
	ChangedFile string   // "" = the host asked for it
}

// LogMessage is a log notification or a stderr line of a server. It may be dropped for a slow window.
type LogMessage struct {
	Server, Level, Logger string
	Data                  string // JSON text
	// Dropped is how many messages of the server were dropped, according to this message. If a window does not get this
	// message, it counts these as dropped, too.
	Dropped int64
	// Own says that this is a note of the hub about the server, or a line of its stderr, and not a log message of the
	// protocol.
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
func (*RequestAnsweredLate) eventBody()   {}
func (*RequestFinished) eventBody()       {}
func (*PromptOpened) eventBody()          {}
func (*PromptClosed) eventBody()          {}
func (*LogMessage) eventBody()            {}
func (*ConfigReloaded) eventBody()        {}

// Snapshot is everything that a window shows.
type Snapshot struct {
	Time         time.Time
	Servers      []ServerInfo
	Requests     []RequestInfo // oldest first
	Prompts      []PromptInfo  // of the kinds that the window declared, oldest first
	LaterPrompts []string      // ids of those that are sent after it
	Problems     []ConfigProblem
	History      []Ended // as many as the window has asked for, oldest first
	// Subscriptions are those of the window, by server in config order.
	Subscriptions []Subscription
}

// Subscription is a resource whose changes a window gets events about.
type Subscription struct{ Server, URI string }

// Ended is a request that is over. Body is its *RequestCancelled or *RequestFinished.
type Ended struct {
	Time time.Time
	Body Body
}

// Overhead is about how many bytes an event takes besides its texts.
const Overhead = 256

// PayloadSize returns about how many bytes an event takes, so that queues of events can be bounded. It counts only what
// can be large, and may be called with a lock held.
func PayloadSize(b Body) int {
	n := Overhead
	switch b := b.(type) {
	case *ServerChanged:
		n += len(b.Server.Instructions) + len(b.Server.Capabilities) + len(b.Server.LastError)
		for _, line := range b.Server.Stderr {
			n += len(line)
		}
	case *PromptOpened:
		n += b.Prompt.Size()
	case *ResourceUpdated:
		n += len(b.URI)
	case *RequestStarted:
		n += len(b.Request.Subject)
	case *RequestProgressed:
		if b.Progress != nil {
			n += len(b.Progress.Message)
		}
	case *RequestCancelled:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.WireID) + len(b.Cancellation.Reason) +
			len(b.Sending.Err) + b.Err.Size()
	case *RequestCancelDelivery:
		n += len(b.RequestID) + len(b.Sending.Err)
	case *RequestAnsweredLate:
		n += len(b.RequestID)
	case *RequestFinished:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.Result) + b.ErrorSize()
	case *ConfigReloaded:
		for _, p := range b.Problems {
			n += len(p.Message)
		}
	case *LogMessage:
		n += len(b.Data)
	}
	return n
}

func (p *PromptInfo) Size() (n int) {
	if a := p.Approval; a != nil {
		n += len(a.Arguments) + len(a.Tool.Definition) + len(a.Tool.Description) + len(a.Previous)
		for _, c := range a.Changes {
			n += len(c.Path) + len(c.Before) + len(c.After)
		}
	}
	if q := p.Question; q != nil {
		n += len(q.Payload) + len(q.Schema) + len(q.Message) + len(q.URL)
	}
	if s := p.SignIn; s != nil {
		n += len(s.URL)
	}
	if l := p.Launch; l != nil {
		for _, arg := range l.Args {
			n += len(arg)
		}
		for _, c := range l.Changes {
			n += len(c.Path) + len(c.Before) + len(c.After)
		}
	}
	return n
}

// ErrorSize returns about how many bytes the error of a request takes, whether it is the server's or the hub's.
func (b *RequestFinished) ErrorSize() int {
	n := b.Err.Size()
	if e := b.McpError; e != nil {
		n += len(e.Message) + len(e.Data)
	}
	return n
}

// Size returns about how many bytes an error takes; 0 for nil.
func (e *Error) Size() int {
	if e == nil {
		return 0
	}
	n := len(e.Message)
	for k, v := range e.Meta {
		n += len(k) + len(v)
	}
	return n
}
