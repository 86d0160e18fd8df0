package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Source is one source of servers.
type Source struct {
	// Path is the file to read if JSON is nil. Otherwise it is only the name that problems and origins show, and may be
	// empty.
	Path string
	// JSON is the text; if it is not nil, no file is read.
	JSON []byte
	// Scope is "user", "workspace" or "host". Empty means "workspace", whose servers start only after the user has agreed.
	Scope string
	// Dialect is one of the Dialect constants. If it is empty, the file's name and content determine it.
	Dialect string
	// Folder is the absolute path of the workspace folder that the file belongs to, for ${workspaceFolder} and for servers
	// that run there. It is empty if there is none.
	Folder string
	// Trusted says that the host vouches for a workspace file: its servers start without a question.
	Trusted bool
}

// The dialects. A dialect determines which keys there are, the unit of a timeout, the grammar of variables, and the
// transport of a server without a type.
const (
	// {"servers": {}}: mcp.json of VS Code, and the same object in its settings or in a dev container
	DialectVSCode   = "vscode"
	DialectPortable = "portable"       // .mcp.json, mcp-config.json, Claude Code
	DialectRoo      = "roo"            // mcp_settings.json, .roo/mcp.json; Kilo Code's .kilocode/mcp.json
	DialectCline    = "cline"          // cline_mcp_settings.json, flat or nested
	DialectDesktop  = "claude-desktop" // claude_desktop_config.json
	DialectCursor   = "cursor"         // .cursor/mcp.json, and Windsurf's mcp_config.json
	DialectGemini   = "gemini"         // settings.json of Gemini CLI, and of Qwen Code
	DialectCodex    = "codex"          // config.toml of Codex
	DialectOpencode = "opencode"       // opencode.json
	DialectCrush    = "crush"          // crush.json
	// DialectMcpServers is {"mcpServers": {}} of unknown origin: it may have the keys of all applications, but no
	// variables, and no unit for a timeout.
	DialectMcpServers = "mcpServers"
)

// Origin is the place at which an entry was found.
type Origin struct {
	File string
	Line int // of the server's name, from 1
	// JSON pointer to the entry in the file (RFC 6901): "/mcpServers/github"; for TOML that of the same tables in JSON
	Pointer string
	Dialect string // one of the Dialect constants
	Scope   string // as in Source
	Folder  string // as in Source
	Trusted bool   // as in Source
	Writer  Writer // the program that had the hub write the entry as it is; zero if there is none. Read does not set it
}

// Writer is a program that had the hub write an entry.
type Writer struct {
	Name   string // for people; "" only in the zero Writer
	Window string // id of the window that ordered it; "" if there is none, or if it belongs to another hub
}

// NeedsConsent reports whether a person has to agree before anything of the entry is run or contacted: because it came
// with a folder, and nobody vouches for the author, or because a program had it written. An entry of neither the user
// nor the host counts as a workspace's.
func (o Origin) NeedsConsent() bool { return o.OfWorkspace() && !o.Trusted || o.Writer != (Writer{}) }

// OfWorkspace reports whether the entry came with a workspace.
func (o Origin) OfWorkspace() bool { return o.Scope != "user" && o.Scope != "host" }

// Place is the place at which a field of the normal form was found.
type Place struct {
	Line, Column int    // both from 1; Column counts characters
	Key          string // as it is written in the file, below the server's name, such as "autoApprove[1]"
}

// Server is one configured server in normal form.
//
// Its texts are as they are in the file: references to variables, inputs and the environment stay until
// [Server.Resolve], so that no secret is in memory before it is needed.
type Server struct {
	Name   string
	Origin Origin
	// Fields has the place of each field, by its name in the normal form: "command", "args", "env.NAME", "envFile", "cwd",
	// "url", "headers.Name", "disabled", "timeouts.total", "approvals.PATTERN", "tools.only", "tools.hidden", "start",
	// "watch", "transport", "oauth.clientId", "stop.stdin" and so on.
	Fields map[string]Place
	// Shadows are the entries of the same name that this one replaces. In the result of All, these have ShadowedBy set.
	Shadows    []Origin
	ShadowedBy *Origin
	// Behind are the entries of the same name that this one precedes. The first of them counts if this one does not. Load
	// sets it.
	Behind []Server

	// Transport is TransportStdio, TransportHTTP, TransportSSE or TransportAuto. "" is TransportStdio.
	Transport string

	// For a stdio server:

	Command string
	Args    []string
	// Program is the file that is executed, if the caller that starts the server has determined it; Command is then
	// argv[0]. If Program is "", Command is looked up.
	Program string
	// Environ is the complete environment of the process, and Searched says where Command was searched in vain, if the
	// caller that starts the server has determined them.
	Environ  []string
	Searched string
	// Env is added to the environment that the server inherits; a nil value removes a variable.
	Env map[string]*string
	// EnvRefs maps environment variables and headers to variables of the hub's environment that have their values. A
	// dialect that expands nothing has them instead of references (Codex), and the hub's own key inheritEnv sets them. Env
	// overrides EnvRefs, and EnvRefs overrides Header.
	EnvRefs map[string]string
	// BearerEnv is the variable of the hub's environment that holds the token for "Authorization: Bearer"; "" if there is
	// none.
	BearerEnv string
	// EnvFile is a file of further variables (NAME=value lines), which Env overrides; "" if there is none. It is read when
	// the server starts.
	EnvFile string
	// Dir is the working directory as written; if it is empty, the dialect determines it.
	Dir string
	// Watch are patterns of files below the working directory; a change of such a file restarts the server. "!" before a
	// pattern makes an exception.
	Watch []string

	// For a server behind a URL:

	// URL is absolute, http or https, without user information and fragment. Its query may be secret: DisplayURL may be
	// shown.
	URL string
	// Header is sent with each request. Names are canonical; values may be secret.
	Header map[string]string
	OAuth  OAuth

	Disabled bool
	// Start is StartLazy (on first use) or StartEager (when the config is read). "" means StartLazy.
	Start string
	// IdleStop is the time without use after which the server's process or session is ended; nil or 0 means never.
	IdleStop *time.Duration
	Timeouts Timeouts
	// Tools says which tools are visible. The others are treated as if the server did not have them.
	Tools ToolFilter
	// Inputs are the inputs of the file that the server refers to.
	Inputs []Input
	// Approvals maps tool names and patterns (see Match) to policies. Use Policy to read it.
	Approvals map[string]Policy
	// Era is "auto", "legacy" or "modern".
	Era   string
	Grace Grace
	// MaxMessageBytes bounds one message from the server, in bytes; 0 means the hub's default.
	MaxMessageBytes int
}

