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

// Options holds how to reach a server and what answers its questions. Open and Handler are required.
type Options struct {
	// Server is the hub's own name of the server. Names that a server sends are never used to tell servers apart.
	Server string
	// Open opens the link. It is called once, and a second time if the process of a server exits on the era probe.
	Open Opener
	// Era is EraAuto (also ""), EraLegacy or EraModern.
	Era string
	// LastEra is the era that an earlier connection found. It is tried first: with Legacy there is no probe. If the server
	// has changed, the other era is tried.
	LastEra Era
	// ProbeTimeout bounds the wait for the answer to the probe; 0 means DefaultProbeTimeout.
	ProbeTimeout time.Duration
	// Client is sent as clientInfo.
	Client Implementation
	// Capabilities returns what the client declares. It is called once at initialize (legacy) and for each request
	// (modern); nil means none. It must not block and must be safe for concurrent use.
	Capabilities func() Capabilities
	Handler      Handler
	Logger       *slog.Logger // nil discards
	// MaxRounds bounds how often one call is retried after questions of its server; 0 means DefaultMaxRounds.
	MaxRounds int
	// Outputs checks the results of tools (OutputChecker); nil: a checker of the session's own, without a total for the
	// hub.
	Outputs *schema.Checker
	// Lists is the account of the lists of the server, while they are read and while the session keeps answers that the
	// server declares fresh; nil: no total.
	Lists *bounds.Account
	// Results is the account of large messages while they are read, and of results until their caller has them (or longer:
	// CallRequest.Keep); nil: no total. For HTTP, the transport gets the same account.
	Results *bounds.Account
	// OnBound, if not nil, is called with each question of a legacy server that is refused for its size. It must not
	// block.
	OnBound func(err *BoundError)
	// OnNoise, if not nil, is called at most once, while the session is starting, with what a process writes on stdout
	// that is no message, and with advice. It may block. Printed, if not nil, removes secrets from each line first.
	OnNoise func(text string)
	// OnStray, if not nil, is called at most once, with the same of a session that has started. It must not block.
	OnStray func(text string)
	Printed func(line string) string
	// MaxIncoming and StallLimit are passed to jsonrpc; 0 means its defaults.
	MaxIncoming int
	StallLimit  time.Duration
	// Tap, if not nil, is called with the messages that belong to the start (with the trace Trace), to calls
	// (CallRequest.Trace) and to questions that a server asks in requests of its own (the result of NewTrace). It is not
	// called if the trace is nil. It must not block and must not call the session.
	Tap      func(trace any, m jsonrpc.Observed)
	Trace    any
	NewTrace func() any // called by the reading goroutine; nil: the tap is not called for such questions
}

// Implementation names a program (clientInfo, serverInfo).
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Handler answers the questions of a server and receives its notifications. Its methods are called from several
// goroutines at once, except Logged, ToolsChanged, PromptsChanged, ResourcesChanged and ResourceUpdated: one
// goroutine calls these in the order of the wire, and they must not block.
type Handler interface {
	// Ask asks a user a sampling or elicitation question and returns the answer. When ctx ends it must return soon, and
	// its result is not used. context.Cause(ctx) is then *jsonrpc.WithdrawnError (the server withdrew the question),
	// *jsonrpc.ClosedError, *ElicitationCompleted, *SiblingError, or the cause of the call that led to the question. An
	// error is an internal failure; the server gets an internal error without its text.
	Ask(ctx context.Context, q *Question) (Answer, error)
	// Roots returns the result of roots/list, an object. of is the call during which the server asks, if it is known, as
	// for a Question; key is what Question.InputKey would be. A *jsonrpc.Error is sent to the server as its answer; any
	// other error is an internal failure.
	Roots(ctx context.Context, of *CallRequest, key string) (json.RawMessage, error)
	// Logged receives a log message of the server.
	Logged(m LogMessage)
	// ToolsChanged is called when the list of tools may have changed.
	ToolsChanged()
	// PromptsChanged is called when the list of prompts may have changed.
	PromptsChanged()
	// ResourcesChanged is called when the list of resources or of their templates may have changed.
	ResourcesChanged()
	// ResourceUpdated is called when the contents of a resource may have changed. The URI comes from the server and is not
	// checked: it may be below the subscribed one.
	ResourceUpdated(uri string)
	// ElicitationCompleted is called when the server reports that the page of an elicitation is done (2025-11-25
	// notifications/elicitation/complete). The id comes from the server and is not checked: it may be unknown, or
	// completed before.
	ElicitationCompleted(id string)
	// LateResponse is called when the server has answered a request that was cancelled before; the answer was dropped. It
	// is called once for each request, by the reading goroutine, and must not block.
	LateResponse(r LateResponse)
}

