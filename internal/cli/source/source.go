// Package source has the flags that say where servers come from: config files, a command, a URL, or the files of this
// user. It makes the config for the hub of them, and prints the problems of a config.
//
// What must not live here: the dialects of config files (hub/config).
package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The names of the servers that --stdio and --url describe.
const (
	stdioServer = "stdio"
	urlServer   = "url"
)

// Flags say where the servers come from: config files, one command, one URL, or, if there is no such flag, the
// files in which this user's applications keep their servers.
type Flags struct {
	Configs []string
	Origins Origins // for the config files
	stdio   string
	env     []string // NAME=VALUE, for the one server
	remote  urlFlags
	era     string
	connect *time.Duration // nil: as in the config
	given   []string       // the words of the command line, besides its flags
}

// ConnectTimeout returns what --connect-timeout says, nil if it is not given.
func (s *Flags) ConnectTimeout() *time.Duration { return s.connect }

// Take divides the words of a command line that are not flags into config files, which it keeps, and names, which it
// returns. Only the spelling decides: a path has a separator or ends as config files do, and the URI of a resource is
// not a path.
func (s *Flags) Take(words []string) (names []string) {
	s.Configs = slices.Clip(s.Configs) // completion takes words with a copy of s
	for _, w := range words {
		if isPath(w) {
			s.Configs = append(s.Configs, w)
		} else {
			names = append(names, w)
		}
	}
	s.given = words
	return names
}

// isPath also reports files of a kind that is not read, so that the error names the file.
func isPath(word string) bool {
	switch strings.ToLower(filepath.Ext(word)) {
	case ".json", ".jsonc", ".toml", ".code-workspace", ".yaml", ".yml":
		return !strings.Contains(word, "://")
	}
	return strings.ContainsAny(word, "/"+string(filepath.Separator)) && !strings.Contains(word, "://")
}

// Register defines the flags.
func (s *Flags) Register(c *cobra.Command) {
	set := c.Flags()
	set.StringArrayVar(&s.Configs, "config", nil, "FILE\tconfig file; may be repeated: a later one wins")
	s.Origins.Register(c, set)
	set.StringVar(&s.stdio, "stdio", "",
		"'CMD ARGS'\trun this, in the current folder, as the one server, named stdio; no shell reads it")
	set.StringArrayVar(&s.env, "env", nil, "NAME=VALUE\tset this variable for the one server, over what its entry says; "+
		"other users of this machine can see it here; NAME alone passes that of the environment; may be repeated")
	s.remote.register(set)
	cmd.ChoiceFlag(set, &s.era, "era", "auto|legacy|modern", "era of the protocol; default: what the config says, else auto")
	cmd.OptionalDuration(set, &s.connect, "connect-timeout",
		"DUR\tgive a server this long to start; 0: no limit; default: what the config says")
}

// Single returns the name of the only server if the command line itself describes it, "" if config files do.
func (s *Flags) Single() string {
	switch {
	case s.stdio != "":
		return stdioServer
	case s.remote.url != "":
		return urlServer
	}
	return ""
}

// runners run what their arguments name. Who forgets the quotes around a command gives them alone.
var runners = []string{"python", "python3", "node", "npx", "uv", "uvx", "bun", "bunx", "deno", "docker", "podman", "sh",
	"bash", "cmd", "java", "dotnet", "ruby", "php"}

// Check returns an error if the flags themselves are wrong.
func (s *Flags) Check() error {
	switch {
	case s.Own() && (s.Origins.Scope != "" || s.Origins.Dialect != ""):
		return errors.New("--scope and --dialect say what a FILE is, and none is named")
	case len(s.env) > 0 && s.remote.url != "":
		return errors.New("--env is for a server that is started here, and that of --url is reached")
	case s.oneWord() && slices.ContainsFunc(s.given, isPath):
		return s.unquoted()
	case len(s.Configs) > 0 && s.Single() != "":
		return fmt.Errorf("--config and --%[1]s exclude each other: --%[1]s is a config of its own", s.Single())
	case s.stdio != "" && s.remote.url != "":
		return errors.New("--stdio and --url exclude each other: each is the one server")
	case slices.Contains(runners, s.stdio):
		return s.unquoted()
	}
	if err := s.remote.check(); err != nil {
		return err
	}
	if s.Single() != "" && s.Origins != (Origins{}) {
		return errors.New("--folder, --scope and --dialect go with --config FILE")
	}
	if err := s.Origins.Check(); err != nil {
		return err
	}
	if s.Own() && len(s.Origins.Sources(nil)) == 0 {
		for _, name := range s.given {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				return fmt.Errorf("%q is read as the name of a server; as a config file it is --config %[1]s", name)
			}
		}
		return ErrNoServer
	}
	for _, file := range s.Configs {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return &NoFileError{file}
		}
	}
	return nil
}

