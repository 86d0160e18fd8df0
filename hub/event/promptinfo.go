package event

import (
	"encoding/json"
	"strings"
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

// Kinds are the kinds of questions that windows show, or that a client answers.
type Kinds struct {
	set   uint16
	tools bool // and sampling that brings tools
}

// Add adds a kind; withTools is for sampling that brings tools. A kind that does not exist adds nothing.
func (k *Kinds) Add(kind PromptKind, withTools bool) {
	if kind > 0 && kind < 16 {
		k.set |= 1 << kind
		k.tools = k.tools || withTools
	}
}

// Join adds what other kinds have.
func (k *Kinds) Join(other Kinds) {
	k.set |= other.set
	k.tools = k.tools || other.tools
}

// Has reports whether a question of that kind can be shown.
func (k Kinds) Has(kind PromptKind, withTools bool) bool {
	return k.set&(1<<kind) != 0 && (!withTools || k.tools)
}

// String returns the kinds, separated by commas; "all" for all of them. "sampling_tools" is sampling that brings tools.
func (k Kinds) String() string {
	var words []string
	for kind := PromptToolApproval; kind <= PromptConfigInput; kind++ {
		if k.Has(kind, false) {
			words = append(words, kind.String())
		}
	}
	if k.tools {
		words = append(words, "sampling_tools")
	}
	if len(words) > int(PromptConfigInput) {
		return "all"
	}
	return strings.Join(words, ",")
}

// Audience says who answers the questions of a server in the course of a request that a client of a gateway makes.
type Audience int

// Audiences.
const (
	AskClient  Audience = iota // the client, if it answers such questions, else the windows
	AskWindows                 // the windows alone
	AskEither                  // both: the first answer counts
)

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
	ParentRequestID string // the request that caused it, if that is known
	Open            time.Time
	Deadline        time.Time // zero if there is none
	Approval        *ToolApproval
	Question        *Question
	SignIn          *SignInQuestion
	Launch          *LaunchQuestion
	Input           *InputQuestion
}

// ToolApproval describes the call that a person is asked to approve.
type ToolApproval struct {
	Tool           ToolInfo
	Arguments      string // JSON text
	Destructive    bool   // untrusted hint; true if the server does not say
	ReadOnly       bool   // untrusted hint
	DefinitionHash string
	// JSON text of the definition that was approved before the server changed it; "" = none
	Previous string
	Changes  []DefinitionChange // the differences between Previous and the present definition
}

// DefinitionChange is one difference between two definitions of a tool, or two forms of a launch. Before and After are
// JSON texts; "" = the part does not exist there.
type DefinitionChange struct{ Path, Before, After string }

// Question is a question of a server.
type Question struct {
	Payload json.RawMessage // the params as they came
	Message string
	URL     string // may be opened in a browser: see package browse
	URLHost string // in punycode
	Waiting bool   // consent was given; accept means that the user has finished
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
// are shown as the file spells them.
type LaunchQuestion struct {
	Command       string
	Args          []string
	Dir           string
	EnvNames      []string // the variables that the file sets
	EnvRefs       []string // the variables of the hub's environment that the file refers to
	InputRefs     []string // ids of the inputs that the file refers to
	EnvFile       string
	URL           string
	HeaderNames   []string
	Program       string           // absolute path of the program to run; "" if it is not known, or for a URL
	ProgramTarget string           // the file that Program leads to, if Program is a link
	ProgramFrom   string           // where Program was found, in words
	Inherited     []string         // names of the user's settings that the process inherits, with their present values
	Unresolved    string           // why Program is not known
	Env           []LaunchVariable // the variables that the file sets
	EnvFileNames  []string         // the variables that the EnvFile sets
	AllowedTools  []string         // the tools that the file wants to be called without a question
	Files         []string         // other files that the launch would read
	ConfigFile    string
	ConfigLine    int
	WrittenBy     string // the program that had the hub write the entry, "" if no program did
	WrittenIn     string // the id of the window that ordered it
	Hash          string // the consent is bound to this hash
	Changed       bool   // the user has agreed to an earlier form
	Changes       []DefinitionChange
}

// LaunchVariable is one variable that a file sets for a server, with its value as the file spells it.
type LaunchVariable struct {
	Name, Value string
	Unset       bool // the file removes the variable
	LoadsCode   bool // see config.LoadsCode
}

// InputQuestion asks for the value of an input of a config file.
type InputQuestion struct {
	InputID, Description string
	Secret               bool
	Default              string
	Options              []InputOption // nil = any text
	ConfigFile           string
	ConfigLine           int
}

// InputOption is one value to choose. Label is the text that a person reads; "" = the value.
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

// PromptAnswer is the answer of a window to a prompt. The comments on its fields say for which prompts and actions each
// of them is used.
type PromptAnswer struct {
	PromptID string
	Action   Action
	Scope    ApprovalScope // tool approval and server launch, accept
	Content  string        // JSON text: elicitation content, sampling result or value of an input, accept
	Reason   string        // decline
	// MuteServer says that the user wants no more questions of this server (Hub.MuteServer). It is used with a decline or
	// a dismiss of a server's question.
	MuteServer bool
	// KeptByHost says that the host keeps the value of an input and will answer again; the hub forgets the value when it
	// ends.
	KeptByHost bool
	// LaunchHash is the hash of the launch that the person saw as a whole when agreeing to it.
	LaunchHash string
	// Edited holds the params of a sampling request as the user has changed them, as JSON text. It is meant for a host
	// that runs the model: the hub refuses it.
	Edited string
}
