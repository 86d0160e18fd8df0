// Package config has mcphub config: the verdict on config files, the places where applications keep them, and changes.
//
// What must not live here: the dialects of config files (hub/config), and how they are changed (hub/sources).
package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/session"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
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

// check prints the verdict on every entry of the files, or of the files in known places if files is empty. Without
// --start it spawns no hub, and neither runs nor connects to anything that a file names. Only if a program is not
// found, it asks the login shell for its PATH, as a start does.
func (o *options) check(files []string) error {
	if err := o.origins.Check(); err != nil {
		return exit.Wrong(err)
	}
	if len(files) == 0 && (o.origins.Scope != "" || o.origins.Dialect != "") {
		return exit.Wrongf("--scope and --dialect say what a FILE is, and none is named")
	}
	if err := o.answers.Inputs.Check(); err != nil {
		return exit.Wrong(err)
	}
	sources := o.origins.Sources(files)
	report := judge(sources)
	if o.try {
		if err := o.start(&report, sources); err != nil {
			return err
		}
		report.sort(sources)
	}
	switch {
	case o.json:
		console.PrintValue(o.Out, report)
	case len(report.Files) == 0:
		n := len(config.Candidates(o.origins.KnownPlaces()))
		fmt.Fprintf(o.Out, "no config file is in any of the %d known places; mcphub config places lists them\n", n)
	default:
		report.print(o.Out, o.verbose)
	}
	if report.broken() {
		return exit.Broken
	}
	return nil
}

// print prints the report for people, file by file, with each problem in the format of a compiler's message.
func (r *configReport) print(w io.Writer, verbose bool) {
	count := map[string]int{}
	for i, f := range r.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, console.Escape(fmt.Sprintf("%s (%s)", f.File, f.Scope)))
		var rows [][]string
		for _, s := range r.Servers {
			if s.Origin.File != f.File {
				continue
			}
			count[s.Verdict]++
			rows = append(rows, s.row())
		}
		if rows != nil {
			console.Table{Header: []string{"LINE", "SERVER", "DIALECT", "OVER", "RUNS", "CONNECT", "IDLE", "TOTAL", "VERDICT"},
				Rows: rows}.Write(w)
		} else {
			fmt.Fprintln(w, "no servers")
		}
		if verbose {
			r.printFields(w, f.File)
		}
		for _, p := range r.Problems {
			if p.File == f.File {
				fmt.Fprint(w, console.ForReading(w, source.ProblemLine(config.Problem(p))))
			}
		}
	}
	fmt.Fprintf(w, "\n%s in %s", console.Plural(len(r.Servers), "server"), console.Plural(len(r.Files), "file"))
	separator := ": "
	for _, v := range []string{verdictOK, verdictWarning, verdictDisabled, verdictReplaced, verdictBroken} {
		if count[v] > 0 {
			fmt.Fprintf(w, "%s%d %s", separator, count[v], v)
			separator = ", "
		}
	}
	fmt.Fprintln(w)
}

func (s *serverReport) row() []string {
	timeouts := []string{toldTimeout(s.Timeouts.Connect), toldTimeout(s.Timeouts.Idle), toldTimeout(s.Timeouts.Total)}
	if s.Transport == "" {
		timeouts = []string{"-", "-", "-"}
	}
	return slices.Concat([]string{strconv.Itoa(s.Origin.Line), s.Name, console.OrDash(s.Dialect),
		console.OrDash(s.Transport), s.runs()}, timeouts, []string{s.told()})
}

// printFields prints where each field of the normal form comes from.
func (r *configReport) printFields(w io.Writer, file string) {
	for _, s := range r.Servers {
		if s.Origin.File != file || len(s.Fields) == 0 {
			continue
		}
		fmt.Fprintln(w, console.Escape(s.Name)+":")
		for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
			at := s.Fields[name]
			fmt.Fprintln(w, console.Escape(fmt.Sprintf("  %s at %s:%d:%d, key %s", name, file, at.Line, at.Column, at.Key)))
		}
	}
}

// placeReport is a place where an application keeps servers.
type placeReport struct {
	File    string `json:"file"`
	Scope   string `json:"scope"`
	Dialect string `json:"dialect"`
	Folder  string `json:"folder,omitempty"`
	Exists  bool   `json:"exists"`
}

