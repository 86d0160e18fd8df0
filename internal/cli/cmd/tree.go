package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// Groups of the commands, in the order in which the overview shows them.
const (
	GroupTry  = "See it"
	GroupUse  = "Use servers"
	GroupLook = "Look at servers"
	GroupMore = "More"
)

// NewRoot returns the root of a tree of commands, to which finish adds them.
func NewRoot(s console.Streams) *cobra.Command {
	cobra.EnableCommandSorting = false // the commands are listed in the order in which they are added
	root := &cobra.Command{
		Use: "mcphub", Short: "MCP backend of a code editor", SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs, DisableAutoGenTag: true,
		RunE: func(c *cobra.Command, _ []string) error {
			WriteHelp(s.Err, c, console.PageWidth(s.Err))
			return exit.Usage
		},
	}
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { WriteHelp(s.Out, c, console.PageWidth(s.Out)) })
	root.SetFlagErrorFunc(flagError)
	for _, g := range []string{GroupTry, GroupUse, GroupLook, GroupMore} {
		root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	root.SetHelpCommandGroupID(GroupMore)
	root.SetCompletionCommandGroupID(GroupMore)
	return root
}

// Finish gives all commands below c what they have in common: the order of their flags, and the completion of the
// values whose forms say what they can be.
func Finish(c *cobra.Command) {
	for _, child := range c.Commands() {
		args := child.Args
		switch {
		case args != nil:
		case child.Name() == "help": // cobra's
			args = cobra.ArbitraryArgs
		default:
			args = AtMost(0)
		}
		child.Args = func(c *cobra.Command, words []string) error { return exit.Wrong(args(c, words)) }
		child.DisableFlagsInUseLine = true
		for _, set := range []*pflag.FlagSet{child.Flags(), child.PersistentFlags()} {
			set.SortFlags = false
			set.VisitAll(func(f *pflag.Flag) { finishFlag(child, f) })
		}
		Finish(child)
	}
}

// formOf is the annotation of a flag with the form of its value.
const formOf = "mcphub_form"

// finishFlag splits the usage of a flag into the form of its value and the description, which a tab separates. The
// usage of a switch has only the description.
func finishFlag(c *cobra.Command, f *pflag.Flag) {
	form, usage, ok := strings.Cut(f.Usage, "\t")
	if ok {
		f.Usage, f.Annotations = usage, map[string][]string{formOf: {form}}
	} else {
		form = ""
	}
	if _, own := c.GetFlagCompletionFunc(f.Name); own || form == "FILE" { // shells complete files by default
		return
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	if form == "DIR" {
		directive = cobra.ShellCompDirectiveFilterDirs
	}
	var words []string
	if strings.Contains(form, "|") {
		words = choices(form)
	}
	CompleteFlag(c, f.Name, func([]string) []string { return words }, directive)
}

// UnknownCommand returns the error for a word that is not a command, before the flags are parsed: they belong to a
// command that does not exist. at is the command that has no such command, nil if there is none.
func UnknownCommand(root *cobra.Command, args []string) (at *cobra.Command, err error) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil, nil // a request of the completion scripts
	}
	if len(args) > 0 && args[0] == "help" {
		args = args[1:]
	}
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil, nil
	}
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	what := strings.TrimSpace(PathOf(c) + " " + rest[0])
	return c, fmt.Errorf("there is no command %q%s", what, nearmiss.Hint(rest[0], names))
}

// PathOf returns the name of a command for mcphub help; for mcphub itself it is "".
func PathOf(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// flagError returns a better error for a flag that does not exist.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return exit.Wrong(err)
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name = short // -tool is parsed as -t -o -o -l
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return exit.Wrongf("there is no flag --%s%s", name, nearmiss.Hint("--"+name, names))
}
