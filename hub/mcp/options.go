package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// Defaults of Options.
const (
	DefaultProbeTimeout = 5 * time.Second
	DefaultMaxRounds    = 10
)

// Options says how to reach a server and who answers its questions. Open and Handler are required.
type Options struct {
	// Server is the hub's own name of the server; what a server says of itself is never used to tell servers apart.
	Server string
	// Open opens the link. It is called once, and a second time when the process of a server exits on the era probe.
	Open Opener
	// Era is EraAuto (also ""), EraLegacy or EraModern.
	Era string
	// LastEra is what an earlier connection found. It is tried first: Legacy goes without the probe. It does not hold
	// when the server has changed.
	LastEra Era
	// ProbeTimeout bounds the wait for the answer to the probe; 0 means DefaultProbeTimeout.
	ProbeTimeout time.Duration
	// Client is sent as clientInfo.
	Client Implementation
	// Capabilities is asked once at initialize (legacy) and for each request (modern); nil means none. It must not block
	// and must be safe for concurrent use.
	Capabilities func() Capabilities
	Handler      Handler
	Logger       *slog.Logger // nil discards
	// MaxRounds bounds how often one call is retried after questions of its server; 0 means DefaultMaxRounds.
	MaxRounds int
	// Outputs checks what tools return (OutputChecker); nil: one of the session's own, without a total for the hub.
	Outputs *schema.Checker
	// Lists is what the lists of the server hold, while they are read and where the session keeps answers that the server
	// calls fresh; nil: no total.
	Lists *bounds.Account
	// Results is the account of large messages: of what is read, and of results until their caller has them (or longer:
	// CallRequest.Keep); nil: no total. For HTTP it is given to the transport, too.
	Results *bounds.Account
	// OnBound, if not nil, hears of each question of a legacy server that is refused for its size. It must not block.
	OnBound func(err *BoundError)
	// OnNoise, if not nil, is told at most once, while the session does not come up, what a process writes on stdout that
	// is no message, with what to do about it. It may block. Printed, if not nil, takes secrets out of each line before.
	OnNoise func(text string)
	Printed func(line string) string
	// MaxIncoming and StallLimit are handed to jsonrpc; 0 means its defaults.
	MaxIncoming int
	StallLimit  time.Duration
	// Tap, if not nil, is told of the messages that belong to the start (with the trace Trace), to calls
	// (CallRequest.Trace) and to questions that a server asks in requests of its own (NewTrace); a nil trace is told of
	// none. It must not block and must not call the session.
	Tap      func(trace any, m jsonrpc.Observed)
	Trace    any
	NewTrace func() any // called by the reading goroutine; nil: the messages of such questions are not told
}

// Implementation names a program (clientInfo, serverInfo).
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Handler answers what a server asks and hears what it tells. Its methods are called from several goroutines at once,
// except Logged, ToolsChanged, PromptsChanged, ResourcesChanged, ResourceUpdated and Noticed, which come in the order
// of the wire from one goroutine and must not block.
type Handler interface {
	// Ask puts a sampling or elicitation question to a person and returns the answer. When ctx ends it must return soon;
	// what it returns then is not used. context.Cause(ctx) tells why: *jsonrpc.WithdrawnError (the server took the
	// question back), *jsonrpc.ClosedError, *ElicitationCompleted, *SiblingError, or the cause of the call that led to
	// the question. An error is internal trouble; the server then hears of an internal error without its text.
	Ask(ctx context.Context, q *Question) (Answer, error)
	// Roots is the result of roots/list, an object. of is the call in whose course the server asks, where that is known,
	// as it is for a Question, and key what Question.InputKey would be. An error is internal trouble, a *jsonrpc.Error
	// what the server is answered.
	Roots(ctx context.Context, of *CallRequest, key string) (json.RawMessage, error)
	// Logged is a log message of the server.
	Logged(m LogMessage)
	// ToolsChanged says that the list of tools may be another one now.
	ToolsChanged()
	// PromptsChanged says that the list of prompts may be another one now.
	PromptsChanged()
	// ResourcesChanged says that the list of resources, or that of their templates, may be another one now.
	ResourcesChanged()
	// ResourceUpdated says that a resource may have other contents now. The URI is the server's, unchecked: it may be one
	// below the subscribed one.
	ResourceUpdated(uri string)
	// ElicitationCompleted says that the server is done with the page of an elicitation (2025-11-25
	// notifications/elicitation/complete). The id is the server's, unchecked: it may be unknown, or done with already.
	ElicitationCompleted(id string)
	// Noticed is any other notification, by method.
	Noticed(method string)
	// LateResponse says that the server has answered a request that was cancelled before; the answer was dropped. It is
	// called by the reading goroutine and must not block.
	LateResponse(id jsonrpc.ID)
}

