package hub

import (
	"encoding/json"
	"time"
)

// PromptKind is what a prompt asks for.
type PromptKind int

// Prompt kinds.
const (
	PromptToolApproval PromptKind = iota + 1
	PromptSampling
	PromptElicitationForm
	PromptElicitationURL
	PromptSignIn
)

var promptKindNames = [...]string{"", "tool_approval", "sampling", "elicitation_form", "elicitation_url", "sign_in"}

func (k PromptKind) String() string { return promptKindNames[k] }

// PromptCause is why a prompt closed.
type PromptCause int

// Prompt causes.
const (
	CauseAnswered PromptCause = iota + 1
	CauseDeclined
	CauseDismissed
	CauseWithdrawn
	CauseParent
	CauseTimeout
	CauseServerGone
	CauseShutdown
	CauseSuperseded
)

var promptCauseNames = [...]string{"", "answered", "declined", "dismissed", "withdrawn", "parent", "timeout", "server_gone", "shutdown", "superseded"}

func (c PromptCause) String() string { return promptCauseNames[c] }

// PromptInfo shows one prompt. Exactly one of Approval, Question and SignIn is set.
type PromptInfo struct {
	ID              string
	Kind            PromptKind
	Server          string
	RequestID       string // the request it belongs to
	ParentRequestID string // the request that caused it, when known
	Open            time.Time
	Deadline        time.Time // zero: none
	Approval        *ToolApproval
	Question        *Question
	SignIn          *SignInQuestion
}

// ToolApproval shows what would be called.
type ToolApproval struct {
	Tool           ToolInfo
	Arguments      string // JSON text
	Destructive    bool   // untrusted hint; true when the server does not say
	ReadOnly       bool   // untrusted hint
	DefinitionHash string
}

// Question is what a server asks.
type Question struct {
	Payload json.RawMessage // params as they came
	Message string
	URL     string
	URLHost string
	Waiting bool // consent was given; accept means finished
	Schema  json.RawMessage
}

// SignInQuestion asks the user to sign in on a page of an authorization server.
type SignInQuestion struct {
	URL, URLHost     string
	Waiting          bool // consent was given; the browser has not come back yet
	Issuer, Resource string
	Scopes           []string
}

// Action is what a user chose.
type Action int

// Actions.
const (
	ActionAccept Action = iota + 1
	ActionDecline
	ActionDismiss
)

// ApprovalScope is how long an approval holds.
type ApprovalScope int

// Approval scopes.
const (
	ScopeOnce ApprovalScope = iota
	ScopeWindow
	ScopeAlways
)

// PromptAnswer is one click.
type PromptAnswer struct {
	PromptID string
	Action   Action
	Scope    ApprovalScope // tool approval, accept
	Content  string        // JSON text: elicitation content or sampling result, accept
	Reason   string        // decline
}
