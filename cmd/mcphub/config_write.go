package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// writeOptions are the flags of the commands that change config files.
type writeOptions struct {
	*configOptions
	file  string
	stdin io.Reader

	url, transport, json, dir string   // for add
	env, headers              []string // for add
	proposed                  proposalOptions

	enabled, patch             string   // for set
	allow, asks, deny, timeout []string // for set
}

const changeHelp = `Comments, order and every other byte of the file stay; a form that cannot be changed is refused with
its line. What you write so is as if you had written it by hand: nobody asks before the server starts, unless the file
is a workspace's.

Without --file it is the file in a known place that has the server; mcphub config places lists them.

Exit status: 0 written, 1 refused, and the file is as it was, 2 usage.
`

// addConfigWrites adds the commands that change config files.
func (l *commandLine) addConfigWrites(c *cobra.Command, o *configOptions) {
	flags := func(name string, w *writeOptions) *pflag.FlagSet {
		set := newFlags("config " + name)
		set.StringVar(&w.file, "file", "", "FILE\tconfig file; default: one in a known place")
		return set
	}
	add := &writeOptions{configOptions: o, stdin: l.env.stdin}
	set := flags("add", add)
	set.StringVar(&add.url, "url", "", "URL\taddress of the server, in the place of a command")
	set.StringVar(&add.transport, "transport", "", "http|sse\tof an address; default: both are tried")
	set.StringArrayVar(&add.headers, "header", nil, "'NAME: VALUE'\tsent with each request to an address")
	set.StringArrayVar(&add.env, "env", nil, "NAME=VALUE\tenvironment variable of the command")
	set.StringVar(&add.dir, "cwd", "", "DIR\tworking directory of the command")
	set.StringVar(&add.json, "entry", "", "JSON\tentry as instructions have it, in any dialect; - reads stdin")
	add.proposed.register(set)
	l.add(c, spec{
		use:   "add [NAME] [FLAGS] [-- COMMAND ARG...]",
		short: "add a server to a config file",
		page: `Adds a server: a command with its arguments behind --, an address (--url), or an entry as instructions
have it (--entry), which is written in the words of the file. Without --file it is the strongest file of yours that is in a
known place. A file that is named and not there is made.

` + proposalHelp + "\n" + changeHelp,
		example: `  mcphub config add files --file .vscode/mcp.json -- npx -y @modelcontextprotocol/server-filesystem .
  mcphub config add tickets --url https://tickets.example.com/mcp
  mcphub config add --from-registry io.example/weather \
      --registry https://registry.example.com --input KEY=@WEATHER_KEY
  mcphub config add --bundle notes.mcpb`,
		most: manyFiles, flags: set,
		run: func(words []string) int {
			if !add.proposed.offered() {
				return l.writeConfig("add", add, words, add.add)
			}
			if len(words) == 0 {
				words = []string{""} // the proposal has a name
			}
			return l.writeConfig("add", add, words, func(f *sources.Files, to sources.Target,
				command []string) (sources.Written, error) {
				if len(command) > 0 {
					return sources.Written{}, errUsage{errors.New("what is offered says its command itself")}
				}
				return l.addOffered(add, f, to)
			})
		},
	})
	change := &writeOptions{configOptions: o}
	set = flags("set", change)
	choiceFlag(set, &change.enabled, "enabled", "true|false", "switch it on or off")
	set.StringArrayVar(&change.allow, "allow", nil, "TOOL\tcalled without a question; a pattern with * and ? too")
	set.StringArrayVar(&change.asks, "ask", nil, "TOOL\tcalled after a question")
	set.StringArrayVar(&change.deny, "deny", nil, "TOOL\tnever called")
	set.StringArrayVar(&change.timeout, "timeout", nil,
		"CLOCK=DURATION\tconnect, idle, total or human; 0 is no limit, default takes it out")
	set.StringVar(&change.patch, "patch", "", "JSON\tmerge patch (RFC 7396) of the entry, in the keys of the file")
	l.add(c, spec{
		use: "set NAME [FLAGS]", short: "change a server of a config file",
		page: "Changes the entry of a server.\n\n" + changeHelp, most: 1, flags: set,
		example: `  mcphub config set files --allow 'read_*' --timeout total=90s
  mcphub config set files --patch '{"args": ["-y", "server", "notes"], "cwd": null}'`,
		run: func(words []string) int { return l.writeConfig("set", change, words, change.set) },
	})
	remove := &writeOptions{configOptions: o}
	l.add(c, spec{
		use: "remove NAME [FLAGS]", short: "take a server out of a config file",
		page: "Takes the entry of a server out of its file, a broken one too.\n\n" + changeHelp, most: 1,
		flags: flags("remove", remove),
		run: func(words []string) int {
			return l.writeConfig("remove", remove, words, func(f *sources.Files, to sources.Target, _ []string) (sources.Written,
				error) {
				return f.Remove(context.Background(), to)
			})
		},
	})
	undo := &writeOptions{configOptions: o}
	l.add(c, spec{
		use: "undo", short: "undo the last change by add, set or remove",
		page: `Gives the file of the last change the text that it had before, if nobody has changed it since. Undone twice,
it is as it was changed.

Exit status: 0 written, 1 refused, 2 usage.
`,
		run: func([]string) int {
			return l.writeConfig("undo", undo, []string{""}, undoConfig)
		},
	})
}

func undoConfig(f *sources.Files, _ sources.Target, _ []string) (sources.Written, error) {
	return f.Undo(context.Background(), "", config.Writer{})
}

