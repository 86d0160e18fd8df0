package core

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Effect is something that package hub has to do. Effects are carried out in the order in which they come.
type Effect interface{ effect() }

// RequestOpened: the request is registered. Its goroutine learns its number and id, and the windows that it has begun.
type RequestOpened struct {
	Request RequestNumber
	ID      string
	Parent  RequestNumber
}

// Refused: the event has changed nothing, but that what a call has obtained is noted.
type Refused struct{ Why Refusal }

// Refusal is why an event changed nothing.
type Refusal uint8

// Refusals.
const (
	Draining       Refusal = iota + 1 // no request may begin
	IDInUse                           // an open request has the id
	Uncancellable                     // the request is the start of a session
	CallIsOver                        // the call that the question belongs to is over or cancelled
	Unshowable                        // no window can show such a question
	Needless                          // the call has the consent, or needs another one by now
	OutOfStep                         // the request was sent, or has needed something since
	ToolHidden                        // by the config
	ToolDenied                        // by the config
	NoApprover                        // nobody could agree to the call
	NotForApps                        // the server does not offer the tool to apps
	Unsettled                         // each time that the call was to be sent, something had changed
	EntryGone                         // the config has the entry no longer
	EntryReadAnew                     // since the look
	LaunchDeclined                    // by a person
	LaunchUnclear                     // nobody could agree to it
)

func (r Refusal) String() string {
	return [...]string{"", "draining", "id_in_use", "uncancellable", "call_is_over", "unshowable", "needless",
		"out_of_step", "tool_hidden", "tool_denied", "no_approver", "not_for_apps", "unsettled", "entry_gone",
		"entry_read_anew", "launch_declined", "launch_unclear"}[r]
}

// Needed: the goroutine that has looked obtains that, and looks again. With NeedNothing it sends its request, or
// launches its server.
type Needed struct {
	Need Need
	Step int
}

// RequestShown: the windows are shown the state of an open request. Moved says that the state is a new one.
type RequestShown struct {
	Request RequestNumber
	State   event.RequestState
	Moved   bool
}

// CancelAccepted: the request is cancelled from now on, and everybody is told who cancelled it.
type CancelAccepted struct {
	Request RequestNumber
	Cancel  event.Cancellation
	Cause   *event.CancelCause
}

// Stopped: the context of the request ends with the cause. The goroutine that carries the request sees it.
type Stopped struct {
	Request RequestNumber
	Cause   *event.CancelCause
}

// RequestEnded: the request is over. It is the one terminal event of the request.
type RequestEnded struct {
	Request RequestNumber
	State   event.RequestState
	Timings event.Timings
	Cancel  *event.Cancellation // nil if it was not cancelled
	Cause   *event.CancelCause  // of the cancel, nil if there was none
	// With is the cause with which everything ended that the request had caused.
	With *event.CancelCause
	Late *event.LateAnswer // that has come between the cancel and the end, nil if none has
}

// RequestAnsweredLate: the windows are told that the server has answered a request that has ended as cancelled.
type RequestAnsweredLate struct {
	Request  RequestNumber
	ID, Name string // of the request and of its server
	Answer   event.LateAnswer
}

// CancelOutcome: what whoever asked for a cancel is told.
type CancelOutcome struct{ Outcome event.Outcome }

// PromptOpened: the question is open. Its timer fires when it expires.
type PromptOpened struct {
	Prompt  PromptNumber
	Request RequestNumber
	Kind    event.PromptKind
	Open    time.Time
	Expires time.Time // zero if there is no limit
	// Client is the call in whose course its client is asked, 0 if none is. Hidden says that nobody else is: the windows
	// are not shown the question.
	Client RequestNumber
	Hidden bool
}

// ClientAsked: the client is asked in the course of another one of its calls.
type ClientAsked struct {
	Prompt PromptNumber
	Client RequestNumber
}

// PromptShown: a question that was hidden is shown to the windows.
type PromptShown struct{ Prompt PromptNumber }

// PromptClosed: the question is closed, and whoever asked learns how. It vanishes from every window, and is withdrawn
// from the client that was asked.
type PromptClosed struct {
	Prompt  PromptNumber
	Request RequestNumber
	Kind    event.PromptKind
	End     End
}

// ReplyDelayed: the question's call, or one that may be its call, is over or cancelled, so that the server may want to
// withdraw the question itself: the answer is given a moment later. An answer at once could overtake the cancel.
type ReplyDelayed struct{ Request RequestNumber }

// StartExpired: the time of a start is over.
type StartExpired struct{ Request RequestNumber }

// WindowGone: the window is closed for good, or has not come back. What people allowed in it, and what it follows,
// ends.
type WindowGone struct{ Window string }

// WindowTimerSet: the timer of the window fires then.
type WindowTimerSet struct {
	Window string
	At     time.Time
}

// TurnsTaken: a question may belong to calls of different clients, so that none of them is asked. From now on their
// calls are sent to the server one after the other.
type TurnsTaken struct{ Name string }

