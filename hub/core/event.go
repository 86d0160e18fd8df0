package core

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// RequestNumber names a request. It is the position in the order of all requests of the hub.
type RequestNumber uint64

// PromptNumber names a question to people. It is the position in the order of all of them.
type PromptNumber uint64

// ServerNumber names a configured server. A later entry of the same name is another server.
type ServerNumber uint64

// ConnectionNumber names one connection to a server; 0 is none.
type ConnectionNumber uint64

// Event is something that happened outside.
type Event interface{ event() }

// RequestMade says that somebody has made a request: a host, a window or a client a call; the hub the start of a
// server.
// It is applied by the goroutine of whoever made it.
type RequestMade struct {
	ID          string // chosen by the host; "" = the hub makes one that begins with Prefix
	Prefix      string
	Server      ServerNumber
	Name        string // of the server
	Start       bool   // it is the start of a session, which no client may cancel (basic/utilities/cancellation)
	Call        bool   // its goroutine hands it to the engine, and says CallOver
	Owner       string // the window that owns the call, "" for none
	Label       string // of the task of the host that the call is part of, "" for none
	Idle, Total time.Duration

	// Client is the MCP client that makes the call, "" for none, and Answers the kinds of questions that it answers.
	Client   string
	Answers  event.Kinds
	Audience event.Audience // who is asked what the server asks
}

// Looked says what the goroutine of a request sees that is to be sent: see gate. If it was told that the request needs
// something, it has obtained that, and Step is that of Needed.
type Looked struct {
	Request RequestNumber
	Step    int
	Up      bool // there is a session
	Modern  bool // the server tells in which call it asks
	Tool    ToolSeen
}

// ToolSeen is what the goroutine of a tool call sees of the tool.
type ToolSeen struct {
	Called bool // the request calls a tool; otherwise nothing else is set

	LaunchAllows bool // the config allows it as soon as the user agrees to the launch
	Preapproved  bool // whoever made the call has the consent

	// Terms are those that the call needs a consent to now. Their Definition is the one that the present connection has
	// listed or, without one, an earlier connection; "" if it is not known. With Outdated, the server has said since that
	// its tools changed, and the definition is the one that it listed for this call.
	Terms      Terms
	Outdated   bool
	NoneKnown  bool // no list of the server's tools is known
	NotForApps bool // an app calls it, and the server does not offer it to apps

	Held       bool // a consent to Terms is recorded: an approval or, with PolicyAllow, the first definition
	HeldForAny bool // an approval is recorded for some definition; only looked for if no window shows approvals
	Pinned     bool // with NeedPin: the definition is the recorded one
}

// Sent says that a message of a request is about to be written, with its wire id; "" is none.
type Sent struct {
	Request RequestNumber
	WireID  string
}

// AnsweredLate says that a server has answered a request after its cancel. Request is 0 if it is not known which one,
// or if the answer is not the last word: the server has made a task of it.
type AnsweredLate struct {
	Server   ServerNumber
	WireID   string
	Request  RequestNumber
	NoResult bool // it is an error, or could not be read
}

// Progressed says that the server has given a sign of life for a call. Shown says that there is something new to see.
type Progressed struct {
	Request RequestNumber
	Shown   bool
}

// TaskReported says that the server has reported the state of a task that carries out a call.
type TaskReported struct{ Request RequestNumber }

// CallOver says that the goroutine of a call has come back with an outcome.
type CallOver struct {
	Request RequestNumber
	Failed  bool // it has no result
	// Lost says that it failed because the connection had ended.
	Lost bool
	// ByServer is not nil if the server has cancelled the task that carried it out.
	ByServer *event.CancelCause
	// MayContinue says that the server may nevertheless go on with it.
	MayContinue bool
}

// StartOver says that the start of a server has ended.
type StartOver struct {
	Request      RequestNumber
	Failed, Lost bool
	Failure      Failure
	Outgrown     bool // windows can show more by now than was declared to the server
}