// oneWord reports whether --stdio holds one word alone. Then the other words of the command line may be the rest of
// its command.
func (s *Flags) oneWord() bool { return s.stdio != "" && !strings.ContainsAny(s.stdio, " \t") }

// unquoted is the error for a command whose other words are, or may be, arguments of their own.
func (s *Flags) unquoted() error {
	next := "..."
	if len(s.given) > 0 {
		next = s.given[0]
	}
	return fmt.Errorf("--stdio takes the whole command as one text: --stdio '%s %s'", s.stdio, next)
}

// TooMany is the error for a word that has no meaning on the command line; form, which may be "", is what may stand
// there.
func (s *Flags) TooMany(word, form string) error {
	if s.oneWord() {
		return s.unquoted()
	}
	return cmd.TooMany(word, form)
}

// ErrNoServer is returned if no server is named and the user's own files have none.
var ErrNoServer = errors.New("no server is known: no application of yours keeps any where mcphub config places looks; " +
	"name a config file with --config FILE, a server's command with --stdio 'CMD ARGS', or its address with --url URL")

// NoFileError is the error for a config file that does not exist.
type NoFileError struct{ file string }

// Error says which file it is.
func (e *NoFileError) Error() string {
	return fmt.Sprintf("--config %s: there is no such file", e.file)
}

// Own reports whether the servers are those of the user's own files.
func (s *Flags) Own() bool { return len(s.Configs) == 0 && s.Single() == "" }

// files returns the config files with their scopes and dialects. The user has named them, at the terminal or in a
// script, so they count as the user's unless --scope says that they are a workspace's.
func (s *Flags) files() []config.Source {
	if s.Own() {
		return s.Origins.Sources(nil)
	}
	sources := make([]config.Source, len(s.Configs))
	for i, file := range s.Configs {
		sources[i] = config.Source{Path: file, Scope: cmp.Or(s.Origins.Scope, "host"), Dialect: s.Origins.Dialect,
			Folder: s.Origins.Workspace()}
	}
	return sources
}