// QuestionKind is what a server asks for.
type QuestionKind int

const (
	// Sampling asks for a completion of the host's model.
	Sampling QuestionKind = iota + 1
	// ElicitationForm asks for the fields of a form.
	ElicitationForm
	// ElicitationURL asks for consent to open a page in an outside browser.
	ElicitationURL
)

// String is the kind's word in logs and errors.
func (k QuestionKind) String() string {
	switch k {
	case Sampling:
		return "sampling"
	case ElicitationForm:
		return "elicitation form"
	case ElicitationURL:
		return "elicitation url"
	}
	return "unknown"
}

// Question is one question of a server. All of its text is untrusted.
type Question struct {
	Kind   QuestionKind
	WireID jsonrpc.ID // the server's request; zero when the question came within a result or an error
	// InputKey is the question's key in the inputRequests of a modern result, "" otherwise.
	InputKey string
	// Payload is the params of the request exactly as they came.
	Payload json.RawMessage
	// Message, URL, ElicitationID and Schema are read from Payload for convenience. The message of a sampling question is
	// its system prompt; the schema of a form that came without one has no properties. URL may be handed to a browser
	// (see package browse), URLHost is its host in punycode.
	Message       string
	URL           string
	URLHost       string
	ElicitationID string
	Schema        json.RawMessage
	// Call is the call that led to the question, where that is known: exactly for a question within a result or an error,
	// and for a request that came in the answer to a call (Streamable HTTP); for any other request of a legacy server it
	// is the one call on the wire, and nil when there is none or more than one, those among them that were cancelled and
	// may go on at the server.
	Call *CallRequest
	// OfSome tells of a question without Call that several calls were on the wire when it came, a live one among them:
	// once all calls are over, so is its own.
	OfSome bool
	// Among are the calls that a question with OfSome may be of, those among them that were cancelled and may go on at
	// the server.
	Among []*CallRequest
	// Trace is what Options.NewTrace gave for the server's request; nil when the question came within a result or an
	// error.
	Trace any
	// Waiting is the second question about a URL that a server requires (-32042): consent was given, now somebody works
	// in the outside browser. Accept means "I have finished". ctx ends with *ElicitationCompleted when the server says
	// that it is done.
	Waiting bool
}

// Action is how a person ended a question.
type Action int

const (
	// Accept is an answer: a completion, a filled form, consent.
	Accept Action = iota + 1
	// Decline is an explicit no.
	Decline
	// Dismiss closes the question without a choice; elicitation calls it "cancel".
	Dismiss
)

// String is the action's word on the wire of elicitation.
func (a Action) String() string {
	switch a {
	case Accept:
		return "accept"
	case Decline:
		return "decline"
	case Dismiss:
		return "cancel"
	}
	return "unknown"
}

// Answer is a person's answer. Content is the elicitation's content object or the whole sampling result, sent as it is;
// only with Accept.
type Answer struct {
	Action  Action
	Content json.RawMessage
	// Result is the whole result of the request, an object, where who has answered speaks MCP himself: it goes on as it
	// is, and Content is not looked at. Action is what it says.
	Result json.RawMessage
}

// Root is a directory or file that the server may work in; URI is a file: URI.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// LogMessage is a log message of a server: untrusted, data exactly as it came.
type LogMessage struct {
	Level  string
	Logger string
	Data   json.RawMessage
}

// ServerInfo is what a server says of itself. All of it is untrusted.
type ServerInfo struct {
	Name         string
	Title        string
	Version      string
	Instructions string
	Capabilities json.RawMessage // exactly as they came

	HasTools             bool
	ToolsListChanged     bool
	HasPrompts           bool
	PromptsListChanged   bool
	HasResources         bool
	ResourcesListChanged bool
	ResourcesSubscribe   bool
	HasCompletions       bool // since 2025-03-26; 2024-11-05 has completion without a capability
	Logging              bool
	// Extensions is what the server declares of extensions, by identifier, exactly as it came; nil when there is nothing.
	Extensions json.RawMessage
}
