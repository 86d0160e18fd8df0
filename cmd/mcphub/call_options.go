package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// callOptions are the flags of the commands that make one request: call, read and prompt.
type callOptions struct {
	sourceFlags
	command     string
	tool, args  string // args: of a tool, or of a prompt template, as JSON
	task        bool
	uri         string            // for read
	name        string            // for prompt: the name of the template
	values      map[string]string // for prompt: args, after the check
	server      string
	requestID   string
	cancelAfter *time.Duration // since the server works on it; nil: never
	cancelAt    *time.Duration // since the start of the command; nil: never
	began       time.Time
	pairs       []string // from --arg
	reason      string
	answers     answers
	idle, total *time.Duration // nil: as in the config; 0: no limit
	linger      time.Duration
	json        bool
	trace       string // the file for the timeline, "" = none
}

func (o *callOptions) flags(command string) *pflag.FlagSet {
	o.command = command
	set := newFlags(command)
	switch command {
	case "read":
		set.StringVar(&o.uri, "uri", "", "URI\tURI of the resource")
	case "prompt":
		set.StringVar(&o.name, "name", "", "NAME\tname of the prompt template")
		set.StringVar(&o.args, "args", "", "JSON|@FILE|-\tvalues of its arguments, an object of strings")
	default:
		set.StringVar(&o.tool, "tool", "", "NAME\tname of the tool")
		set.StringVar(&o.args, "args", "", "JSON|@FILE|-\targuments, an object; that of a file, or of the input")
		set.FuncP("arg", "a",
			"NAME=VALUE\tone argument, read as the tool's schema says; a.b=x is within a; may be repeated, "+
				"for a list too", func(v string) error {
				o.pairs = append(o.pairs, v)
				return nil
			})
		set.BoolVar(&o.task, "task", false, "run it as a task, where the tool leaves the choice to the client")
	}
	o.register(set)
	set.StringVar(&o.server, "server", "", "NAME\tname of the server in the config")
	set.StringVar(&o.requestID, "request-id", "", "ID\tid of the request; minted when absent")
	optionalDuration(set, &o.cancelAfter, "cancel-after",
		"DUR\tcancel the request once the server has worked on it this long")
	optionalDuration(set, &o.cancelAt, "cancel-at",
		"DUR\tcancel the request this long after the command began, whatever it waits for then")
	set.StringVar(&o.reason, "reason", "cancelled from the command line",
		"TEXT\twhat the server is told when the request is cancelled")
	if command == "call" {
		choiceFlag(set, &o.answers.approve, "approve", "allow|deny|hang",
			"answer tool approvals; default: ask on a terminal, else fail")
	}
	set.Func("elicit", "accept:JSON|decline|dismiss|hang\tanswer a server's form or page; default: dismiss",
		o.answers.setElicit)
	set.StringVar(&o.answers.sample, "sample", "decline",
		"TEXT|decline|hang\tanswer a server that asks for a completion; default: decline")
	o.answers.registerStart(set)
	optionalDuration(set, &o.idle, "idle-timeout", "DUR\tgive up after this long without a sign of life; 0: never")
	optionalDuration(set, &o.total, "timeout", "DUR\tgive up after this long in all; 0: never")
	optionalDuration(set, &o.total, "total-timeout", "DUR\tan older name of --timeout")
	set.Lookup("total-timeout").Hidden = true
	set.DurationVar(&o.linger, "linger", 0, "DUR\tkeep the hub up this long after the end, so that late traffic is seen")
	set.StringVar(&o.trace, "trace", "",
		"FILE\twrite what happened, without arguments and results, to FILE for a bug report; mcphub trace shows it")
	set.BoolVar(&o.json, "json", false, "print every event, and last the response or the error, as lines of proto3 JSON")
	return set
}