// Failure says how a start failed.
type Failure struct {
	Counts      bool // it is the server's fault
	Hopeless    bool // another try would end the same way
	NobodyAsked bool // a person had to be asked, and nobody could be
}

// CancelAsked says that somebody wants to cancel one request: by its id, which may be unknown or come before its call.
type CancelAsked struct {
	ID     string
	Server string // the name of the server that is meant; "" = any
	Cause  *event.CancelCause
}

// ScopeCancelled says that somebody wants to cancel all requests of a scope: the editor's Stop, the end of a connection
// or of the hub.
type ScopeCancelled struct {
	Scope Scope
	Cause *event.CancelCause
}

// RequestGivenUp says that whoever made a request has given it up: a caller has hung up, or a clock has run out.
type RequestGivenUp struct {
	Request RequestNumber
	Cause   *event.CancelCause
}

// Asked says that a person, or the client of a call, is to be asked something.
type Asked struct {
	Kind      event.PromptKind
	WithTools bool
	Human     time.Duration // 0 = no limit
	Server    ServerNumber
	Name      string // of the server

	// Of is the request that waits for the answer: the call of an approval, or of a question in a round. 0: the question
	// is a request of its own, whose id begins with Prefix.
	Of     RequestNumber
	Prefix string
	// By is the connection on which a server asks; 0: the hub asks. Parent is the call in whose course the server asks,
	// 0 if that is not known.
	By     ConnectionNumber
	Parent RequestNumber
	// OfSome says that the server can only mean some call, without saying which. Among are the calls that it may mean,
	// and Past the clients of those that were cancelled and may go on.
	OfSome bool
	Among  []MayAsk
	Past   []PastClient
	// About are the servers whose requests wait for the answer; nil unless the hub asks about servers.
	About []ServerNumber
	// Form is what the question asks to agree to, if it is about the launch of a server.
	Form Form
	// Approval says that a yes lets the call Of go. Terms are those that it needs a consent to now, and Held says that
	// one is recorded.
	Approval bool
	Terms    Terms
	Held     bool
}

// MayAsk is a call in whose course a client may be asked. Heard says that a question would reach the client now.
type MayAsk struct {
	Request RequestNumber
	Client  string // "" = no client made it
	Heard   bool
}

// PastClient is the client of calls that were cancelled, the last of them at that time.
type PastClient struct {
	Client    string // "" = no client made them
	Cancelled time.Time
}

// Followed says that one more server waits for the answer to a question, or, with Left, that one does so no longer.
type Followed struct {
	Prompt PromptNumber
	Server ServerNumber
	Left   bool
}

// Answered says that somebody has answered a question, or that something else has answered it: a mute, a policy, the
// answer to another question.
type Answered struct {
	Prompt PromptNumber
	End    End
}

// TermsSeen says on which terms the call would need a consent now about which people are asked.
type TermsSeen struct {
	Prompt PromptNumber
	Terms  Terms
}

// ClientUnreachable says that the client of a question cannot be asked in the course of the call in which it was to be.
// Among are the calls that the question may belong to.
type ClientUnreachable struct {
	Prompt PromptNumber
	Among  []MayAsk
}

// ClientGone says that a client has gone for good. Who is gone has no calls: when the server must have read their
// cancels, a question cannot be of one of them.
type ClientGone struct{ Client string }

// Comparing says that the content of an answer is being compared with its question, or, with Over, that this has ended.
// Fits says that the answer will be given next.
type Comparing struct {
	Prompt     PromptNumber
	Over, Fits bool
}

// AnswerRead says that whoever asked has learned how its question closed. Left is not nil if the asker had left
// meanwhile, and does not want the answer any more.
type AnswerRead struct {
	Request RequestNumber
	End     End
	Left    *Leave
}