// LateResponse is the first answer to a request that was cancelled before.
type LateResponse struct {
	ID       jsonrpc.ID
	Trace    any  // CallRequest.Trace; nil if the request was cancelled long ago
	NoResult bool // it is an error, or cannot be read
	Task     bool // it names a task that goes on, and that is being cancelled
}

// QuestionKind is the kind of a question.
type QuestionKind int

const (
	// Sampling asks for a completion of the host's model.
	Sampling QuestionKind = iota + 1
	// ElicitationForm asks for the fields of a form.
	ElicitationForm
	// ElicitationURL asks for consent to open a page in an outside browser.
	ElicitationURL
)

// String returns the name of the kind for logs and errors.
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
	WireID jsonrpc.ID // the id of the server's request; zero if the question came within a result or an error
	// InputKey is the question's key in the inputRequests of a modern result, "" otherwise.
	InputKey string
	// Payload is the params of the request exactly as they came.
	Payload json.RawMessage
	// Message, URL, ElicitationID and Schema are parsed from Payload for convenience. The message of a sampling question
	// is its system prompt; the schema of a form that came without one has no properties. URL is safe to open in a browser
	// (see package browse), URLHost is its host in punycode.
	Message       string
	URL           string
	URLHost       string
	ElicitationID string
	Schema        json.RawMessage
	// Call is the call that led to the question, if it is known. It is known exactly for a question within a result or an
	// error, and for a request that came in the answer to a call (Streamable HTTP). For any other request of a legacy
	// server it is the only call on the wire, and nil if there is none or more than one; calls that were cancelled and may
	// continue at the server count, too.
	Call *CallRequest
	// OfSome reports for a question without Call that several calls were on the wire when it came, at least one of them
	// not cancelled. Once all these calls are over, the call of the question is over, too.
	OfSome bool
	// Among are the calls on the wire to which a question with OfSome may belong. Past are the clients of the calls that
	// were cancelled and may continue at the server, to which it may belong, too: each once.
	Among []*CallRequest
	Past  []PastClient
	// Trace is what Options.NewTrace returned for the server's request; nil if the question came within a result or an
	// error.
	Trace any
	// Waiting marks the second question about a URL that a server requires (-32042): the user has consented and now works
	// in the outside browser. Accept means "I have finished". ctx ends with *ElicitationCompleted when the server reports
	// that the page is done.
	Waiting bool
}

// PastClient is a client of calls that were cancelled and may continue at the server.
type PastClient struct {
	Client    string    // CallRequest.Client
	Cancelled time.Time // when the latest of these calls was cancelled
}

// Action is the way in which a user ended a question.
type Action int

const (
	// Accept is an answer: a completion, a filled form, consent.
	Accept Action = iota + 1
	// Decline is an explicit no.
	Decline
	// Dismiss closes the question without a choice; elicitation calls it "cancel".
	Dismiss
)

// String returns the action's word on the wire of elicitation.
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

// Answer is a user's answer. Content is the elicitation's content object or the whole sampling result, sent unchanged;
// it is used only with Accept.
type Answer struct {
	Action  Action
	Content json.RawMessage
	// Result is set if an MCP client has answered: it is the whole result of the request, an object, and is sent
	// unchanged. Content is then ignored, and Action is the action in Result.
	Result json.RawMessage
	// Unasked says of Dismiss that nobody could be asked.
	Unasked bool
}

// Root is a directory or file in which the server may work; URI is a file: URI.
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

// ServerInfo is how a server describes itself. All of it is untrusted.
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
	// Extensions holds the extensions that the server declares, by identifier, exactly as it came; nil if there are none.
	Extensions json.RawMessage
}

// NoHandler is a Handler that dismisses every question, has no roots and ignores everything else. It is meant for
// embedding, in types that handle only some methods.
type NoHandler struct{}

// Ask dismisses the question.
func (NoHandler) Ask(context.Context, *Question) (Answer, error) { return Answer{Action: Dismiss}, nil }

// Roots returns an empty list.
func (NoHandler) Roots(context.Context, *CallRequest, string) (json.RawMessage, error) {
	return ListOfRoots(nil), nil
}

// The other methods do nothing.

func (NoHandler) Logged(LogMessage)           {}
func (NoHandler) ToolsChanged()               {}
func (NoHandler) PromptsChanged()             {}
func (NoHandler) ResourcesChanged()           {}
func (NoHandler) ResourceUpdated(string)      {}
func (NoHandler) ElicitationCompleted(string) {}
func (NoHandler) LateResponse(LateResponse)   {}
