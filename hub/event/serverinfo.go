package event

import (
	"fmt"
	"time"
)

// ServerState is the state of a server's connection.
type ServerState int

// Server states.
const (
	ServerStopped ServerState = iota + 1
	ServerConnecting
	ServerReady
	ServerStopping
	ServerFailed
	ServerDisabled
	ServerBroken
	ServerGivenUp // it failed too often in a row
)

var serverStateNames = [...]string{"", "stopped", "connecting", "ready", "stopping", "failed", "disabled", "broken",
	"given_up"}

func (s ServerState) String() string { return serverStateNames[s] }

// Rests reports whether nothing of the server runs.
func (s ServerState) Rests() bool {
	return s != ServerConnecting && s != ServerReady && s != ServerStopping
}

// Transport is how a server is reached; 0 = not known yet.
type Transport int

// Transports.
const (
	TransportStdio Transport = iota + 1
	TransportHTTP
	TransportSSE
)

var transportNames = [...]string{"", "stdio", "http", "sse"}

// String returns the word for the transport that configs use.
func (t Transport) String() string { return transportNames[t] }

// SignInState says whether there is a token for a server; 0 = the server has not asked for one.
type SignInState int

// Sign-in states.
const (
	SignInNeeded SignInState = iota + 1
	SignInAsking
	SignInSignedIn
)

// ServerStart says when a server is started.
type ServerStart int

// Server starts.
const (
	StartLazy  ServerStart = iota + 1 // on the first use
	StartEager                        // as soon as the config is read
)

// LaunchConsent says whether a server of a workspace file may be started; 0 = it needs no consent.
type LaunchConsent int

// Launch consents.
const (
	LaunchNeeded LaunchConsent = iota + 1
	LaunchAsking
	LaunchGiven
	LaunchDeclined
)

func (c LaunchConsent) String() string {
	return [...]string{"", "needed", "asking", "given", "declined"}[c]
}

// ConfigOrigin is the place of a config entry.
type ConfigOrigin struct {
	File           string
	Line           int
	Dialect, Scope string
}

// ServerInfo shows one server.
type ServerInfo struct {
	Name                         string
	State                        ServerState
	Era                          Era
	Revision                     string
	Title, Version, Instructions string // untrusted
	Capabilities                 string // JSON text
	PID                          int
	LastError                    string
	Stderr                       []string // untrusted
	ConfigFile                   string
	ConfigLine                   int
	Problems                     []ConfigProblem
	Ready                        time.Time
	Command                      string
	Transport                    Transport
	URL                          string // without query and user information
	SignIn                       SignInState
	Counters                     Counters
	Dialect, Scope               string // those of its config file
	ConfigName                   string // name in the config; not Name if another entry has that by itself
	Shadows                      []ConfigOrigin
	Waiting                      []ConfigOrigin // entries of workspaces that would count after a consent
	Start                        ServerStart
	Failures                     int       // in a row
	NextStart                    time.Time // when the hub will start it again by itself; zero if it will not
	LastExit                     string    // how its last process ended
	LaunchConsent                LaunchConsent
	Muted                        bool // the user wants no questions of the server
	Place                        int  // among all servers in config order, from 1
	// Incarnation tells apart the entries that have had this name one after the other: an entry that is removed from the
	// config and comes back has a new number.
	Incarnation uint64
}

// Beside reports whether the server is listed beside another entry that has the name by itself.
func (i *ServerInfo) Beside() bool { return i.ConfigName != "" && i.ConfigName != i.Name }

// Counters count traffic of a connection that was wrong but did no harm.
type Counters struct {
	LateResponses, UnknownResponses, BadLines, UnknownCancels, MalformedCancels, SuppressedResponses,
	DroppedNotifications uint64
}

// ConfigProblem is a fault of a config entry.
type ConfigProblem struct {
	File         string
	Line, Column int
	Server, Key  string
	Message      string
	Fatal        bool
}

// String returns the problem in a form for logs and tests.
func (p ConfigProblem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s: %s", p.File, p.Line, p.Column, p.Server, p.Key, p.Message)
}

// Policy says whether a tool may be called.
type Policy int

// Policies.
const (
	PolicyAllow Policy = iota + 1
	PolicyAsk
	PolicyDeny
)

// String returns the word in the config.
func (p Policy) String() string { return [...]string{"", "allow", "ask", "deny"}[p] }

// ToolInfo shows one tool.
type ToolInfo struct {
	Server, Name, Title, Description string
	Definition                       string // JSON text
	Hash                             string
	Policy                           Policy
	Cached                           bool // the definition comes from an earlier connection
	// For MCP Apps: the resource that draws its calls, "" = none, and who must not call it.
	UIResource                       string
	HiddenFromModels, HiddenFromApps bool
}

// RememberedKind is the kind of an answer that holds for longer than once.
type RememberedKind int

// Kinds of remembered answers.
const (
	RememberedApproval RememberedKind = iota + 1
	RememberedLaunch
	RememberedInput
)

// Remembered is one answer of the user that holds for longer than once. A value of an input is never in it.
type Remembered struct {
	ID           string // the id for Forget
	Kind         RememberedKind
	Server, Tool string
	InputID      string
	Scope        ApprovalScope
	Folders      []string // for ScopeWorkspace
	WindowID     string   // for ScopeWindow
	Time         time.Time
	Hash         string // the hash of the definition or of the launch
}

// ResourceInfo shows one resource. All of it is untrusted.
type ResourceInfo struct {
	Server, URI, Name, Title, Description, MIMEType string
	Size                                            *int64 // nil if the server does not say
	Definition                                      string // JSON text
}

// ResourceTemplateInfo shows one template for the URIs of further resources. All of it is untrusted.
type ResourceTemplateInfo struct {
	Server, URITemplate, Name, Title, Description, MIMEType string
	Definition                                              string   // JSON text
	Variables                                               []string // each name once, in the template's order
	Problem                                                 string   // why it is not a URI template; "" = it is one
}

// McpPromptInfo shows one prompt template of a server, which MCP calls a prompt. All of it is untrusted.
type McpPromptInfo struct {
	Server, Name, Title, Description string
	Arguments                        []McpPromptArgument
	Definition                       string // JSON text
}

// McpPromptArgument is one argument of a prompt template.
type McpPromptArgument struct {
	Name, Title, Description string
	Required                 bool
}