// AskerLeft says that whoever asked does not want the answer any more: the server has withdrawn its question, the
// connection has ended, the start that needed the answer is over.
type AskerLeft struct {
	Request RequestNumber
	Prompt  PromptNumber // 0: of the request
	Leave   Leave
}

// ConnectionEnded says that a connection to a server has ended.
type ConnectionEnded struct {
	Connection ConnectionNumber
	Server     ServerNumber
}

// ServerAdded says that there is a new name in the config. Launch are the entries of the name, and Counts is the one
// that EntryThatCounts returned; a name with a broken entry has neither.
type ServerAdded struct {
	Server ServerNumber
	Name   string
	Entry  Entry
	Launch []LaunchEntry
	Counts EntryID
}

// ServerConfigured says that the config says something else of a server, perhaps since EntryReplaced was ordered. With
// Relaunch, something else is launched from now on. LimitChanged says that a start has another limit. Cause is that of
// the end of what may run no longer.
type ServerConfigured struct {
	Server       ServerNumber
	Entry        Entry
	Launch       []LaunchEntry
	Counts       EntryID
	Relaunch     bool
	LimitChanged bool
	Cause        *event.CancelCause
}

// ServerRemoved says that a server is in the config no longer. Its requests may still be open.
type ServerRemoved struct {
	Server ServerNumber
	Cause  *event.CancelCause
}

// ServerOutdated says that what runs of a server is outdated: a file has changed that it watches.
type ServerOutdated struct {
	Server ServerNumber
	Cause  *event.CancelCause
}

// LaunchSeen says what there is to agree to now for the entries under the name of a server, and to which of them a
// person has agreed. AgreedHeld says that the consent is still there with which the tools of the last launch were
// agreed to: Launch.AgreedBy.
type LaunchSeen struct {
	Server     ServerNumber
	Entries    []LaunchEntry
	AgreedHeld bool
}

// LaunchLooked says what a goroutine sees that is about to launch a server, or to use its entry otherwise. Read is that
// of the Launch before its look. Unclear says that it cannot be told what would run. It is answered with Needed,
// nothing or a yes, or with Refused.
type LaunchLooked struct {
	Server  ServerNumber
	Entry   EntryID
	Read    uint64
	Form    Form
	Held    bool
	Unclear bool
}

// InfoChanged says that something has changed that windows show of a server besides its state and its launch: its
// sign-in, what it wrote.
type InfoChanged struct{ Server ServerNumber }

// These are orders of a person or of the host.
type (
	// StartOrdered: the server is to start, however often it failed, and people may be asked again what they have
	// declined. ServerWanted follows.
	StartOrdered struct{ Server ServerNumber }
	// StopOrdered: what runs of the server ends, and its requests with it. It starts again when it is needed.
	StopOrdered struct {
		Server ServerNumber
		Cause  *event.CancelCause
	}
	// SwitchOrdered switches a server on or off, whatever the config says.
	SwitchOrdered struct {
		Server ServerNumber
		On     bool
		Cause  *event.CancelCause
	}
)

// ServerWanted says that somebody wants to use the connection of a server: a request, or something else, which says
// ServerReleased. With a Waiter they wait for it if necessary. With Since, a stop that was ordered later than that
// many makes the wait fail.
type ServerWanted struct {
	Server  ServerNumber
	Request RequestNumber
	Waiter  WaiterNumber
	Since   uint64
}

// WaiterLeft says that somebody waits for a server no longer. SigningIn says that a person has agreed to sign in, and
// the rest of the sign-in is under way.
type WaiterLeft struct {
	Server    ServerNumber
	Waiter    WaiterNumber
	SigningIn bool
}

// ServerReleased says that somebody, other than a request, uses the connection of a server no longer.
type ServerReleased struct{ Server ServerNumber }

// StartAsks says that the start of a server is about to ask a person.
type StartAsks struct{ Server ServerNumber }

// ServerEnded says that nothing runs any more of a connection, or of a start that was stopped. Fell says that the
// connection ended by itself, and Expired that the server had forgotten the session.
type ServerEnded struct {
	Server        ServerNumber
	Connection    ConnectionNumber
	Fell, Expired bool
}

