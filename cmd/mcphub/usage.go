package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLine is one command line that is being carried out: the tree of commands, and the exit status of the command.
type commandLine struct {
	env    environment
	root   *cobra.Command
	status int
}

// runCommandLine finds the command of args and runs it.
func runCommandLine(env environment, args []string) int {
	l := newCommandLine(env)
	if status, done := l.unknownCommand(args); done {
		return status
	}
	l.root.SetArgs(append([]string{}, args...)) // with nil, cobra would use the arguments of the process
	// If a completion script cannot be written, the command returns an error; run reports it.
	if c, err := l.root.ExecuteC(); err != nil && env.stdout.failed() == nil {
		return usageError(env, pathOf(c), err)
	}
	return l.status
}

// newCommandLine builds the tree of commands.
func newCommandLine(env environment) *commandLine {
	cobra.EnableCommandSorting = false // the commands are listed in the order in which they are added
	l := &commandLine{env: env}
	l.root = &cobra.Command{
		Use: "mcphub", Short: "MCP backend of a code editor", SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs, DisableAutoGenTag: true,
		Run: func(c *cobra.Command, _ []string) {
			writeHelp(env.stderr, c, helpWidth(env.stderr))
			l.status = exitUsage
		},
	}
	l.root.SetOut(env.stdout)
	l.root.SetErr(env.stderr)
	l.root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(env.stdout, c, helpWidth(env.stdout)) })
	l.root.SetFlagErrorFunc(flagError)
	for _, g := range commandGroups {
		l.root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	l.root.SetHelpCommandGroupID(groupMore)
	l.root.SetCompletionCommandGroupID(groupMore)
	l.addCommands()
	return l
}

// spec describes a command.
type spec struct {
	group, use, short string
	page              string // shown above the flags on the help page, in paragraphs; an indented line stays as it is
	example           string
	most              int // most arguments besides the flags
	hidden            bool
	words             completer // completes the arguments besides the flags; nil: files
	source            *sourceFlags
	server            func(args []string) string // returns the server that args name, to complete its tools
	flags             *pflag.FlagSet
	run               func(args []string) int
}

// add adds a command to the tree.
func (l *commandLine) add(parent *cobra.Command, s spec) *cobra.Command {
	c := &cobra.Command{
		Use: s.use, Short: s.short, Long: s.page, Example: s.example, GroupID: s.group, Hidden: s.hidden,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > s.most {
				return fmt.Errorf("%q is one argument too many", args[s.most])
			}
			return nil
		},
		Run: func(_ *cobra.Command, args []string) { l.status = s.run(args) },
	}
	if s.flags != nil {
		s.flags.VisitAll(setForm)
		c.Flags().SortFlags = false
		c.Flags().AddFlagSet(s.flags)
	}
	if s.words != nil {
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return harmless(s.words(args)), cobra.ShellCompDirectiveDefault
		}
	}
	parent.AddCommand(c)
	completeValues(c, c.Flags(), s.source, s.server)
	return c
}

// formOf is the annotation of a flag with the form of its value.
const formOf = "mcphub_form"

// setForm splits the usage of a flag into the form of its value and the description, which a tab separates. The usage
// of a switch has only the description.
func setForm(f *pflag.Flag) {
	if form, usage, ok := strings.Cut(f.Usage, "\t"); ok {
		f.Usage = usage
		f.Annotations = map[string][]string{formOf: {form}}
	}
}

// choiceFlag defines a flag that takes one of the words of a form, such as a|b|c. An empty value is as if the flag were
// not given.
func choiceFlag(set *pflag.FlagSet, to *string, name, form, usage string) {
	set.Func(name, form+"\t"+usage, func(v string) error {
		words := strings.Split(form, "|")
		if last := len(words) - 1; v != "" && !slices.Contains(words, v) {
			return fmt.Errorf("it is %s or %s", strings.Join(words[:last], ", "), words[last])
		}
		*to = v
		return nil
	})
}

func newFlags(name string) *pflag.FlagSet {
	set := pflag.NewFlagSet(name, pflag.ContinueOnError)
	set.SortFlags = false
	set.SetOutput(io.Discard) // all errors are printed in one place, in one format
	set.Usage = func() {}
	return set
}

// unknownCommand reports a word that is not a command, before the flags are parsed: they belong to a command that does
// not exist.
func (l *commandLine) unknownCommand(args []string) (status int, done bool) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return 0, false // a request of the completion scripts
	}
	l.root.InitDefaultHelpCmd()
	l.root.InitDefaultCompletionCmd(args...)
	if len(args) > 0 && args[0] == "help" {
		args = args[1:]
	}
	c, rest, err := l.root.Find(args)
	if err != nil || !c.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return 0, false
	}
	l.env.tell("mcphub: %s", escape(noCommand(c, rest[0])))
	l.env.say("%s lists what there is", strings.TrimSpace("mcphub help "+pathOf(c)))
	return exitUsage, true
}

// noCommand returns a message that says that c has no such command.
func noCommand(c *cobra.Command, word string) string {
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	what := strings.TrimSpace(pathOf(c) + " " + word)
	return fmt.Sprintf("there is no command %q%s", what, nearmiss.Hint(word, names))
}

// pathOf returns the name of a command for mcphub help; for mcphub itself it is "".
func pathOf(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// flagError returns a better error for a flag that does not exist.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
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
	return fmt.Errorf("there is no flag --%s%s", name, nearmiss.Hint("--"+name, names))
}

func usageError(env environment, command string, err error) int {
	name := strings.TrimSpace("mcphub " + command)
	env.tell("%s: %s", name, escape(err.Error()))
	env.say("%s tells more", strings.TrimSpace("mcphub help "+command))
	return exitUsage
}
