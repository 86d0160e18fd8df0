package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli/console"
)

// AtMost accepts at most that many arguments besides the flags.
func AtMost(most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > most {
			return fmt.Errorf("%q is one argument too many", args[most])
		}
		return nil
	}
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
