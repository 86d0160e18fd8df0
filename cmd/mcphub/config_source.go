package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The names of the servers that --stdio and --url describe.
const (
	stdioServer = "stdio"
	urlServer   = "url"
)

// sourceFlags say where the servers come from: config files, one command, one URL, or, if there is no such flag, the
// files in which this user's applications keep their servers.
type sourceFlags struct {
	configs []string
	origins originFlags // for the config files
	stdio   string
	env     []string // NAME=VALUE, for the one server
	remote  urlFlags
	era     string
	connect *time.Duration // nil: as in the config
}

// take divides the words of a command line that are not flags into config files, which it keeps, and names, which it
// returns. Only the spelling decides: a path has a separator or ends as config files do, and the URI of a resource is
// not a path.
func (s *sourceFlags) take(words []string) (names []string) {
	for _, w := range words {
		if isPath(w) {
			s.configs = append(s.configs, w)
		} else {
			names = append(names, w)
		}
	}
	return names
}

func isPath(word string) bool {
	switch strings.ToLower(filepath.Ext(word)) {
	case ".json", ".jsonc", ".toml", ".code-workspace":
		return !strings.Contains(word, "://")
	}
	return strings.ContainsAny(word, "/"+string(filepath.Separator)) && !strings.Contains(word, "://")
}

func (s *sourceFlags) register(set *pflag.FlagSet) {
	set.Func("config", "FILE\tconfig file; may be repeated: a later one wins", func(v string) error {
		s.configs = append(s.configs, v)
		return nil
	})
	s.origins.register(set)
	set.StringVar(&s.stdio, "stdio", "",
		"'CMD ARGS'\trun this, in the current folder, as the one server, named stdio; no shell reads it")
	set.Func("env",
		"NAME=VALUE\tset this variable for the one server, over what its entry says; other users of this machine can "+
			"see it here; NAME alone passes that of the environment; may be repeated", func(v string) error {
			s.env = append(s.env, v) // not checked here, since an error would quote the value
			return nil
		})
	s.remote.register(set)
	choiceFlag(set, &s.era, "era", "auto|legacy|modern", "era of the protocol; default: what the config says, else auto")
	optionalDuration(set, &s.connect, "connect-timeout",
		"DUR\tgive a server this long to start; 0: no limit; default: what the config says")
}

// single returns the name of the only server if the command line itself describes it, "" if config files do.
func (s *sourceFlags) single() string {
	switch {
	case s.stdio != "":
		return stdioServer
	case s.remote.url != "":
		return urlServer
	}
	return ""
}

// check returns an error if the flags themselves are wrong.
func (s *sourceFlags) check() error {
	switch {
	case s.own() && (s.origins.scope != "" || s.origins.dialect != ""):
		return errors.New("--scope and --dialect say what a FILE is, and none is named")
	case len(s.env) > 0 && s.remote.url != "":
		return errors.New("--env is for a server that is started here, and that of --url is reached")
	case len(s.configs) > 0 && s.single() != "":
		return fmt.Errorf("--config and --%[1]s exclude each other: --%[1]s is a config of its own", s.single())
	case s.stdio != "" && s.remote.url != "":
		return errors.New("--stdio and --url exclude each other: each is the one server")
	}
	if err := s.remote.check(); err != nil {
		return err
	}
	if s.single() != "" && s.origins != (originFlags{}) {
		return errors.New("--folder, --scope and --dialect go with --config FILE")
	}
	if err := s.origins.check(); err != nil {
		return err
	}
	if s.own() && len(s.origins.sources(nil)) == 0 {
		return errNoServer
	}
	for _, file := range s.configs {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return &noFileError{file}
		}
	}
	return nil
}

// errNoServer is returned if no server is named and the user's own files have none.
var errNoServer = errors.New("no server is known: no application of yours keeps any where mcphub config places looks; " +
	"name a config file with --config FILE, a server's command with --stdio 'CMD ARGS', or its address with --url URL")

// noFileError is the error for a config file that does not exist.
type noFileError struct{ file string }

func (e *noFileError) Error() string {
	return fmt.Sprintf("--config %s: there is no such file", e.file)
}

// own reports whether the servers are those of the user's own files.
func (s *sourceFlags) own() bool { return len(s.configs) == 0 && s.single() == "" }