// TurnCame: a request that has waited for its turn may be sent now, if it still has all that it takes.
type TurnCame struct{ Request RequestNumber }

// TurnTimerSet: the timer of the server's turns fires then. It replaces an earlier one.
type TurnTimerSet struct {
	Server ServerNumber
	At     time.Time
}

// RequestTimerSet: the timer of the request fires then. It replaces an earlier one, and ends with the request.
type RequestTimerSet struct {
	Request RequestNumber
	At      time.Time
}

// PromptRanOut: nobody has answered in time. PromptExpired follows at once.
type PromptRanOut struct {
	Prompt PromptNumber
	Limit  time.Duration
}

// ClockRanOut: a clock of a call has run out. RequestGivenUp follows at once, with the error that names the setting.
type ClockRanOut struct {
	Request RequestNumber
	Idle    bool // it was the idle clock
	Limit   time.Duration
}

// ServerShown: the windows are told of the server, which is in this state. NextStart is zero if none is planned.
type ServerShown struct {
	Server    ServerNumber
	State     event.ServerState
	Failures  int // in a row
	NextStart time.Time
	Consent   event.LaunchConsent
	Removed   bool                 // it is in the config no longer
	Refusal   *event.LaunchRefusal // by a managed policy; nil = none
}

// StartBegun: a start begins. It is a request of its own, which is made at once. Again says that it was planned.
type StartBegun struct {
	Server     ServerNumber
	Connection ConnectionNumber
	Again      bool
}

// StartStopped: the start under way ends with the cause.
type StartStopped struct {
	Server ServerNumber
	Cause  *event.CancelCause
}

// SessionDetached: nobody gets the session of the server any more. It is closed with SessionClosed.
type SessionDetached struct {
	Server ServerNumber
	Cause  *event.CancelCause
}

// SessionClosed: the requests are over that were cancelled, and the session is closed. ServerEnded follows.
type SessionClosed struct {
	Server     ServerNumber
	Connection ConnectionNumber
	Cause      *event.CancelCause
}

// EntryReplaced: another entry of its name takes the place of the server's entry. ServerConfigured follows at once.
type EntryReplaced struct {
	Server ServerNumber
	Entry  EntryID
}

// ServerForgotten: nothing of a removed server runs any more. Nothing more is said of it.
type ServerForgotten struct{ Server ServerNumber }

// LaunchReplaced: something else is launched from now on. What is known of the previous launch is forgotten.
type LaunchReplaced struct{ Server ServerNumber }

// GivenUp: the server has failed too often.
type GivenUp struct {
	Server   ServerNumber
	Failures int
}

// WaiterWoken: whoever waits for the server has it, or learns why not.
type WaiterWoken struct {
	Server ServerNumber
	Waiter WaiterNumber
	Why    Wake
	Reason string // of the stop
}

// Wake is how the wait for a server ended.
type Wake uint8

// How a wait for a server ends.
const (
	WakeReady    Wake = iota + 1 // the waiter uses the connection from now on
	WakeFailed                   // the start has failed
	WakeStopped                  // the server was stopped meanwhile
	WakeGivenUp                  // it has failed too often
	WakeUnusable                 // it is switched off, or its entry is gone or broken
	WakeDraining                 // the hub shuts down
	WakeDeclined                 // a person has declined its launch
)

func (w Wake) String() string {
	return [...]string{"", "ready", "failed", "stopped", "given_up", "unusable", "draining", "declined"}[w]
}

// ServerTimerSet: the timer of the server fires then. It replaces an earlier one.
type ServerTimerSet struct {
	Server ServerNumber
	At     time.Time
}

func (RequestOpened) effect()       {}
func (Refused) effect()             {}
func (RequestShown) effect()        {}
func (CancelAccepted) effect()      {}
func (Stopped) effect()             {}
func (RequestEnded) effect()        {}
func (RequestAnsweredLate) effect() {}
func (CancelOutcome) effect()       {}
func (PromptOpened) effect()        {}
func (ClientAsked) effect()         {}
func (PromptShown) effect()         {}
func (PromptClosed) effect()        {}
func (ReplyDelayed) effect()        {}
func (StartExpired) effect()        {}
func (RequestTimerSet) effect()     {}
func (WindowGone) effect()          {}
func (WindowTimerSet) effect()      {}
func (TurnsTaken) effect()          {}
func (Needed) effect()              {}
func (TurnCame) effect()            {}
func (TurnTimerSet) effect()        {}
func (ClockRanOut) effect()         {}
func (PromptRanOut) effect()        {}
func (ServerShown) effect()         {}
func (StartBegun) effect()          {}
func (StartStopped) effect()        {}
func (SessionDetached) effect()     {}
func (SessionClosed) effect()       {}
func (EntryReplaced) effect()       {}
func (ServerForgotten) effect()     {}
func (LaunchReplaced) effect()      {}
func (GivenUp) effect()             {}
func (WaiterWoken) effect()         {}
func (ServerTimerSet) effect()      {}