// errUsage wraps an error in the command line itself.
type errUsage struct{ error }

// writeConfig makes one change and prints what it was.
func (l *commandLine) writeConfig(name string, o *writeOptions, words []string,
	write func(*sources.Files, sources.Target, []string) (sources.Written, error)) int {
	command := "config " + name
	err := o.origins.check()
	switch {
	case err == nil && len(words) == 0:
		err = errors.New("NAME is missing")
	case err == nil && (o.verbose || o.try):
		err = errors.New("--verbose and --start are for config check")
	}
	if err != nil {
		return usageError(l.env, command, err)
	}
	out, err := write(o.files(), sources.Target{Server: words[0], File: o.file}, words[1:])
	if wrong, ok := errors.AsType[errUsage](err); ok {
		return usageError(l.env, command, wrong.error)
	}
	if err != nil {
		l.env.say("mcphub %s: %s", command, escape(event.AsError(err).Message))
		return exitBroken
	}
	if o.configOptions.json {
		printValue(l.env.stdout, map[string]any{"server": out.Server, "file": out.File, "line": out.Line,
			"dialect": out.Dialect, "leftOut": out.LeftOut})
		return exitOK
	}
	place, done := out.File, "is written: " // if there is a line, the entry is in the file
	if out.Line > 0 {
		place += ":" + strconv.Itoa(out.Line)
	} else {
		done = "is no longer in "
	}
	fmt.Fprintln(l.env.stdout, escape(fmt.Sprintf("server %q %s%s", out.Server, done, place)))
	for _, p := range out.Problems {
		l.env.say("%s", problemReport(p).line())
	}
	for _, key := range out.LeftOut {
		l.env.say("%s", escape(fmt.Sprintf("key %q was left out: this file's dialect has no word for it", key)))
	}
	return exitOK
}

// files returns the files that the command may read and write.
func (o *writeOptions) files() *sources.Files {
	var named []string
	if o.file != "" {
		named = []string{o.file}
	}
	var list []sources.Source
	for _, s := range o.origins.sources(named) {
		list = append(list, sources.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder})
	}
	return sources.NewFiles(sources.FilesOptions{StateDir: stateDir("command-line"), AnyFile: true,
		Redactor: &redact.Redactor{}, Logger: slog.New(slog.DiscardHandler), Sources: func() []sources.Source {
			return sources.Absolute(list)
		}})
}

func (o *writeOptions) add(f *sources.Files, to sources.Target, command []string) (sources.Written, error) {
	form := edit.Form{JSON: o.json, Dialect: ""}
	if o.json == "-" {
		text, err := io.ReadAll(io.LimitReader(o.stdin, 1<<20))
		if err != nil {
			return sources.Written{}, errUsage{err}
		}
		form.JSON = string(text)
	}
	given := 0
	for _, is := range []bool{o.json != "", o.url != "", len(command) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return sources.Written{}, errUsage{errors.New("say what to add: -- COMMAND ARG..., --url or --entry")}
	}
	if o.json == "" {
		entry := &edit.Entry{URL: o.url, Transport: o.transport, Dir: o.dir}
		if len(command) > 0 {
			entry.Command, entry.Args = command[0], command[1:]
		}
		for _, e := range o.env {
			name, value, ok := strings.Cut(e, "=")
			if !ok {
				return sources.Written{}, errUsage{fmt.Errorf("--env %q: it is NAME=VALUE", name)}
			}
			if entry.Env == nil {
				entry.Env = map[string]*string{}
			}
			entry.Env[name] = &value
		}
		for _, h := range o.headers {
			name, value, ok := strings.Cut(h, ":")
			if !ok {
				return sources.Written{}, errUsage{errors.New("--header: it is 'NAME: VALUE'")}
			}
			if entry.Header == nil {
				entry.Header = map[string]string{}
			}
			entry.Header[name] = strings.TrimSpace(value)
		}
		form.Entry = entry
	} else if slices.ContainsFunc([]string{o.transport, o.dir}, func(s string) bool { return s != "" }) ||
		len(o.env)+len(o.headers) > 0 {
		return sources.Written{}, errUsage{errors.New("--entry says all of it; leave out the other flags")}
	}
	return f.Add(context.Background(), to, form, edit.Settings{})
}

func (o *writeOptions) set(f *sources.Files, to sources.Target, _ []string) (sources.Written, error) {
	set := edit.Settings{Approvals: map[string]config.Policy{}, Timeouts: map[string]*time.Duration{}}
	if o.enabled != "" {
		set.Enabled = new(o.enabled == "true")
	}
	for policy, tools := range map[config.Policy][]string{config.Allow: o.allow, config.Ask: o.asks, config.Deny: o.deny} {
		for _, tool := range tools {
			if set.Approvals[tool] != "" {
				return sources.Written{}, errUsage{fmt.Errorf("tool %q has two policies", tool)}
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
			return sources.Written{}, errUsage{fmt.Errorf("--timeout %q: it is CLOCK=DURATION, total=90s say", t)}
		}
		set.Timeouts[clock] = &d
	}
	if set.Enabled == nil && o.patch == "" && len(set.Approvals)+len(set.Timeouts) == 0 {
		return sources.Written{}, errUsage{errors.New("say what to change: --enabled, --allow, --timeout, --patch")}
	}
	return f.Update(context.Background(), to, edit.Update{Patch: o.patch, Settings: set})
}
