package config

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// options are the flags of mcphub config.
type options struct {
	*door.Factory
	origins source.Origins
	verbose bool
	json    bool
	try     bool              // --start: start the servers
	answers questions.Answers // answers to the questions of these starts
}

// NewConfigCmd returns mcphub config and its subcommands.
func NewConfigCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "config COMMAND [FLAGS]", Short: "check and change config files, and tell where applications keep theirs",
		GroupID: cmd.GroupLook,
		Long: `Looks at config files, and changes them. No hub is spawned, and nothing that a file names is run or
connected to.`,
		RunE: func(*cobra.Command, []string) error { return exit.Wrong(errNoConfigCommand) },
	}
	set := c.PersistentFlags()
	o.origins.Register(c, set)
	set.BoolVar(&o.verbose, "verbose", false, "check: tell where each field comes from")
	set.BoolVar(&o.try, "start", false, "check: then start each server that nothing keeps from it, and stop it again")
	o.answers.RegisterStart(set)
	set.BoolVar(&o.json, "json", false, "print one JSON object on one line")
	c.AddCommand(
		&cobra.Command{
			Use: "check [FILE...] [FLAGS]", Short: "the verdict on each server of the files",
			Long: `Reads config files in every dialect and gives its verdict on each server, what is wrong with file, line
and column. Each is looked at as its start would: references are resolved, the program, the working directory and
envFile are looked for. An error is what would make the start fail. No hub is spawned, nothing that a file names is
run, and no value of an argument, a variable, a header or a query is shown; for a program that is not found without
it, the login shell is asked for its PATH.

With --start each server that can be started is, by a hub, several at once and each within its connect timeout: it is
connected to, initialized and stopped again. What a start asks (a workspace's server, an input, a sign-in) is asked as
mcphub servers --start does.

Without FILE it looks at those of this user and of the folder that are in known places; a FILE in such a place is read
as what it is there.

With --json: {"servers": [{"name", "dialect", "origin": {"file", "line", "scope", "folder"}, "transport", "enabled",
"timeouts": {"connect", "idle", "total"}, "problems": [...], ...}], "problems": [{"file", "line", "column", "server",
"key", "message", "fatal"}], "files": [...]}. Timeouts are Go durations, those that count, and "0s" is no limit. The
outer problems are all of them.

Exit status: 0 all can be used, warnings or not; 1 something is broken, or with --start did not start;
2 usage; with --start also 3 interrupted, 6 trouble with the hub.
`,
			Args: cobra.ArbitraryArgs,
			RunE: func(_ *cobra.Command, files []string) error { return o.check(files) },
		},
		&cobra.Command{
			Use: "places [--folder DIR] [--json]", Short: "the files in which applications keep servers",
			Long: "Lists the files in which applications keep servers, the weakest first, and which of them are there.",
			RunE: func(*cobra.Command, []string) error { return o.places() },
		},
		newAddCmd(o), newSetCmd(o), newRemoveCmd(o), newUndoCmd(o),
	)
	return c
}

var errNoConfigCommand = errors.New("what of it? config check, places, add, set, remove or undo")