// The values of Server.Start.
const (
	StartLazy  = "lazy"
	StartEager = "eager"
)

// ToolFilter says which tools of a server are visible. Both lists hold names and patterns (see Match); Hidden wins.
type ToolFilter struct {
	// Only are the visible tools; nil means all, empty means none.
	Only   []string
	Hidden []string
}

// Visible reports whether a tool is visible.
func (f ToolFilter) Visible(tool string) bool {
	matches := func(pattern string) bool { return Match(pattern, tool) }
	return !slices.ContainsFunc(f.Hidden, matches) && (f.Only == nil || slices.ContainsFunc(f.Only, matches))
}

// Within reports whether of shows every tool that f shows, of whatever name. It goes by the lists alone, so it may
// report false for lists of patterns that are within each other.
func (f ToolFilter) Within(of ToolFilter) bool {
	covered := func(by []string) func(string) bool {
		return func(pattern string) bool {
			return slices.ContainsFunc(by, func(wider string) bool {
				return wider == pattern || wider == "*" || !strings.ContainsAny(pattern, "*?") && Match(wider, pattern)
			})
		}
	}
	for _, pattern := range of.Hidden {
		if !covered(f.Hidden)(pattern) {
			return false
		}
	}
	if of.Only == nil {
		return true
	}
	return f.Only != nil && !slices.ContainsFunc(f.Only, func(pattern string) bool { return !covered(of.Only)(pattern) })
}

// Input is a value that a file asks the user for: ${input:ID}.
type Input struct {
	ID, Description string
	// Secret says that the value is not shown while it is typed, and is kept in the place for secrets.
	Secret bool
	// Default is what the user is offered; "" if there is none.
	Default string
	// Options are the only valid values; nil means any text.
	Options []InputOption
	// Origin is the file and the line of the input.
	Origin Origin
}

// InputOption is a value of an input, and the text that a person reads.
type InputOption struct{ Value, Label string }

// Timeouts are the time limits of a server. nil means the hub's default, 0 means no limit.
type Timeouts struct {
	Connect *time.Duration // from the start of the process to the end of the handshake
	Idle    *time.Duration // without progress
	Total   *time.Duration // one call, human time not counted
	Human   *time.Duration // one question to the user
}

// Grace says how long each stage of stopping the server waits. 0 means the default, a negative value (written as 0 in
// the file) means no wait.
type Grace struct {
	Stdin     time.Duration // after its stdin is closed
	Terminate time.Duration // after SIGTERM
	Kill      time.Duration // after SIGKILL
}

// LaunchKey identifies what is run: if the key of an entry does not change, its server need not be restarted. Command,
// arguments, environment, directory, transport, URL, headers, sign-in, era and message limit change the key; name,
// origin, approvals, timeouts, graces, visible tools and disabled do not. References count as they are
// spelled, and together with the dialect: a new value of a variable does not change the key. The key is made from
// values that may be secret, so it must not be logged.
func (s *Server) LaunchKey() string {
	all := []string{"mcphub launch 3", s.Command}
	add := func(texts ...string) { all = append(all, texts...) }
	table := func(m map[string]string) {
		add(strconv.Itoa(len(m)))
		for _, name := range slices.Sorted(maps.Keys(m)) {
			add(name, m[name])
		}
	}
	add(strconv.Itoa(len(s.Args)))
	add(s.Args...)
	add(strconv.Itoa(len(s.Env)))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if value := s.Env[name]; value == nil {
			add(name, "unset")
		} else {
			add(name, "set", *value)
		}
	}
	add(s.EnvFile)
	table(s.EnvRefs)
	folder := s.Origin.Folder
	if folder == "" && s.Origin.Scope == "workspace" { // it runs in the folder of its file then
		folder = filepath.Dir(s.Origin.File)
	}
	add(s.BearerEnv, s.Dir, folder, cmp.Or(s.Era, "auto"), strconv.Itoa(s.MaxMessageBytes))
	if transport := cmp.Or(s.Transport, TransportStdio); transport != TransportStdio {
		add(transport, s.URL)
		table(s.Header)
		o := s.OAuth
		add(o.ClientID, o.ClientSecret, o.ClientMetadataURL, strconv.Itoa(o.RedirectPort), o.Grant, o.PrivateKeyPEM,
			o.SigningAlgorithm, o.IDP.Issuer, o.IDP.TokenEndpoint, o.IDP.ClientID, o.IDP.IDToken, strconv.Itoa(len(o.Scopes)),
			o.WorkloadToken, o.WorkloadTokenFile, o.DPoP)
		add(o.Scopes...)
	}
	// The same reference has another meaning in another dialect.
	if slices.ContainsFunc(all, func(text string) bool { return strings.ContainsAny(text, "${") }) {
		add(s.Origin.Dialect)
	}
	h := sha256.New()
	for _, text := range all { // with its length, so that different lists of texts never look the same
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
