package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/sources"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/proposals"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// writeOptions are the flags of the commands that change config files.
type writeOptions struct {
	*options
	file   string
	undoes bool // the change takes the last one back
}

const changeHelp = `Comments, order and every other byte of the file stay; a form that cannot be changed is refused with
its line. What you write so is as if you had written it by hand: nobody asks before the server starts, unless the file
is a workspace's.

Without --file it is the file in a known place that has the server; mcphub config places lists them.

Exit status: 0 written, 1 refused, and the file is as it was, 2 usage.
`

// change makes one change of a config file. command are the arguments after the name of the server.
type change func(f *sources.Files, to sources.Target, command []string) (sources.Written, error)

// register defines --file.
func (o *writeOptions) register(c *cobra.Command) {
	c.Flags().StringVar(&o.file, "file", "", "FILE\tconfig file; default: one in a known place")
}

// newAddCmd returns mcphub config add.
func newAddCmd(o *options) *cobra.Command {
	add := &addOptions{writeOptions: writeOptions{options: o}}
	c := &cobra.Command{
		Use: "add [NAME] [FLAGS] [-- COMMAND ARG...]", Short: "add a server to a config file",
		Long: `Adds a server: a command with its arguments behind --, an address (--url), or an entry as instructions
have it (--entry), which is written in the words of the file. Without --file it is the strongest file of yours that is in a
known place; where no application keeps servers yet, there is none. A file that is named and not there is made.

` + proposalHelp + "\n" + changeHelp,
		Example: `  mcphub config add files --file .vscode/mcp.json -- npx -y @modelcontextprotocol/server-filesystem .
  mcphub config add tickets --file .mcp.json --url https://tickets.example.com/mcp
  mcphub config add --from-registry io.example/weather --file .mcp.json \
      --registry https://registry.example.com --input KEY=@WEATHER_KEY
  mcphub config add --bundle notes.mcpb --file .mcp.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, words []string) error {
			if !add.proposed.offered() {
				return add.write(words, add.add)
			}
			if len(words) == 0 {
				words = []string{""} // the proposal has a name
			}
			return add.write(words, add.addOffered)
		},
	}
	add.register(c)
	return c
}

// newSetCmd returns mcphub config set.
func newSetCmd(o *options) *cobra.Command {
	set := &setOptions{writeOptions: writeOptions{options: o}}
	c := &cobra.Command{
		Use: "set NAME [FLAGS]", Short: "change a server of a config file",
		Long: "Changes the entry of a server.\n\n" + changeHelp, Args: cmd.AtMost(1),
		Example: `  mcphub config set files --allow 'read_*' --timeout total=90s
  mcphub config set files --patch '{"args": ["-y", "server", "notes"], "cwd": null}'`,
		RunE: func(_ *cobra.Command, words []string) error { return set.write(words, set.set) },
	}
	set.register(c)
	return c
}

// newRemoveCmd returns mcphub config remove.
func newRemoveCmd(o *options) *cobra.Command {
	remove := &writeOptions{options: o}
	c := &cobra.Command{
		Use: "remove NAME [FLAGS]", Short: "take a server out of a config file",
		Long: "Takes the entry of a server out of its file, a broken one too.\n\n" + changeHelp, Args: cmd.AtMost(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return remove.write(words, func(f *sources.Files, to sources.Target, _ []string) (sources.Written, error) {
				return f.Remove(context.Background(), to)
			})
		},
	}
	remove.register(c)
	return c
}

// newUndoCmd returns mcphub config undo.
func newUndoCmd(o *options) *cobra.Command {
	undo := &writeOptions{options: o, undoes: true}
	return &cobra.Command{
		Use: "undo", Short: "undo the last change by add, set or remove",
		Long: `Gives the file of the last change the text that it had before, if nobody has changed it since. Undone twice,
it is as it was changed.

Exit status: 0 written, 1 refused, 2 usage.
`,
		RunE: func(*cobra.Command, []string) error {
			return undo.write([]string{""}, func(f *sources.Files, _ sources.Target, _ []string) (sources.Written, error) {
				return f.Undo(context.Background(), "", config.Writer{})
			})
		},
	}
}

// write makes one change and prints what it was.
func (o *writeOptions) write(words []string, change change) error {
	if err := o.origins.Check(); err != nil {
		return exit.Wrong(err)
	}
	if len(words) == 0 {
		return exit.Wrongf("NAME is missing")
	}
	if o.verbose || o.try {
		return exit.Wrongf("--verbose and --start are for config check")
	}
	out, err := change(o.files(), sources.Target{Server: words[0], File: o.file}, words[1:])
	if e := (*event.Error)(nil); o.file == "" && errors.As(err, &e) && e.Reason == event.ReasonConfigFileNeeded {
		return &exit.Error{Status: exit.Broken,
			Err: fmt.Errorf("%s with --file FILE; mcphub config places lists where applications look", e.Message)}
	}
	if err != nil {
		return proposals.ErrorOf(err)
	}
	if o.json {
		console.PrintValue(o.Out, map[string]any{"server": out.Server, "file": out.File, "line": out.Line,
			"dialect": out.Dialect, "leftOut": out.LeftOut})
		return nil
	}
	text := fmt.Sprintf("server %q is no longer in %s", out.Server, out.File)
	switch place := out.File + ":" + strconv.Itoa(out.Line); {
	case out.Line > 0 && o.undoes: // the entry is in the file
		text = fmt.Sprintf("the last change of server %q is undone: it is as before in %s", out.Server, place)
	case out.Line > 0:
		text = fmt.Sprintf("server %q is written: %s", out.Server, place)
	case o.undoes:
		text = fmt.Sprintf("the last change of server %q is undone: it is no longer in %s", out.Server, out.File)
	}
	fmt.Fprintln(o.Out, console.Escape(text))
	for _, p := range out.Problems {
		o.Say("%s", source.ProblemLine(config.Problem(p)))
	}
	for _, key := range out.LeftOut {
		o.Say("%s", console.Escape(fmt.Sprintf("key %q was left out: this file's dialect has no word for it", key)))
	}
	return nil
}

// files returns the files that the command may read and write.
func (o *writeOptions) files() *sources.Files {
	var named []string
	if o.file != "" {
		named = []string{o.file}
	}
	var list []sources.Source
	for _, s := range o.origins.Sources(named) {
		list = append(list, sources.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder})
	}
	return sources.NewFiles(sources.FilesOptions{StateDir: door.StateDir("command-line"), AnyFile: true,
		Redactor: &redact.Redactor{}, Logger: slog.New(slog.DiscardHandler), Sources: func() []sources.Source {
			return sources.Absolute(list)
		}})
}

// addOptions are the flags of mcphub config add.
type addOptions struct {
	writeOptions
	url, transport, entry, dir string
	env, headers               []string
	proposed                   proposalOptions
}

func (o *addOptions) register(c *cobra.Command) {
	o.writeOptions.register(c)
	set := c.Flags()
	set.StringVar(&o.url, "url", "", "URL\taddress of the server, in the place of a command")
	set.StringVar(&o.transport, "transport", "", "http|sse\tof an address; default: both are tried")
	set.StringArrayVar(&o.headers, "header", nil, "'NAME: VALUE'\tsent with each request to an address")
	set.StringArrayVar(&o.env, "env", nil, "NAME=VALUE\tenvironment variable of the command")
	set.StringVar(&o.dir, "cwd", "", "DIR\tworking directory of the command")
	set.StringVar(&o.entry, "entry", "", "JSON\tentry as instructions have it, in any dialect; - reads stdin")
	o.proposed.register(set)
}

func (o *addOptions) add(f *sources.Files, to sources.Target, command []string) (sources.Written, error) {
	form := edit.Form{JSON: o.entry}
	if o.entry == "-" {
		text, err := io.ReadAll(io.LimitReader(o.In, 1<<20))
		if err != nil {
			return sources.Written{}, exit.Wrong(err)
		}
		form.JSON = string(text)
	}
	given := 0
	for _, is := range []bool{o.entry != "", o.url != "", len(command) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return sources.Written{}, exit.Wrongf("say what to add: -- COMMAND ARG..., --url or --entry")
	}
	if o.entry == "" {
		entry := &edit.Entry{URL: o.url, Transport: o.transport, Dir: o.dir}
		if len(command) > 0 {
			entry.Command, entry.Args = command[0], command[1:]
		}
		for _, e := range o.env {
			name, value, ok := strings.Cut(e, "=")
			if !ok {
				return sources.Written{}, exit.Wrongf("--env %q: it is NAME=VALUE", name)
			}
			if entry.Env == nil {
				entry.Env = map[string]*string{}
			}
			entry.Env[name] = &value
		}
		for _, h := range o.headers {
			name, value, ok := strings.Cut(h, ":")
			if !ok {
				return sources.Written{}, exit.Wrongf("--header: it is 'NAME: VALUE'")
			}
			if entry.Header == nil {
				entry.Header = map[string]string{}
			}
			entry.Header[name] = strings.TrimSpace(value)
		}
		form.Entry = entry
	} else if o.transport+o.dir != "" || len(o.env)+len(o.headers) > 0 {
		return sources.Written{}, exit.Wrongf("--entry says all of it; leave out the other flags")
	}
	return f.Add(context.Background(), to, form, edit.Settings{})
}

// setOptions are the flags of mcphub config set.
type setOptions struct {
	writeOptions
	enabled, patch             string
	allow, asks, deny, timeout []string
}

func (o *setOptions) register(c *cobra.Command) {
	o.writeOptions.register(c)
	set := c.Flags()
	cmd.ChoiceFlag(set, &o.enabled, "enabled", "true|false", "switch it on or off")
	set.StringArrayVar(&o.allow, "allow", nil, "TOOL\tcalled without a question; a pattern with * and ? too")
	set.StringArrayVar(&o.asks, "ask", nil, "TOOL\tcalled after a question")
	set.StringArrayVar(&o.deny, "deny", nil, "TOOL\tnever called")
	set.StringArrayVar(&o.timeout, "timeout", nil,
		"CLOCK=DURATION\tconnect, idle, total or human; 0 is no limit, default takes it out")
	set.StringVar(&o.patch, "patch", "", "JSON\tmerge patch (RFC 7396) of the entry, in the keys of the file")
}

func (o *setOptions) set(f *sources.Files, to sources.Target, _ []string) (sources.Written, error) {
	set := edit.Settings{Approvals: map[string]config.Policy{}, Timeouts: map[string]*time.Duration{}}
	if o.enabled != "" {
		set.Enabled = new(o.enabled == "true")
	}
	for policy, tools := range map[config.Policy][]string{config.Allow: o.allow, config.Ask: o.asks, config.Deny: o.deny} {
		for _, tool := range tools {
			if set.Approvals[tool] != "" {
				return sources.Written{}, exit.Wrongf("tool %q has two policies", tool)
			}
			set.Approvals[tool] = policy
		}
	}
	for _, t := range o.timeout {
		clock, value, _ := strings.Cut(t, "=")
		if value == "default" {
			set.Timeouts[clock] = nil
			continue
		}
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return sources.Written{}, exit.Wrongf("--timeout %q: it is CLOCK=DURATION, total=90s say", t)
		}
		set.Timeouts[clock] = &d
	}
	if set.Enabled == nil && o.patch == "" && len(set.Approvals)+len(set.Timeouts) == 0 {
		return sources.Written{}, exit.Wrongf("say what to change: --enabled, --allow, --timeout, --patch")
	}
	return f.Update(context.Background(), to, edit.Update{Patch: o.patch, Settings: set})
}
