package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Source is one place to read servers from.
type Source struct {
	// Path is the file to read when JSON is nil; else only the name that
	// problems and origins show, and may be empty.
	Path string
	// JSON is the text itself.
	JSON []byte
	// Scope says whose it is: "user", "workspace" or "host". Empty means "workspace", whose servers start only after a
	// question.
	Scope string
	// Dialect is one of the Dialect constants; empty leaves it to the file's name and content.
	Dialect string
	// Folder is the workspace folder that the file belongs to, an absolute path, for ${workspaceFolder} and for servers
	// that run there. Empty: none.
	Folder string
	// Trusted says that the host answers for a workspace file: its servers start without a question.
	Trusted bool
}

// The dialects: whose file it is. A dialect decides which keys there are, the unit of a timeout, the grammar of
// variables, and what a server without a type is.
const (
	// {"servers": {}}: mcp.json of VS Code, and the same in its settings or a dev container
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
	// DialectMcpServers is {"mcpServers": {}} of which nothing more can be told: the keys of all, no variables, and no
	// unit for a timeout.
	DialectMcpServers = "mcpServers"
)

// Origin is where an entry was found.
type Origin struct {
	File string
	Line int // of the server's name, from 1
	// of the entry in the file, as RFC 6901 writes it: "/mcpServers/github"; in TOML that of the same tables in JSON
	Pointer string
	Dialect string // one of the Dialect constants
	Scope   string // as in Source
	Folder  string // as in Source
	Trusted bool   // as in Source
	Writer  Writer // who had the hub write the entry as it is; the zero Writer: no program did. Read leaves it out
}

// Writer is a program that had the hub write an entry.
type Writer struct {
	Name   string // for people; never "" but in the zero Writer
	Window string // id of the window by which it was ordered, "" = it was none, or is one of another hub
}

// NeedsConsent tells whether a person has to agree before anything of the entry is run or contacted: it came with a
// folder, whose author nobody vouches for, or a program had it written. What is neither the user's nor the host's is
// taken for a workspace's.
func (o Origin) NeedsConsent() bool { return o.OfWorkspace() && !o.Trusted || o.Writer != (Writer{}) }

// OfWorkspace tells whether the entry came with a workspace.
func (o Origin) OfWorkspace() bool { return o.Scope != "user" && o.Scope != "host" }

// Place is where a field of the normal form was found.
type Place struct {
	Line, Column int    // both from 1; Column counts characters
	Key          string // as it is spelled in the file, below the server's name: "autoApprove[1]" say
}

// Server is one configured server in normal form.
//
// Its texts are as they are in the file: references to variables, inputs and the environment stay references until
// [Server.Resolve], so that nothing secret is in memory that is not needed.
type Server struct {
	Name   string
	Origin Origin
	// Fields says for each field where it came from, by its name in the normal form: "command", "args", "env.NAME",
	// "envFile", "cwd", "url", "headers.Name", "disabled", "timeouts.total", "approvals.PATTERN", "tools.only",
	// "tools.hidden", "start", "memory", "watch", "transport", "oauth.clientId", "stop.stdin" and so on.
	Fields map[string]Place
	// Shadows are the entries of the same name that this one replaces; ShadowedBy is set in the list of All for those.
	Shadows    []Origin
	ShadowedBy *Origin
	// Behind are the entries of the same name that this one goes before, first the one that counts if this one does not.
	// Load fills it.
	Behind []Server

	// Transport is TransportStdio, TransportHTTP, TransportSSE or TransportAuto. "" is TransportStdio.
	Transport string

	// For a stdio server:

	Command string
	Args    []string
	// Program is the file that is executed, where whoever starts the server has fixed it; Command is its argv[0] then. "":
	// Command is looked up.
	Program string
	// Environ is the complete environment of the process, and Searched where Command was looked for in vain, where whoever
	// starts the server has fixed them.
	Environ  []string
	Searched string
	// Env goes on top of what the server inherits; nil removes a variable.
	Env map[string]*string
	// EnvRefs are environment variables and headers, by their names, whose value is that of a variable where the hub runs.
	// A dialect that expands nothing has them instead of references (Codex), and the hub's own key inheritEnv fills them.
	// Of one name Env wins over it, and it wins over Header.
	EnvRefs map[string]string
	// BearerEnv is the variable where the hub runs with the token for "Authorization: Bearer"; "" = none.
	BearerEnv string
	// EnvFile is a file of further variables (NAME=value lines), below those of Env; empty: none. It is read when the
	// server starts.
	EnvFile string
	// Dir is the working directory as written; empty leaves it to the dialect.
	Dir string
	// Memory is what the server and all that it starts may use, in bytes; 0 = no limit.
	Memory int64
	// Watch are patterns of files below the working directory whose change restarts the server; "!" before one excepts.
	Watch []string

	// For a server behind a URL:

	// URL is absolute, http or https, without user information and fragment. Its query may be secret: show DisplayURL.
	URL string
	// Header goes out with each request; names are canonical, values may be secret.
	Header map[string]string
	OAuth  OAuth

	Disabled bool
	// Start is StartLazy, on the first use, or StartEager, as soon as the config is read. "" is StartLazy.
	Start string
	// IdleStop ends the server's process or session when nothing has used it for so long; nil or 0: never.
	IdleStop *time.Duration
	Timeouts Timeouts
	// Tools says which tools there are for the user; the others are as if the server had none of them.
	Tools ToolFilter
	// Inputs are those of its file that it refers to.
	Inputs []Input
	// Approvals maps tool names and patterns (see Match) to policies; read it
	// through Policy.
	Approvals map[string]Policy
	// Era is "auto", "legacy" or "modern".
	Era   string
	Grace Grace
	// MaxMessageBytes caps one message from the server; 0 means the hub's default.
	MaxMessageBytes int
}

