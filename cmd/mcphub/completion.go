package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// completer returns the words that may follow args on a command line.
type completer func(args []string) []string

// completeValues sets the completion of the values of flags. It starts no server.
func completeValues(c *cobra.Command, set *pflag.FlagSet, source *sourceFlags, server func(args []string) string) {
	set.VisitAll(func(f *pflag.Flag) {
		var words completer
		form := ""
		if forms := f.Annotations[formOf]; forms != nil {
			form = forms[0]
		}
		switch {
		case f.Name == "server" && source != nil:
			words = func([]string) []string { return serverNames(source) }
		case f.Name == "tool" && server != nil:
			words = func(args []string) []string { return toolNames(server(args)) }
		case f.Name == "dialect":
			words = func([]string) []string { return dialects }
		case f.Name == "config":
			completeFlag(c, f.Name, func([]string) []string { return []string{"json", "jsonc", "toml"} },
				cobra.ShellCompDirectiveFilterFileExt)
			return
		case f.Name == "folder":
			completeFlag(c, f.Name, func([]string) []string { return nil }, cobra.ShellCompDirectiveFilterDirs)
			return
		case strings.Contains(form, "|"):
			words = func([]string) []string { return choices(form) }
		case form == "FILE":
			return // files, which shells complete by default
		default:
			words = func([]string) []string { return nil }
		}
		completeFlag(c, f.Name, words, cobra.ShellCompDirectiveNoFileComp)
	})
}

func completeFlag(c *cobra.Command, name string, words completer, directive cobra.ShellCompDirective) {
	// The error means that the flag has a completion already, which is a bug that tests would find.
	_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, args []string, _ string) ([]string,
		cobra.ShellCompDirective) {
		return harmless(words(args)), directive
	})
}

// harmless removes words that a shell would misread, such as those with a line end or a tab: servers and folders choose
// their names.
func harmless(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return escape(w) != w })
}

// choices returns the literal words among the alternatives of a form. Words in capitals stand for something else.
func choices(form string) []string {
	var words []string
	for word := range strings.SplitSeq(form, "|") {
		if word == strings.ToLower(word) {
			words = append(words, word)
		} else if head, _, ok := strings.Cut(word, ":"); ok && head == strings.ToLower(head) {
			words = append(words, head+":")
		}
	}
	return words
}

// serverNames returns the names in the config that the command line names so far. A config that cannot be read has
// none.
func serverNames(s *sourceFlags) []string {
	if s.single() != "" {
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

// toolNames returns the tools that a server has last listed to a command like this one. If server is "", it returns
// those of all servers.
func toolNames(server string) []string {
	dir := stateDir("command-line")
	if dir == "" {
		return nil
	}
	remembered := servers.RememberedTools(dir)
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