// places lists the known places, those with the lowest precedence first.
func (o *options) places() error {
	if err := o.origins.Check(); err != nil {
		return exit.Wrong(err)
	}
	if o.origins.Scope != "" || o.origins.Dialect != "" || o.verbose || o.try {
		return exit.Wrongf("config places takes --folder and --json alone")
	}
	list := []placeReport{}
	for _, src := range config.Candidates(o.origins.KnownPlaces()) {
		info, err := os.Stat(src.Path)
		list = append(list, placeReport{
			File: src.Path, Scope: src.Scope, Dialect: src.Dialect, Folder: src.Folder, Exists: err == nil &&
				info.Mode().IsRegular(),
		})
	}
	if o.json {
		console.PrintValue(o.Out, map[string]any{"places": list})
		return nil
	}
	rows := make([][]string, len(list))
	for i, p := range list {
		there := "-"
		if p.Exists {
			there = "yes"
		}
		rows[i] = []string{p.Scope, p.Dialect, there, p.File}
	}
	console.Table{Header: []string{"SCOPE", "DIALECT", "THERE", "FILE"}, Rows: rows, Whole: true}.Write(o.Out)
	return nil
}

// triedReport is the result of a start under --start.
type triedReport struct {
	OK       bool   `json:"ok"`
	Took     string `json:"took"` // a Go duration
	Era      string `json:"era,omitempty"`
	Revision string `json:"revision,omitempty"`
	Reason   string `json:"reason,omitempty"` // as in an error's detail; the message is among the problems
}

// start tries every enabled entry: it connects, initializes and closes. An error means that there was no hub to do
// that.
func (o *options) start(report *configReport, sources []config.Source) error {
	var names []string
	for _, s := range report.Servers {
		if s.Enabled {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	given := make([]*mcphubv1.ConfigSource, len(sources))
	for i, s := range sources {
		given[i] = &mcphubv1.ConfigSource{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder}
	}
	list := session.Options{Factory: o.Factory, Answers: o.answers, JSON: o.json, Checked: true}
	return list.Over("mcphub config check", given, func(ctx context.Context, client *door.Client) error {
		var mu sync.Mutex // guards missing
		var missing []config.Problem
		profiles := config.Read(sources).Profiles
		came := session.StartAll(ctx, client, names, func(server string) {
			of := missingTools(ctx, client, profiles, server)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, of...)
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, t := range came {
			report.tried(t)
		}
		for _, p := range missing {
			report.Problems = append(report.Problems, problemReport(p))
		}
		return nil
	})
}

// tried adds the result of a start to the report.
func (r *configReport) tried(t session.Tried) {
	s := &r.Servers[slices.IndexFunc(r.Servers, func(s serverReport) bool { return s.Name == t.Name && s.Enabled })]
	s.Tried = &triedReport{OK: t.Err == nil, Took: t.Took.Round(time.Millisecond).String()}
	if t.Err == nil {
		s.Tried.Era, s.Tried.Revision = console.Word(t.Server.GetEra(), "ERA_"), t.Server.GetProtocolRevision()
		return
	}
	f := exit.FailureOf(t.Err)
	s.Tried.Reason, s.Verdict, s.Enabled = f.Reason, verdictBroken, false
	// The message of the hub begins with the server's name, and so does the text of a problem.
	message := strings.TrimPrefix(f.Message, fmt.Sprintf("server %q ", t.Name))
	p := problemReport{File: s.Origin.File, Line: s.Origin.Line, Column: 1, Server: t.Name, Message: message,
		Fatal: true}
	s.Problems, r.Problems = append(s.Problems, p), append(r.Problems, p)
}

// missingTools returns the problems of profiles that name tools of a ready server which the server does not have.
func missingTools(ctx context.Context, client *door.Client, profiles []config.Profile, server string) []config.Problem {
	none := map[string]bool{}
	if !slices.ContainsFunc(profiles, func(p config.Profile) bool { return len(p.MissingTools(server, none)) > 0 }) {
		return nil // no profile names tools of it, so they need not be listed
	}
	listed, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server})
	if err != nil || len(listed.GetTroubles()) > 0 {
		return nil // it is not known which tools it has
	}
	there := map[string]bool{}
	for _, t := range listed.GetTools() {
		there[t.GetName()] = true
	}
	var problems []config.Problem
	for _, p := range profiles {
		problems = append(problems, p.MissingTools(server, there)...)
	}
	return problems
}