// OfOneServer returns the names of the given flags that change the entry of one server.
func (s *Flags) OfOneServer() string {
	var names []string
	for name, given := range map[string]bool{"--env": len(s.env) > 0, "--era": s.era != "",
		"--connect-timeout": s.connect != nil} {
		if given {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " and ")
}

// CheckAllServers returns an error if flags that change the entry of one server are given to a command for all servers.
func (s *Flags) CheckAllServers() error {
	if flags := s.OfOneServer(); flags != "" && s.Single() == "" {
		return fmt.Errorf("%s: this is for the one server of --stdio or --url: in a config file, set the keys env, era and "+
			"timeouts in the server's entry", flags)
	}
	return nil
}

// Sources returns the config for the hub. It sets what the flags say about a server in the entry with the name server;
// if that is "", in none.
func (s *Flags) Sources(server string) ([]*mcphubv1.ConfigSource, error) {
	environment, err := s.environment()
	text := ""
	switch {
	case s.stdio != "":
		text, err = s.stdioConfig()
	case s.remote.url != "":
		text, err = s.remote.config(s.era, s.connect)
	}
	if err != nil {
		return nil, err
	}
	if text != "" {
		return []*mcphubv1.ConfigSource{{Path: "--" + s.Single(), Scope: "host", Json: text}}, nil
	}
	for name, value := range environment {
		if strings.ContainsAny(value, "$`") || strings.Contains(value, "{env:") || strings.Contains(value, "{file:") {
			return nil, fmt.Errorf("--env %s: its value has characters that a config file reads as a reference; set it in the "+
				"server's entry", name)
		}
	}
	files := s.files()
	reached := s.OfOneServer() == "" || server == ""
	sources := make([]*mcphubv1.ConfigSource, len(files))
	at := s.placeOf(server)
	for i, f := range files {
		sources[i] = &mcphubv1.ConfigSource{Path: f.Path, Scope: f.Scope, Dialect: f.Dialect, Folder: f.Folder}
		if s.OfOneServer() == "" || server == "" || s.Own() && f.Path != at {
			continue
		}
		sources[i].Json = s.withFlags(f, server, environment)
		reached = reached || sources[i].Json != ""
	}
	if !reached && slices.Contains(s.ServerNames(), server) {
		return nil, fmt.Errorf("%s: the entry of %s stands where this does not reach: set the keys env, era and timeouts "+
			"in it", s.OfOneServer(), console.ShortName(server))
	}
	return sources, nil
}

// placeOf returns the user's own file that has the server, "" if none has.
func (s *Flags) placeOf(server string) string {
	if !s.Own() || server == "" {
		return ""
	}
	loaded, _ := config.Load(s.files())
	for _, l := range loaded {
		if l.Name == server {
			return l.Origin.File
		}
	}
	return ""
}

// Choose returns the server for a command line that names none: the only server that there is.
func (s *Flags) Choose() (server string, err error) {
	if s.Single() != "" {
		return s.Single(), nil
	}
	switch names := s.ServerNames(); len(names) {
	case 0:
		return "", errors.New("which server of the config? --server NAME; mcphub servers lists them")
	case 1:
		return names[0], nil
	default:
		for i, n := range names {
			names[i] = console.ShortName(n)
		}
		more := ""
		if len(names) > 10 {
			names, more = names[:10], " and more"
		}
		return "", fmt.Errorf("which server of the config? --server NAME; there are %s%s", strings.Join(names, ", "), more)
	}
}

// ServerOf returns the one server that names, the names of a command line, or the flags mean.
func (s *Flags) ServerOf(names []string) (string, error) {
	single := s.Single()
	switch {
	case len(names) > 1:
		return "", s.TooMany(names[1], "")
	case len(names) == 1 && slices.Contains(runners, s.stdio):
		return "", s.unquoted()
	case len(names) == 1 && single != "":
		return "", fmt.Errorf("SERVER names a server of a --config file; the server of --%s is the only one", single)
	case len(names) == 1:
		return names[0], nil
	}
	if err := s.Check(); err != nil {
		return "", err
	}
	return s.Choose()
}

// Words splits the command line that a flag holds into words as a shell does it, but nothing in it is expanded or run.
// Text that looks like an operator is an error, so that nothing is silently cut off.
func Words(flag, line string) ([]string, error) {
	parser := shellwords.NewParser()
	parser.ParseEnv, parser.ParseBacktick, parser.ParseComment = false, false, false
	words, err := parser.Parse(line)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--%s %q: %v", flag, line, err)
	case parser.Position >= 0:
		return nil, fmt.Errorf("--%s %q: no shell reads this, so ; & | < > must be quoted", flag, line)
	case len(words) == 0:
		return nil, fmt.Errorf("--%s: the command is empty", flag)
	}
	return words, nil
}

// stdioConfig returns the config of one server for a command line.
func (s *Flags) stdioConfig() (string, error) {
	words, err := Words("stdio", s.stdio)
	if err != nil {
		return "", err
	}
	environment, err := s.environment()
	if err != nil {
		return "", err
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("--stdio runs in the current folder, and that is not known: %v", err)
	}
	return configOf(stdioServer, entry{Command: words[0], Args: words[1:], Cwd: folder, Env: environment, Era: s.era},
		s.connect)
}

