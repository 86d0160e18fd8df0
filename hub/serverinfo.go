package hub

import (
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
)

var serverStateNames = [...]string{"", "stopped", "connecting", "ready", "stopping", "failed", "disabled", "broken"}

func (s ServerState) String() string { return serverStateNames[s] }

// Transport is how a server is reached; 0 = not known yet.
type Transport int

// Transports.
const (
	TransportStdio Transport = iota + 1
	TransportHTTP
	TransportSSE
)

// SignInState is whether there is a token for a server; 0 = it has not asked for one.
type SignInState int

// Sign-in states.
const (
	SignInNeeded SignInState = iota + 1
	SignInAsking
	SignInSignedIn
)

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
}

// Counters of a connection: traffic that harmed nobody.
type Counters struct {
	LateResponses, UnknownResponses, BadLines, UnknownCancels, MalformedCancels, SuppressedResponses, DroppedNotifications uint64
}

// ConfigProblem is a fault of a config entry.
type ConfigProblem struct {
	File         string
	Line, Column int
	Server, Key  string
	Message      string
	Fatal        bool
}

// ConfigSource is one config file or its text. Scope is "user", "workspace" or "host".
type ConfigSource struct{ Path, JSON, Scope string }

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
}
