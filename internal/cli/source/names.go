package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
)

// Complete sets the completion of the values of --config, --server and --tool. It starts no server. server returns the
// server that the arguments name; nil for a command without --tool.
func (s *Flags) Complete(c *cobra.Command, server func(args []string) string) {
	cmd.CompleteFlag(c, "config", func([]string) []string { return []string{"json", "jsonc", "toml"} },
		cobra.ShellCompDirectiveFilterFileExt)
	if c.Flags().Lookup("server") != nil {
		cmd.CompleteFlag(c, "server", s.ServersAfter, cobra.ShellCompDirectiveNoFileComp)
	}
	if server != nil && c.Flags().Lookup("tool") != nil {
		cmd.CompleteFlag(c, "tool", func(args []string) []string { return ToolNames(server(args)) },
			cobra.ShellCompDirectiveNoFileComp)
	}
}

// ServerNames returns the names in the config that the command line names so far. A config that cannot be read has
// none.
func (s *Flags) ServerNames() []string {
	if s.Single() != "" {
		return nil
	}
	loaded, _ := config.Load(s.files())
	var names []string
	for _, server := range loaded {
		names = append(names, server.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ServersAfter is ServerNames with the config files among words, for completion: no command has taken its words then.
func (s *Flags) ServersAfter(words []string) []string {
	f := *s
	f.Take(words)
	return f.ServerNames()
}

// ToolNames returns the tools that a server has last listed to a command like this one. If server is "", it returns
// those of all servers.
func ToolNames(server string) []string {
	dir := door.StateDir("command-line")
	if dir == "" {
		return nil
	}
	remembered := hub.RememberedTools(dir)
	if server != "" {
		return remembered[server]
	}
	var names []string
	for _, of := range slices.Sorted(maps.Keys(remembered)) {
		names = append(names, remembered[of]...)
	}
	slices.SortFunc(names, cmp.Compare)
	return slices.Compact(names)
}

// CallLine returns a command line that calls a tool of a server with these arguments.
func (s *Flags) CallLine(server, tool string, pairs []string) string {
	words := append([]string{"mcphub", "call"}, s.words(server)...)
	words = append(words, named("--tool", tool)...)
	for _, pair := range pairs {
		words = append(words, "-a", pair)
	}
	return console.ShellLine(words)
}

// words returns the part of a command line that describes the same servers. It leaves out the values of headers and
// variables and the query of a URL, since they may be secret.
func (s *Flags) words(server string) []string {
	var words []string
	for _, file := range s.Configs {
		words = append(words, "--config", file)
	}
	switch {
	case s.stdio != "":
		words = append(words, "--stdio", s.stdio)
		for _, v := range s.env {
			name, _, _ := strings.Cut(v, "=")
			words = append(words, "--env", name)
		}
	case s.remote.url != "":
		address, _, _ := strings.Cut(s.remote.url, "?")
		words = append(words, "--url", address)
		if s.remote.transport != "" {
			words = append(words, "--transport", s.remote.transport)
		}
		for _, h := range s.remote.headers {
			name, _, _ := strings.Cut(h, ":")
			words = append(words, "--header", showable(name)+": ...")
		}
	}
	for _, f := range [][2]string{{"--folder", s.Origins.folder}, {"--scope", s.Origins.Scope},
		{"--dialect", s.Origins.Dialect}, {"--era", s.era}} {
		if f[1] != "" {
			words = append(words, f[0], f[1])
		}
	}
	if s.Single() == "" {
		words = append(words, named("--server", server)...)
	}
	return words
}

// named returns a name as a word of its own, or after its flag if it would be read as a flag or a file: servers and
// folders choose names, and the command line is meant to be pasted.
func named(flag, name string) []string {
	if strings.HasPrefix(name, "-") || isPath(name) || strings.Contains(name, "://") {
		return []string{flag, name}
	}
	return []string{name}
}
