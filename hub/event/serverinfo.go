package event

import (
	"fmt"
	"time"
)

// ServerState is where a server's connection stands.
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

// Rests tells whether nothing of the server runs.
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

// String is the transport's word in the config.
func (t Transport) String() string { return transportNames[t] }

// SignInState is whether there is a token for a server; 0 = it has not asked for one.
type SignInState int

// Sign-in states.
const (
	SignInNeeded SignInState = iota + 1
	SignInAsking
	SignInSignedIn
)

// ServerStart is when a server is started.
type ServerStart int

// Server starts.
const (
	StartLazy  ServerStart = iota + 1 // on the first use
	StartEager                        // as soon as the config is read
)

// LaunchConsent is whether a server of a workspace file may be started; 0 = it needs no consent.
type LaunchConsent int

// Launch consents.
const (
	LaunchNeeded LaunchConsent = iota + 1
	LaunchAsking
	LaunchGiven
	LaunchDeclined
)

// ConfigOrigin is where a config entry stands.
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
	Dialect, Scope               string // of its config file
	ConfigName                   string // differs from Name where another entry has that by itself
	Shadows                      []ConfigOrigin
	Waiting                      []ConfigOrigin // entries of workspaces that would count after a yes
	Start                        ServerStart
	Failures                     int       // in a row
	NextStart                    time.Time // when the hub starts it again by itself; zero: it does not
	LastExit                     string    // how its process ended last
	LaunchConsent                LaunchConsent
	Muted                        bool  // it is to ask no questions
	MemoryLimit                  int64 // bytes
	Place                        int   // among all servers in config order, from 1
	// Incarnation tells apart the entries that have had this name, one after the other: an entry that goes from the config
	// and comes back has another.
	Incarnation uint64
}

// Beside tells whether another entry has the name by itself.
func (i *ServerInfo) Beside() bool { return i.ConfigName != "" && i.ConfigName != i.Name }

// Counters of a connection: traffic that harmed nobody.
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

// String is for logs and tests.
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

// ToolInfo shows one tool.
type ToolInfo struct {
	Server, Name, Title, Description string
	Definition                       string // JSON text
	Hash                             string
	Policy                           Policy
	Cached                           bool // as an earlier connection listed it
	// MCP Apps: the resource that draws its calls, "" for none, and who is not to call it.
	UIResource                       string
	HiddenFromModels, HiddenFromApps bool
}

// RememberedKind is what was answered for longer than once.
type RememberedKind int

// Kinds of what is remembered.
const (
	RememberedApproval RememberedKind = iota + 1
	RememberedLaunch
	RememberedInput
)

// Remembered is one answer of the user that holds for longer than once. A value of an input is never in it.
type Remembered struct {
	ID           string // for Forget
	Kind         RememberedKind
	Server, Tool string
	InputID      string
	Scope        ApprovalScope
	Folders      []string // ScopeWorkspace
	WindowID     string   // ScopeWindow
	Time         time.Time
	Hash         string // of the definition, or of the launch
}