// files returns the config files with their scopes and dialects. The user has named them, at the terminal or in a
// script, so they count as the user's unless --scope says that they are a workspace's.
func (s *sourceFlags) files() []config.Source {
	if s.own() {
		return s.origins.sources(nil)
	}
	sources := make([]config.Source, len(s.configs))
	for i, file := range s.configs {
		sources[i] = config.Source{Path: file, Scope: cmp.Or(s.origins.scope, "host"), Dialect: s.origins.dialect,
			Folder: s.origins.workspace()}
	}
	return sources
}

// ofOneServer returns the names of the given flags that change the entry of one server.
func (s *sourceFlags) ofOneServer() string {
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

// checkAllServers returns an error if flags that change the entry of one server are given to a command for all servers.
func (s *sourceFlags) checkAllServers() error {
	if flags := s.ofOneServer(); flags != "" && s.single() == "" {
		return fmt.Errorf("%s: this is for the one server of --stdio or --url: in a config file, set the keys env, era and "+
			"timeouts in the server's entry", flags)
	}
	return nil
}

// sources returns the config for the hub. It sets what the flags say about a server in the entry with the name server;
// if that is "", in none.
func (s *sourceFlags) sources(server string) ([]*mcphubv1.ConfigSource, error) {
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
		return []*mcphubv1.ConfigSource{{Path: "--" + s.single(), Scope: "host", Json: text}}, nil
	}
	for name, value := range environment {
		if strings.ContainsAny(value, "$`") || strings.Contains(value, "{env:") || strings.Contains(value, "{file:") {
			return nil, fmt.Errorf("--env %s: its value has characters that a config file reads as a reference; set it in the "+
				"server's entry", name)
		}
	}
	files := s.files()
	reached := s.ofOneServer() == "" || server == ""
	sources := make([]*mcphubv1.ConfigSource, len(files))
	at := s.placeOf(server)
	for i, f := range files {
		sources[i] = &mcphubv1.ConfigSource{Path: f.Path, Scope: f.Scope, Dialect: f.Dialect, Folder: f.Folder}
		if s.ofOneServer() == "" || server == "" || s.own() && f.Path != at {
			continue
		}
		sources[i].Json = s.withFlags(f, server, environment)
		reached = reached || sources[i].Json != ""
	}
	if !reached && slices.Contains(serverNames(s), server) {
		return nil, fmt.Errorf("%s: the entry of %s stands where this does not reach: set the keys env, era and timeouts "+
			"in it", s.ofOneServer(), shortName(server))
	}
	return sources, nil
}

// placeOf returns the user's own file that has the server, "" if none has.
func (s *sourceFlags) placeOf(server string) string {
	if !s.own() || server == "" {
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

// choose returns the server for a command line that names none: the only server that there is.
func (s *sourceFlags) choose() (server string, err error) {
	if s.single() != "" {
		return s.single(), nil
	}
	switch names := serverNames(s); len(names) {
	case 0:
		return "", errors.New("which server of the config? --server NAME; mcphub servers lists them")
	case 1:
		return names[0], nil
	default:
		for i, n := range names {
			names[i] = shortName(n)
		}
		more := ""
		if len(names) > 10 {
			names, more = names[:10], " and more"
		}
		return "", fmt.Errorf("which server of the config? --server NAME; there are %s%s", strings.Join(names, ", "), more)
	}
}

// stdioConfig returns the config of one server for a command line. The line is split into words as a shell does it, but
// nothing in it is expanded or run. Text that looks like an operator is an error, so that nothing is silently cut off.
func (s *sourceFlags) stdioConfig() (string, error) {
	line := s.stdio
	parser := shellwords.NewParser()
	parser.ParseEnv, parser.ParseBacktick, parser.ParseComment = false, false, false
	words, err := parser.Parse(line)
	switch {
	case err != nil:
		return "", fmt.Errorf("--stdio %q: %v", line, err)
	case parser.Position >= 0:
		return "", fmt.Errorf("--stdio %q: no shell reads this, so ; & | < > must be quoted", line)
	case len(words) == 0:
		return "", errors.New("--stdio: the command is empty")
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
func (s *sourceFlags) environment() (map[string]string, error) {
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
func (s *sourceFlags) withFlags(f config.Source, server string, environment map[string]string) string {
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
