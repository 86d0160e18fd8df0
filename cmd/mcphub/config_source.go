package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/pflag"
	"github.com/tailscale/hujson"

	"github.com/mcphub-go/mcphub/hub/config"
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
	set.StringVar(&s.era, "era", "", "auto|legacy|modern\tera of the protocol; default: what the config says, else auto")
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
	switch s.era {
	case "", "auto", "legacy", "modern":
	default:
		return fmt.Errorf("--era %q: it is auto, legacy or modern", s.era)
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

// keys returns what the flags set in the entry of a server: JSON values by their paths in the entry.
func (s *sourceFlags) keys() (map[string]any, error) {
	keys := map[string]any{}
	environment, err := s.environment()
	if err != nil {
		return nil, err
	}
	for name, value := range environment {
		if strings.ContainsAny(value, "$`") || strings.Contains(value, "{env:") || strings.Contains(value, "{file:") {
			return nil, fmt.Errorf("--env %s: its value has characters that a config file reads as a reference; set it in the "+
				"server's entry", name)
		}
		keys["env/"+pointer(name)] = value
	}
	if s.era != "" {
		keys["era"] = s.era
	}
	if s.connect != nil {
		keys["timeouts/connect"] = s.connect.String()
	}
	return keys, nil
}

// sources returns the config for the hub. It sets what the flags say about a server in the entry with the name server;
// if that is "", in none.
func (s *sourceFlags) sources(server string) ([]*mcphubv1.ConfigSource, error) {
	if s.stdio != "" {
		text, err := s.stdioConfig()
		if err != nil {
			return nil, err
		}
		return []*mcphubv1.ConfigSource{{Path: "--stdio", Scope: "host", Json: text}}, nil
	}
	if s.remote.url != "" {
		text, err := s.remote.config(s.era, s.connect)
		if err != nil {
			return nil, err
		}
		return []*mcphubv1.ConfigSource{{Path: "--url", Scope: "host", Json: text}}, nil
	}
	keys, err := s.keys()
	if err != nil {
		return nil, err
	}
	files := s.files()
	reached := len(keys) == 0 || server == ""
	sources := make([]*mcphubv1.ConfigSource, len(files))
	at := s.placeOf(server)
	for i, f := range files {
		sources[i] = &mcphubv1.ConfigSource{Path: f.Path, Scope: f.Scope, Dialect: f.Dialect, Folder: f.Folder}
		if len(keys) == 0 || server == "" || s.own() && f.Path != at {
			continue
		}
		if strings.EqualFold(filepath.Ext(f.Path), ".toml") {
			return nil, fmt.Errorf("%s: this does not reach into %s, which is TOML: set the keys env, era and timeouts in the "+
				"server's entry", s.ofOneServer(), f.Path)
		}
		sources[i].Json = withKeys(f.Path, server, keys)
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
	type entry struct {
		Command  string            `json:"command"`
		Args     []string          `json:"args,omitempty"`
		Cwd      string            `json:"cwd"`
		Env      map[string]string `json:"env,omitempty"`
		Era      string            `json:"era,omitempty"`
		Timeouts map[string]string `json:"timeouts,omitempty"`
	}
	text, err := json.Marshal(map[string]map[string]entry{
		"mcpServers": {stdioServer: {Command: words[0], Args: words[1:], Cwd: folder, Env: environment, Era: s.era,
			Timeouts: connectTimeouts(s.connect)}},
	})
	return string(text), err
}

// connectTimeouts returns the value of the key timeouts for the flag, nil without the flag.
func connectTimeouts(connect *time.Duration) map[string]string {
	if connect == nil {
		return nil
	}
	return map[string]string{"connect": connect.String()}
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

// withKeys returns the text of a config file with keys set in the entry of server. All other bytes stay as they are, so
// that problems keep their places. If there is no such entry, it returns "": the hub then reads the file itself and
// reports what is wrong.
func withKeys(file, server string, keys map[string]any) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return ""
	}
	found := false
	for _, section := range []string{"mcpServers", "servers", "mcp", "mcp_servers"} {
		entry := "/" + section + "/" + pointer(server)
		v := value.Find(entry)
		if v == nil {
			continue
		}
		if _, ok := v.Value.(*hujson.Object); !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			member := keys[key]
			if command := value.Find(entry + "/command"); command != nil {
				// opencode has the program and its arguments in one list, and another key for the variables.
				if _, list := command.Value.(*hujson.Array); list && strings.HasPrefix(key, "env/") {
					key = "environment" + strings.TrimPrefix(key, "env")
				}
			}
			parent, _, nested := strings.Cut(key, "/")
			if nested && value.Find(entry+"/"+parent) == nil && !added(&value, entry+"/"+parent, struct{}{}) {
				return ""
			}
			if !added(&value, entry+"/"+key, member) {
				return ""
			}
		}
		found = true
	}
	if !found {
		return ""
	}
	return string(value.Pack())
}

// pointer returns a name as a part of a JSON pointer (RFC 6901).
func pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// added sets a member in a JSON text, and reports whether it could.
func added(value *hujson.Value, path string, member any) bool {
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": member}})
	return err == nil && value.Patch(patch) == nil
}