// The values of Server.Start.
const (
	StartLazy  = "lazy"
	StartEager = "eager"
)

// ToolFilter says which tools of a server are visible. Both lists hold names and patterns (see Match); Hidden wins.
type ToolFilter struct {
	// Only are the visible ones; nil: all, empty: none.
	Only   []string
	Hidden []string
}

// Visible tells whether a tool passes.
func (f ToolFilter) Visible(tool string) bool {
	matches := func(pattern string) bool { return Match(pattern, tool) }
	return !slices.ContainsFunc(f.Hidden, matches) && (f.Only == nil || slices.ContainsFunc(f.Only, matches))
}

// Input is a value that a file asks the user for: ${input:ID}.
type Input struct {
	ID, Description string
	// Secret: the value is not shown while it is typed, and kept where secrets are.
	Secret bool
	// Default is what the user is offered; "" = nothing.
	Default string
	// Options are the only values that are right; nil: any text.
	Options []InputOption
	// Origin is the file, and the line of the input.
	Origin Origin
}

// InputOption is one value of an input, with what a person reads.
type InputOption struct{ Value, Label string }

// Timeouts are the clocks of a server. nil means the hub's default, 0 no limit.
type Timeouts struct {
	Connect *time.Duration // from the start of the process to the end of the handshake
	Idle    *time.Duration // without progress
	Total   *time.Duration // one call, human time not counted
	Human   *time.Duration // one question to the user
}

// Grace is how long each stage of stopping the server waits. 0 means the
// default, a negative value (written as 0 in the file) no wait.
type Grace struct {
	Stdin     time.Duration // after its stdin is closed
	Terminate time.Duration // after SIGTERM
	Kill      time.Duration // after SIGKILL
}

// LaunchKey identifies what is run: two servers with the same key need no restart
// to become one another. Command, arguments, environment, directory, transport,
// URL, headers, sign-in, era and message cap change it; name, origin, approvals,
// timeouts, graces, memory limit, visible tools and disabled do not. Variables count as they are spelled, and in which
// dialect: a new value of a token changes nothing. It is made from values that may be
// secret: compare it, do not log it.
func (s *Server) LaunchKey() string {
	h := &launch{Hash: sha256.New()}
	text(h, "mcphub launch 3")
	text(h, s.Command)
	text(h, strconv.Itoa(len(s.Args)))
	for _, arg := range s.Args {
		text(h, arg)
	}
	text(h, strconv.Itoa(len(s.Env)))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		text(h, name)
		if value := s.Env[name]; value == nil {
			text(h, "unset")
		} else {
			text(h, "set")
			text(h, *value)
		}
	}
	text(h, s.EnvFile)
	text(h, strconv.Itoa(len(s.EnvRefs)))
	for _, name := range slices.Sorted(maps.Keys(s.EnvRefs)) {
		text(h, name)
		text(h, s.EnvRefs[name])
	}
	text(h, s.BearerEnv)
	text(h, s.Dir)
	folder := s.Origin.Folder
	if folder == "" && s.Origin.Scope == "workspace" { // it runs beside its file then
		folder = filepath.Dir(s.Origin.File)
	}
	text(h, folder)
	text(h, cmp.Or(s.Era, "auto"))
	text(h, strconv.Itoa(s.MaxMessageBytes))
	if transport := cmp.Or(s.Transport, TransportStdio); transport != TransportStdio {
		text(h, transport)
		text(h, s.URL)
		text(h, strconv.Itoa(len(s.Header)))
		for _, name := range slices.Sorted(maps.Keys(s.Header)) {
			text(h, name)
			text(h, s.Header[name])
		}
		s.OAuth.write(h)
	}
	if h.refers {
		text(h, s.Origin.Dialect) // the same reference means something else in another dialect
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// launch is what goes into a launch key, and whether something in it may be a reference.
type launch struct {
	hash.Hash
	refers bool
	line   []byte // kept for the next text
}

// text writes with its length, so that no two lists of strings look the same.
func text(h *launch, s string) {
	h.refers = h.refers || strings.ContainsAny(s, "${")
	h.line = append(append(strconv.AppendInt(h.line[:0], int64(len(s)), 10), ':'), s...)
	h.Write(h.line)
}