// optionalDuration defines a duration flag that distinguishes 0 from a flag that is not given.
func optionalDuration(set *pflag.FlagSet, to **time.Duration, name, usage string) {
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

// take reads the words that are not flags: config files, the server unless a flag names it, and the tool, URI or
// template.
func (o *callOptions) take(words []string) error {
	names := o.sourceFlags.take(words)
	subject, flag := &o.tool, "--tool"
	switch o.command {
	case "read":
		subject, flag = &o.uri, "--uri"
	case "prompt":
		subject, flag = &o.name, "--name"
	}
	places := []struct {
		to   *string
		free bool
	}{{&o.server, o.server == "" && o.single() == ""}, {subject, *subject == ""}}
	if len(names) == 1 && *subject == "" && places[0].free && o.namesSubject(names[0]) {
		places[0].free = false
	}
	for _, p := range places {
		if p.free && len(names) > 0 {
			*p.to, names = names[0], names[1:]
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("%q is one argument too many: it is [SERVER] [%s]", names[0],
			strings.ToUpper(strings.TrimPrefix(flag, "--")))
	}
	return nil
}

// namesSubject reports whether a single word means the tool, URI or template, and not the server: it is a URI, or a
// name that no server has.
func (o *callOptions) namesSubject(word string) bool {
	if o.command == "read" {
		return strings.Contains(word, "://")
	}
	names := serverNames(&o.sourceFlags)
	return len(names) > 0 && !slices.Contains(names, word)
}

// readArguments replaces the value of --args by the content that it refers to.
func (o *callOptions) readArguments(stdin io.Reader) error {
	in, what := stdin, "the input"
	switch file, isFile := strings.CutPrefix(o.args, "@"); {
	case isFile:
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("--args: %w", err)
		}
		defer f.Close()
		in, what = f, file
	case o.args != "-":
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxArguments+1))
	if err == nil && len(text) > maxArguments {
		err = fmt.Errorf("%s has more than %d MiB", what, maxArguments>>20)
	}
	if err != nil {
		return fmt.Errorf("--args: %w", err)
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return fmt.Errorf("--args: %s is UTF-16, as Windows PowerShell writes with >; save it as UTF-8", what)
	}
	// Editors on Windows put a byte order mark before UTF-8.
	o.args = strings.TrimSpace(strings.TrimPrefix(string(text), "\uFEFF"))
	return nil
}

// maxArguments bounds the arguments that are read from a file or the input.
const maxArguments = 64 << 20

func (o *callOptions) check() error {
	if err := o.checkSubject(); err != nil {
		return err
	}
	if err := checkPairs(o.pairs); err != nil {
		return err
	}
	if err := o.sourceFlags.check(); err != nil {
		return err
	}
	switch {
	case o.single() != "" && o.server != "":
		return fmt.Errorf("--server names a server of a --config file; the server of --%s is the only one", o.single())
	case o.linger < 0:
		return errors.New("--linger: a duration cannot be negative")
	}
	if o.trace != "" {
		if err := checkTraceFile(o.trace); err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
	}
	if o.server == "" {
		server, err := o.choose()
		if err != nil {
			return err
		}
		o.server = server
	}
	if o.requestID == "" {
		o.requestID = "cli-" + strings.ToLower(rand.Text()[:10])
	}
	return o.answers.check()
}

// checkSubject returns an error if the flags for the tool, the URI or the template are wrong.
func (o *callOptions) checkSubject() error {
	switch o.command {
	case "read":
		if o.uri == "" {
			return errors.New("which resource? --uri URI; mcphub resources lists them")
		}
	case "prompt":
		if o.name == "" {
			return errors.New("which prompt template? --name NAME; mcphub prompts lists them")
		}
		// Arguments of templates are strings (MCP 2026-07-28, server/prompts: GetPromptRequest).
		if o.args != "" && (json.Unmarshal([]byte(o.args), &o.values) != nil || o.values == nil) {
			return errors.New(`--args: it is a JSON object of strings, {"name":"Ada"} say`)
		}
	default:
		if o.tool == "" {
			return errors.New("which tool? --tool NAME; mcphub tools lists them")
		}
	}
	return nil
}

// ask makes the request and waits for its end. If a call needs the tool's schema first, ask looks it up, until ready
// ends.
func (o *callOptions) ask(ctx, ready context.Context, client *hubClient) (answer, error) {
	switch o.command {
	case "read":
		return client.Servers.ReadResource(ctx, &mcphubv1.ReadResourceRequest{
			RequestId: o.requestID, Server: o.server, Uri: o.uri, Timeouts: o.timeouts(),
		})
	case "prompt":
		return client.Servers.GetMcpPrompt(ctx, &mcphubv1.GetMcpPromptRequest{
			RequestId: o.requestID, Server: o.server, Name: o.name, Arguments: o.values, Timeouts: o.timeouts(),
		})
	}
	request := o.request()
	if len(o.pairs) > 0 {
		text, err := o.typedArguments(ready, client)
		if err != nil {
			return nil, err
		}
		request.ArgumentsJson = text
	}
	return client.Hub.CallTool(ctx, request)
}

func (o *callOptions) request() *mcphubv1.CallToolRequest {
	return &mcphubv1.CallToolRequest{
		RequestId: o.requestID, Server: o.server, Tool: o.tool, ArgumentsJson: o.args, Timeouts: o.timeouts(),
		PreferTask: o.task,
	}
}

func (o *callOptions) timeouts() *mcphubv1.Timeouts {
	if o.idle == nil && o.total == nil {
		return nil
	}
	return &mcphubv1.Timeouts{Idle: optionalProto(o.idle), Total: optionalProto(o.total)}
}

func optionalProto(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}
