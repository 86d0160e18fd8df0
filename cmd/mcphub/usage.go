package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLine is one command line that is being carried out: the tree of commands, and the status that the command
// gave.
type commandLine struct {
	env    environment
	root   *cobra.Command
	status int
}

// runCommandLine finds the command of args and carries it out.
func runCommandLine(env environment, args []string) int {
	l := newCommandLine(env)
	if status, done := l.unknownCommand(args); done {
		return status
	}
	l.root.SetArgs(append([]string{}, args...)) // nil would mean the arguments of the process
	// The script of a completion that cannot be written is an error of its command; run tells of that.
	if c, err := l.root.ExecuteC(); err != nil && env.stdout.failed() == nil {
		return usageError(env, pathOf(c), err)
	}
	return l.status
}

// newCommandLine builds the tree of commands.
func newCommandLine(env environment) *commandLine {
	cobra.EnableCommandSorting = false // they stand as they are added
	l := &commandLine{env: env}
	l.root = &cobra.Command{
		Use: "mcphub", Short: introduction, SilenceErrors: true, SilenceUsage: true,
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
	l.root.SetHelpCommand(l.helpCommand())
	for _, g := range commandGroups {
		l.root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	l.root.SetHelpCommandGroupID(groupMore)
	l.root.SetCompletionCommandGroupID(groupMore)
	l.addCommands()
	return l
}

// spec describes one command.
type spec struct {
	group, use, short string
	page              string // above the flags of the help page, in paragraphs; an indented line stays as it is
	example           string
	most              int // arguments beside the flags
	hidden            bool
	words             completer // what completes the arguments beside the flags; nil: files
	source            *sourceFlags
	server            func(args []string) string // the server that the words so far name, for the names of its tools
	flags             *pflag.FlagSet
	run               func(args []string) int
}

// add puts a command into the tree.
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

// formOf is the annotation of a flag that says what its value looks like.
const formOf = "mcphub_form"

// setForm parts the usage of a flag, which is the form of its value, a tab, and what it does; that of a switch is only
// the latter.
func setForm(f *pflag.Flag) {
	if form, usage, ok := strings.Cut(f.Usage, "\t"); ok {
		f.Usage = usage
		f.Annotations = map[string][]string{formOf: {form}}
	}
}

func newFlags(name string) *pflag.FlagSet {
	set := pflag.NewFlagSet(name, pflag.ContinueOnError)
	set.SortFlags = false
	set.SetOutput(io.Discard) // what is wrong is said in one place and one form
	set.Usage = func() {}
	return set
}

// unknownCommand refuses a word that stands where a command is wanted, before its flags are looked at: they are those
// of a command that is not there.
func (l *commandLine) unknownCommand(args []string) (status int, done bool) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return 0, false // of the completion scripts
	}
	l.root.InitDefaultHelpCmd()
	l.root.InitDefaultCompletionCmd(args...)
	c, rest, err := l.root.Find(args)
	if err != nil || !c.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return 0, false
	}
	l.env.tell("mcphub: %s", escape(noCommand(c, rest[0])))
	l.env.say("%s lists what there is", strings.TrimSpace("mcphub help "+pathOf(c)))
	return exitUsage, true
}

// noCommand says that c has no such command.
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

// pathOf names a command as mcphub help takes it; "" is mcphub itself.
func pathOf(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// flagError says more of a flag that is not there.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name = short // -tool is read as -t -o -o -l
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

// helpCommand is mcphub help.
func (l *commandLine) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "explain a command", DisableFlagsInUseLine: true,
		Long: "Explains mcphub, or the command that is named.",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if c, _, err := l.root.Find(args); err == nil {
				for _, child := range c.Commands() {
					if child.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(child.Name(), child.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		Run: func(_ *cobra.Command, args []string) {
			c, rest, err := l.root.Find(args)
			if err != nil || len(rest) > 0 {
				l.env.tell("mcphub: %s", escape(noCommand(c, rest[0])))
				l.env.say("mcphub help lists what there is")
				l.status = exitUsage
				return
			}
			c.InitDefaultHelpFlag()
			writeHelp(l.env.stdout, c, helpWidth(l.env.stdout))
		},
	}
}
