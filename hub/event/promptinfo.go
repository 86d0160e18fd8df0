package event

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
	PromptServerLaunch
	PromptConfigInput
)

var promptKindNames = [...]string{"", "tool_approval", "sampling", "elicitation_form", "elicitation_url", "sign_in",
	"server_launch", "config_input"}

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

var promptCauseNames = [...]string{"", "answered", "declined", "dismissed", "withdrawn", "parent", "timeout",
	"server_gone", "shutdown", "superseded"}

func (c PromptCause) String() string { return promptCauseNames[c] }

// PromptInfo shows one prompt. Exactly one of Approval, Question, SignIn, Launch and Input is set.
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
	Launch          *LaunchQuestion
	Input           *InputQuestion
}

// ToolApproval shows what would be called.
type ToolApproval struct {
	Tool           ToolInfo
	Arguments      string // JSON text
	Destructive    bool   // untrusted hint; true when the server does not say
	ReadOnly       bool   // untrusted hint
	DefinitionHash string
	// JSON text of the definition that was approved before the server changed it, "" = none
	Previous string
	Changes  []DefinitionChange // between that and the one of now
}

// DefinitionChange is one difference between two definitions of a tool, or two forms of a launch. Before and After are
// JSON texts, "" = not there.
type DefinitionChange struct{ Path, Before, After string }

// Question is what a server asks.
type Question struct {
	Payload json.RawMessage // params as they came
	Message string
	URL     string // may be handed to a browser: see package browse
	URLHost string // in punycode
	Waiting bool   // consent was given; accept means finished
	Schema  json.RawMessage
}

// SignInQuestion asks the user to sign in on a page of an authorization server.
type SignInQuestion struct {
	URL, URLHost     string
	Waiting          bool // consent was given; the browser has not come back yet
	Issuer, Resource string
	Scopes           []string
}

// LaunchQuestion shows exactly what would be run or connected to. References to the environment, to inputs and to files
// are as they are spelled.
type LaunchQuestion struct {
	Command       string
	Args          []string
	Dir           string
	EnvNames      []string // that the file sets
	EnvRefs       []string // of the hub's environment, that the file refers to
	InputRefs     []string // ids of inputs, that the file refers to
	EnvFile       string
	URL           string
	HeaderNames   []string
	Program       string           // that is executed: an absolute path; "" = not known, or behind a URL
	ProgramTarget string           // what Program leads to, when it is a link
	ProgramFrom   string           // where Program was found, in words
	Inherited     []string         // names of the user's settings that the process inherits, with what they hold now
	Unresolved    string           // why Program is not known
	Env           []LaunchVariable // that the file sets
	EnvFileNames  []string         // that the EnvFile sets
	AllowedTools  []string         // that the file wants to be called without a question
	Files         []string         // that the launch would read besides
	ConfigFile    string
	ConfigLine    int
	WrittenBy     string // who had the hub write the entry, "" = no program did
	WrittenIn     string // id of the window that ordered it
	Hash          string // what a yes is bound to
	Changed       bool   // there was a yes to an earlier form
	Changes       []DefinitionChange
}

// LaunchVariable is one variable that a file sets for a server, with its value as it is spelled there.
type LaunchVariable struct {
	Name, Value string
	Unset       bool // the file takes the variable away
	LoadsCode   bool // config.LoadsCode
}

// InputQuestion asks for a value that a config file wants.
type InputQuestion struct {
	InputID, Description string
	Secret               bool
	Default              string
	Options              []InputOption // nil = any text
	ConfigFile           string
	ConfigLine           int
}

// InputOption is one value to pick. Label is what a person reads, "" = the value.
type InputOption struct{ Value, Label string }

// Action is what a user chose.
type Action int

// Actions.
const (
	ActionAccept Action = iota + 1
	ActionDecline
	ActionDismiss
)

// ApprovalScope is how long an approval, or the consent to a launch, holds.
type ApprovalScope int

// Approval scopes.
const (
	ScopeOnce ApprovalScope = iota
	ScopeWindow
	ScopeAlways
	ScopeWorkspace // always, while the same workspace folders are open
)

// PromptAnswer is one click.
type PromptAnswer struct {
	PromptID string
	Action   Action
	Scope    ApprovalScope // tool approval and server launch, accept
	Content  string        // JSON text: elicitation content, sampling result or value of an input, accept
	Reason   string        // decline
	// MuteServer: with a decline or a dismiss of a question of a server: no more questions of this server
	// (Hub.MuteServer).
	MuteServer bool
	// KeptByHost: the host keeps the value of an input and will answer again; the hub forgets it when it ends.
	KeptByHost bool
	// LaunchHash: the whole launch with this hash was in view when a person agreed to it.
	LaunchHash string
	// Edited: the params of a sampling request as the user has changed them, JSON text. It is for who runs the model: the
	// hub refuses it.
	Edited string
}
