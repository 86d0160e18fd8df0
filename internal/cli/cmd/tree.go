// Package cmd has what cobra leaves out for a tree of commands: the help page, the completion of values, near misses of
// names, and flags whose values have a form.
//
// What must not live here: commands, and flags that only some of them have.
package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/event"
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
	return c, fmt.Errorf("there is no command %q%s", what, event.Hint(rest[0], names))
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
	return exit.Wrongf("there is no flag --%s%s", name, event.Hint("--"+name, names))
}

// AtMost accepts at most that many arguments besides the flags.
func AtMost(most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > most {
			return TooMany(args[most], "")
		}
		return nil
	}
}

// TooMany is the error for a word that has no meaning on the command line; form, which may be "", is what may stand
// there.
func TooMany(word, form string) error {
	if form != "" {
		form = ": it is " + form
	}
	return fmt.Errorf("%q is one argument too many%s", word, form)
}

// ChoiceFlag defines a flag that takes one of the words of a form, such as a|b|c. An empty value is as if the flag were
// not given.
func ChoiceFlag(set *pflag.FlagSet, to *string, name, form, usage string) {
	set.Func(name, form+"\t"+usage, func(v string) error {
		words := strings.Split(form, "|")
		if last := len(words) - 1; v != "" && !slices.Contains(words, v) {
			return fmt.Errorf("it is %s or %s", strings.Join(words[:last], ", "), words[last])
		}
		*to = v
		return nil
	})
}

// OptionalDuration defines a duration flag that distinguishes 0 from a flag that is not given.
func OptionalDuration(set *pflag.FlagSet, to **time.Duration, name, usage string) {
	set.Func(name, usage, func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return errors.New("a duration looks like 300ms, 1.5s or 2m")
		}
		if d < 0 {
			return errors.New("a duration cannot be negative")
		}
		*to = &d
		return nil
	})
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

// completer returns the words that may follow args on a command line.
type completer func(args []string) []string

// CompleteFlag sets the completion of the values of a flag.
func CompleteFlag(c *cobra.Command, name string, words completer, directive cobra.ShellCompDirective) {
	// The error means that the flag has a completion already, which is a bug that tests would find.
	_ = c.RegisterFlagCompletionFunc(name, completion(words, directive))
}

// completion returns the words that may follow args as cobra wants them. It removes those that a shell would misread,
// such as those with a line end or a tab: servers and folders choose their names.
func completion(words completer, directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(words(args)), func(w string) bool { return console.Escape(w) != w }), directive
	}
}

// CompleteWords returns the completion of the arguments besides the flags; files are completed, too.
func CompleteWords(words completer) cobra.CompletionFunc {
	return completion(words, cobra.ShellCompDirectiveDefault)
}