// ServerStale says that a server should be connected anew as soon as nothing uses it: it cannot ask people in the era
// of its connection.
type ServerStale struct{ Server ServerNumber }

// MoreShown says that windows may show more than before. Outgrown are the servers to whose connection less was
// declared.
type MoreShown struct{ Outgrown []ServerNumber }

// AnswerPossible says that a start that could ask nobody may succeed now: a consent was given, or workspace folders
// were opened.
type AnswerPossible struct{}

// Unsubscribed says that somebody has unsubscribed from a resource of a server.
type Unsubscribed struct{ Server ServerNumber }

// WindowShows says what a window shows that has attached, perhaps once more, or whose content has changed.
type WindowShows struct {
	Window string
	Shows  event.Kinds
}

// WindowDetached says that the stream of a window has ended. Unless it was closed for good, it may come back within
// Return.
type WindowDetached struct {
	Window string
	Final  bool
	Return time.Duration
}

// Drained says that the hub is to shut down, and takes no more requests.
type Drained struct{}

// These say that a timer has fired.
type (
	RequestTimer struct{ Request RequestNumber }
	PromptTimer  struct{ Prompt PromptNumber }
	TurnTimer    struct{ Server ServerNumber }
	WindowTimer  struct{ Window string }
	// Subscribed says that somebody is subscribed to a resource of the server.
	ServerTimer struct {
		Server     ServerNumber
		Subscribed bool
	}
)

// PromptExpired follows PromptRanOut, with the cause for the request, whose error names the setting.
type PromptExpired struct {
	Prompt PromptNumber
	Cause  *event.CancelCause
}

func (RequestMade) event()       {}
func (Looked) event()            {}
func (Sent) event()              {}
func (AnsweredLate) event()      {}
func (Progressed) event()        {}
func (TaskReported) event()      {}
func (CallOver) event()          {}
func (StartOver) event()         {}
func (CancelAsked) event()       {}
func (ScopeCancelled) event()    {}
func (RequestGivenUp) event()    {}
func (Asked) event()             {}
func (Followed) event()          {}
func (Answered) event()          {}
func (TermsSeen) event()         {}
func (ClientUnreachable) event() {}
func (ClientGone) event()        {}
func (Comparing) event()         {}
func (AnswerRead) event()        {}
func (AskerLeft) event()         {}
func (ConnectionEnded) event()   {}
func (ServerRemoved) event()     {}
func (WindowShows) event()       {}
func (WindowDetached) event()    {}
func (Drained) event()           {}
func (RequestTimer) event()      {}
func (PromptTimer) event()       {}
func (TurnTimer) event()         {}
func (WindowTimer) event()       {}
func (PromptExpired) event()     {}
func (ServerAdded) event()       {}
func (ServerConfigured) event()  {}
func (ServerOutdated) event()    {}
func (InfoChanged) event()       {}
func (StartOrdered) event()      {}
func (StopOrdered) event()       {}
func (SwitchOrdered) event()     {}
func (ServerWanted) event()      {}
func (WaiterLeft) event()        {}
func (ServerReleased) event()    {}
func (StartAsks) event()         {}
func (ServerEnded) event()       {}
func (LaunchSeen) event()        {}
func (LaunchLooked) event()      {}
func (ServerStale) event()       {}
func (MoreShown) event()         {}
func (AnswerPossible) event()    {}
func (Unsubscribed) event()      {}
func (ServerTimer) event()       {}

// End is how a question closed.
type End struct {
	Cause  event.PromptCause
	Origin event.Origin
	Reason string
	Window string // that answered it, "" for none
}

// Leave is how an asker left: how its question closes, and the cause for the question's request. With Done, what the
// question was for has succeeded without an answer.
type Leave struct {
	End  End
	Ends *event.CancelCause
	Done bool
}
