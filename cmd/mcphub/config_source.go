package main

import (
	"cmp"
	"encoding/json"
	"errors"

	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-shellwords"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"github.com/spf13/pflag"
	"github.com/tailscale/hujson"
)

// The names of the servers that --stdio and --url describe are those of the flags.
const (
	stdioServer = "stdio"
	urlServer   = "url"
)

// sourceFlags say where the servers come from: config files, one command, or one address.
type sourceFlags struct {
	configs []string
	origins originFlags // of the config files
	stdio   string
	remote  urlFlags
	era     string
}

func (s *sourceFlags) register(set *pflag.FlagSet) {
	set.Func("config", "FILE\tconfig file; may be repeated: a later one wins", func(v string) error {
		s.configs = append(s.configs, v)
		return nil
	})
	s.origins.register(set)
	set.StringVar(&s.stdio, "stdio", "", "'CMD ARGS'\trun this as the one server, named stdio; no shell reads it")
	s.remote.register(set)
	set.StringVar(&s.era, "era", "", "auto|legacy|modern\tera of the protocol; default: what the config says, else auto")
}

// single gives the name of the one server that the command line itself describes, "" when config files do.
func (s *sourceFlags) single() string {
	switch {
	case s.stdio != "":
		return stdioServer
	case s.remote.url != "":
		return urlServer
	}
	return ""
}

// check finds what is wrong with the flags themselves.
func (s *sourceFlags) check() error {
	switch {
	case len(s.configs) == 0 && s.single() == "":
		return errors.New(
			"no server is known: name a config file with --config FILE, a server's command with --stdio 'CMD ARGS', or its address with --url URL")
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
	for _, file := range s.configs {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--config %s: there is no such file", file)
		}
	}
	return nil
}

// sources gives the config for the hub. era, when given, is set in the entry of server; "" sets it in none.
func (s *sourceFlags) sources(server string) ([]*mcphubv1.ConfigSource, error) {
	if s.stdio != "" {
		text, err := stdioConfig(s.stdio, s.era)
		if err != nil {
			return nil, err
		}
		return []*mcphubv1.ConfigSource{{Path: "--stdio", Scope: "host", Json: text}}, nil
	}
	if s.remote.url != "" {
		text, err := s.remote.config(s.era)
		if err != nil {
			return nil, err
		}
		return []*mcphubv1.ConfigSource{{Path: "--url", Scope: "host", Json: text}}, nil
	}
	// Who names a file here is the user, at the terminal or in a script of theirs, so it counts as theirs unless --scope
	// says that it is a workspace's.
	sources := make([]*mcphubv1.ConfigSource, len(s.configs))
	for i, file := range s.configs {
		sources[i] = &mcphubv1.ConfigSource{Path: file, Scope: cmp.Or(s.origins.scope, "host"), Dialect: s.origins.dialect,
			Folder: s.origins.workspace()}
		if s.era == "" || server == "" {
			continue
		}
		if strings.EqualFold(filepath.Ext(file), ".toml") {
			return nil, fmt.Errorf("--era does not reach into %s, which is TOML: set the key era in the server's entry", file)
		}
		sources[i].Json = withEra(file, server, s.era)
	}
	return sources, nil
}

// stdioConfig builds the config of one server from a command line. It is split into words as a shell does, but nothing
// in it is expanded or run: what looks like an operator is refused rather than silently cut off.
func stdioConfig(line, era string) (string, error) {
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
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Era     string   `json:"era,omitempty"`
	}
	text, err := json.Marshal(map[string]map[string]entry{
		"mcpServers": {stdioServer: {Command: words[0], Args: words[1:], Era: era}},
	})
	return string(text), err
}

// withEra gives the text of a config file with the era set in the entry of server, every other byte as it was, so that
// problems keep their places. It gives "", which lets the hub read the file itself and say what is wrong, when there is
// no such entry.
func withEra(file, server, era string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return ""
	}
	quoted, err := json.Marshal(era)
	if err != nil {
		return ""
	}
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(server)
	found := false
	for _, section := range []string{"mcpServers", "servers", "mcp", "mcp_servers"} {
		entry := "/" + section + "/" + escaped
		v := value.Find(entry)
		if v == nil {
			continue
		}
		if _, ok := v.Value.(*hujson.Object); !ok {
			continue
		}
		pointer, err := json.Marshal(entry + "/era")
		if err != nil {
			return ""
		}
		if err := value.Patch(fmt.Appendf(nil, `[{"op":"add","path":%s,"value":%s}]`, pointer, quoted)); err != nil {
			return ""
		}
		found = true
	}
	if !found {
		return ""
	}
	return string(value.Pack())
}