// entry is the entry of a server that the command line describes.
type entry struct {
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	URL      string            `json:"url,omitempty"`
	Type     string            `json:"type,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Era      string            `json:"era,omitempty"`
	Timeouts map[string]string `json:"timeouts,omitempty"`
}

// configOf returns a config with one entry.
func configOf(name string, e entry, connect *time.Duration) (string, error) {
	if connect != nil {
		e.Timeouts = map[string]string{"connect": connect.String()}
	}
	text, err := json.Marshal(map[string]map[string]entry{"mcpServers": {name: e}})
	return string(text), err
}

// environment returns the variables of --env. No message quotes a value, since it may be secret.
func (s *Flags) environment() (map[string]string, error) {
	set := make(map[string]string, len(s.env))
	for _, v := range s.env {
		name, value, ok := strings.Cut(v, "=")
		if name == "" {
			return nil, errors.New("--env: it is NAME=VALUE or NAME, and one of them has no name")
		}
		if _, twice := set[name]; twice {
			return nil, fmt.Errorf("--env %s: is given twice", name)
		}
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, fmt.Errorf("--env %s: there is no such variable in the environment; NAME=VALUE gives one", name)
			}
		}
		set[name] = value
	}
	return set, nil
}

// withFlags returns the text of a config file with what the flags say in the entry of server. All other bytes stay as
// they are, so that problems keep their places. If that cannot be, it returns "": the hub then reads the file itself
// and reports what is wrong.
func (s *Flags) withFlags(f config.Source, server string, environment map[string]string) string {
	text, err := os.ReadFile(f.Path)
	if err != nil {
		return ""
	}
	f.JSON = text
	found, err := edit.EntryOf(f, server)
	if err != nil {
		return ""
	}
	patch := map[string]any{}
	if len(environment) > 0 {
		key := "env"
		if found.Dialect == config.DialectOpencode {
			key = "environment"
		}
		patch[key] = environment
	}
	change := edit.Update{}
	if s.era != "" {
		patch["era"] = s.era
	}
	if s.connect != nil {
		change.Settings.Timeouts = map[string]*time.Duration{"connect": s.connect}
	}
	merge, err := json.Marshal(patch)
	if err != nil {
		panic(err) // strings always marshal
	}
	change.Patch = string(merge)
	out, err := edit.Change(f, server, change)
	if err != nil {
		return ""
	}
	return string(out.Text)
}

// Help says where the servers of a command come from.
const Help = `The servers are those of the config files that are named, as arguments or with --config; of
--stdio; of --url; or else those of this user and of the folder, as mcphub config check finds them. An argument is a
file when it has a path separator in it or ends in .json, .jsonc or .toml.
`

// urlFlags describe one server with a URL. Their values may be secret, above all those of headers, so no message quotes
// them.
type urlFlags struct {
	url       string
	transport string
	headers   []string
}

func (u *urlFlags) register(set *pflag.FlagSet) {
	set.StringVar(&u.url, "url", "", "URL\tuse the server there as the one server, named url")
	cmd.ChoiceFlag(set, &u.transport, "transport", "http|sse",
		"with --url: Streamable HTTP, or the older HTTP with SSE; default: find out")
	set.StringArrayVar(&u.headers, "header", nil,
		"NAME:VALUE\twith --url: send this header with each request; may be repeated")
}

// check returns an error if the flags are wrong, by the rules for config files.
func (u *urlFlags) check() error {
	if u.url == "" {
		switch {
		case u.transport != "":
			return errors.New("--transport goes with --url URL")
		case len(u.headers) > 0:
			return errors.New("--header goes with --url URL")
		}
		return nil
	}
	text, err := u.config("", nil)
	if err != nil {
		return err
	}
	_, problems := config.Load([]config.Source{{Scope: "host", JSON: []byte(text)}})
	for _, p := range problems {
		if header, ok := strings.CutPrefix(p.Key, "headers."); ok && p.Fatal {
			return errors.New(strings.TrimSpace("--header "+showable(header)) + ": " + p.Message)
		}
		if p.Fatal {
			return fmt.Errorf("--%s: %s", p.Key, p.Message)
		}
	}
	return nil
}

// showable returns the name of a header, unless it looks like something else, such as a part of a value.
func showable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	}) {
		return ""
	}
	return name
}

// config returns the config of the server.
func (u *urlFlags) config(era string, connect *time.Duration) (string, error) {
	headers := make(map[string]string, len(u.headers))
	seen := make(map[string]bool, len(u.headers))
	for _, h := range u.headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok {
			return "", errors.New("--header: a header is NAME:VALUE, and one of them has no colon")
		}
		if canonical := textproto.CanonicalMIMEHeaderKey(name); seen[canonical] {
			return "", errors.New(strings.TrimSpace("--header "+showable(name)) + ": is given twice")
		} else {
			seen[canonical] = true
		}
		headers[name] = strings.Trim(value, " \t")
	}
	return configOf(urlServer, entry{URL: u.url, Type: u.transport, Headers: headers, Era: era}, connect)
}

// Load gives the hub its config and prints the problems; with server, only those of this server and of the files.
// whole is false if a file could not be read.
func Load(ctx context.Context, s console.Streams, servers mcphubv1.McpServerServiceClient,
	sources []*mcphubv1.ConfigSource, server string) (whole bool, err error) {
	r, err := servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: sources})
	if err != nil {
		return false, exit.FailureOf(err)
	}
	whole = true
	for _, p := range r.GetProblems() {
		whole = whole && (!p.GetFatal() || p.GetServer() != "")
		if server == "" || p.GetServer() == "" || p.GetServer() == server {
			s.Tell("%s", ProblemLineOf(p))
		}
	}
	loaded, _ := config.Load(ConfigSources(sources))
	for _, l := range loaded {
		if !l.Disabled && (server == "" || l.Name == server) {
			WarnUnresolved(s, l, Variables(nil))
		}
	}
	return whole, nil
}

// ConfigSources returns sources as package config reads them.
func ConfigSources(sources []*mcphubv1.ConfigSource) []config.Source {
	read := make([]config.Source, len(sources))
	for i, s := range sources {
		var text []byte // nil: the file is read
		if s.GetJson() != "" {
			text = []byte(s.GetJson())
		}
		read[i] = config.Source{Path: s.GetPath(), Scope: s.GetScope(), Dialect: s.GetDialect(), Folder: s.GetFolder(),
			JSON: text}
	}
	return read
}

// Variables returns the values of references: those of the environment, and inputs.
func Variables(inputs map[string]string) config.Variables {
	home, _ := os.UserHomeDir() // if it is not known, references to it are not replaced
	cwd, _ := os.Getwd()
	return config.Variables{Getenv: os.LookupEnv, Home: home, Cwd: cwd, Input: func(id string) (string, bool) {
		value, ok := inputs[id]
		return value, ok
	}}
}

// WarnUnresolved prints what the start of a server would only write to the log: its references without a value, such as
// those to variables that are not set. Each variable is named once.
func WarnUnresolved(s console.Streams, server config.Server, v config.Variables) {
	if f := server.Origin.Folder; f != "" {
		v.Folders = map[string]string{filepath.Base(f): f}
	}
	said := map[string]bool{}
	for _, p := range server.Judge(v) {
		if !p.Fatal && !said[p.Message] {
			said[p.Message] = true
			s.Tell("%s", ProblemLine(p))
		}
	}
}

// ProblemLineOf is ProblemLine for a problem that the hub reports.
func ProblemLineOf(p *mcphubv1.ConfigProblem) string {
	return ProblemLine(config.Problem{File: p.GetFile(), Line: int(p.GetLine()), Column: int(p.GetColumn()),
		Server: p.GetServer(), Key: p.GetKey(), Message: p.GetMessage(), Fatal: p.GetFatal()})
}

// ProblemLine returns a config problem in the format of compilers, so that editors can jump to its place.
func ProblemLine(p config.Problem) string {
	s := console.OrDash(p.File)
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			s += fmt.Sprintf(":%d", p.Column)
		}
	}
	kind := "warning"
	if p.Fatal {
		kind = "error"
	}
	s += ": " + kind
	if p.Server != "" {
		s += fmt.Sprintf(": server %q", p.Server)
	}
	if p.Key != "" {
		s += fmt.Sprintf(": key %q", p.Key)
	}
	return console.Escape(s + ": " + p.Message)
}
