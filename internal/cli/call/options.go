package call

import (
	"bytes"
	"cmp"
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

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const signInHelp = `Where a server wants a sign-in, the address of a page is printed, for you to open in a browser of
this computer. The tokens are kept in the system's keyring; where there is none, in files that only you can read, in
the directory command-line of mcphub's state directory (MCPHUB_STATE_DIR names another one; set but empty, without a
keyring they last as long as the command).
`

const startHelp = `A server of a file with --scope workspace starts only after a yes to what it would run; --approve
is about tools and says nothing to that. Values that a file asks for (${input:ID}) are typed without being shown when
they are secret; one that is given with --input ID=VALUE can be seen by other users of this machine (in ps), one that
is given with --input ID=@NAME, as the environment variable NAME, cannot. (A value that begins with @ is written with
@@.) Nothing of it is remembered.
`

const exitHelp = `Exit status: 0 result, 1 result with isError or error of the server, 2 usage, 3 cancelled, 4 timed
out, 5 denied or nobody to ask, 6 server trouble.`

// NewCallCmd returns mcphub call.
func NewCallCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "call [FILE...] [SERVER] TOOL [-a NAME=VALUE]... [FLAGS]", Short: "call one tool from outside, end to end",
		Long: `Calls one tool through a hub of its own. The text of the result goes to stdout, everything else to stderr.
With --json each event of the window stream is one line of proto3 JSON on stdout, and the last line is
{"callToolResponse":...} or {"error":{"code":...,"reason":...,"message":...}}. Ctrl-C cancels the request and waits
for its end; a second one leaves at once.

` + source.Help + `A name that no server has is the tool's; the server may be left out where there is one.

On a terminal, without a tool, it asks for the server, the tool and its arguments, and prints the command line that
says the same.

--cancel-after counts from the moment in which the request is at the server, so that the cancel reaches it;
--cancel-at counts from the start of the command.

` + signInHelp + `
` + startHelp + `
` + exitHelp + `
`,
		Example: `  mcphub call --stdio 'npx -y @modelcontextprotocol/server-everything' \
      echo -a message=hi
  mcphub call mcp.json demo sleep -a seconds=60 \
      --cancel-after 2s --reason 'took too long'
  mcphub call demo echo --args @arguments.json`,
	})
}

// NewReadCmd returns mcphub read.
func NewReadCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "read [FILE...] [SERVER] URI [FLAGS]", Short: "read one resource",
		Long: `Reads one resource as mcphub call calls a tool; the last line under --json is {"readResourceResponse":...} or
{"error":...}.

` + exitHelp + `
`,
	})
}

// NewPromptCmd returns mcphub prompt.
func NewPromptCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "prompt [FILE...] [SERVER] NAME [--args JSON] [FLAGS]", Short: "fill one prompt template",
		Long: `Fills one prompt template as mcphub call calls a tool; the last line under --json is
{"getMcpPromptResponse":...} or {"error":...}.

` + exitHelp + `
`,
	})
}

// newRequestCmd completes c to a command that makes one request.
func newRequestCmd(f *door.Factory, c *cobra.Command) *cobra.Command {
	o := &options{Factory: f}
	c.GroupID, c.Args = cmd.GroupUse, cobra.ArbitraryArgs
	c.RunE = func(_ *cobra.Command, words []string) error { return o.run(words) }
	o.register(c)
	o.complete(c)
	return c
}

// options are the flags of the commands that make one request: call, read and prompt.
type options struct {
	*door.Factory
	source.Flags
	command     string            // call, read or prompt
	target      string            // the tool, the URI, or the name of the template
	args        string            // of a tool, or of a prompt template, as JSON
	values      map[string]string // args of a prompt template, after the check
	pairs       []string          // from --arg
	task        bool
	server      string
	requestID   string
	cancelAfter *time.Duration // since the server works on it; nil: never
	cancelAt    *time.Duration // since the start of the command; nil: never
	began       time.Time
	reason      string
	answers     questions.Answers
	idle, total *time.Duration // nil: as in the config; 0: no limit
	linger      time.Duration
	json        bool
	trace       string // the file for the timeline, "" = none
}

// targets are the flags that name the target of a command's request: name, usage, and the error without it.
var targets = map[string][3]string{
	"call":   {"tool", "NAME\tname of the tool", "which tool? --tool NAME; mcphub tools lists them"},
	"read":   {"uri", "URI\tURI of the resource", "which resource? --uri URI; mcphub resources lists them"},
	"prompt": {"name", "NAME\tname of the prompt template", "which prompt template? --name NAME; mcphub prompts lists them"},
}

func (o *options) register(c *cobra.Command) {
	o.command = c.Name()
	set, target := c.Flags(), targets[o.command]
	set.StringVar(&o.target, target[0], "", target[1])
	switch o.command {
	case "prompt":
		set.StringVar(&o.args, "args", "", "JSON|@FILE|-\tvalues of its arguments, an object of strings")
	case "call":
		set.StringVar(&o.args, "args", "", "JSON|@FILE|-\targuments, an object; that of a file, or of the input")
		set.StringArrayVarP(&o.pairs, "arg", "a", nil, "NAME=VALUE\tone argument, read as the tool's schema says; a.b=x is "+
			"within a; may be repeated, for a list too")
		set.BoolVar(&o.task, "task", false, "run it as a task, where the tool leaves the choice to the client")
	}
	o.Flags.Register(c)
	set.StringVar(&o.server, "server", "", "NAME\tname of the server in the config")
	set.StringVar(&o.requestID, "request-id", "", "ID\tid of the request; minted when absent")
	cmd.OptionalDuration(set, &o.cancelAfter, "cancel-after",
		"DUR\tcancel the request once the server has worked on it this long")
	cmd.OptionalDuration(set, &o.cancelAt, "cancel-at",
		"DUR\tcancel the request this long after the command began, whatever it waits for then")
	set.StringVar(&o.reason, "reason", "cancelled from the command line",
		"TEXT\twhat the server is told when the request is cancelled")
	if o.command == "call" {
		cmd.ChoiceFlag(set, &o.answers.Approve, "approve", "allow|deny|hang",
			"answer tool approvals; default: ask on a terminal, else fail")
	}
	o.answers.RegisterCall(set)
	cmd.OptionalDuration(set, &o.idle, "idle-timeout", "DUR\tgive up after this long without a sign of life; 0: never")
	cmd.OptionalDuration(set, &o.total, "timeout", "DUR\tgive up after this long in all; 0: never")
	cmd.OptionalDuration(set, &o.total, "total-timeout", "DUR\tan older name of --timeout")
	set.Lookup("total-timeout").Hidden = true
	set.DurationVar(&o.linger, "linger", 0, "DUR\tkeep the hub up this long after the end, so that late traffic is seen")
	set.StringVar(&o.trace, "trace", "",
		"FILE\twrite what happened, without arguments and results, to FILE for a bug report; mcphub trace shows it")
	set.BoolVar(&o.json, "json", false, "print every event, and last the response or the error, as lines of proto3 JSON")
}

// named returns the server that the flags and arguments name so far, and how many further names there are. It is for
// completion, before the command line is read.
func (o *options) named(words []string) (server string, further int) {
	s := o.Flags
	names := s.Take(words)
	if server = cmp.Or(o.server, o.Single()); server == "" && len(names) > 0 {
		server, names = names[0], names[1:]
	}
	return server, len(names)
}

// complete sets the completion of the arguments, and of the flags that name servers and tools.
func (o *options) complete(c *cobra.Command) {
	o.Flags.Complete(c, func(words []string) string {
		server, _ := o.named(words)
		return server
	})
	c.ValidArgsFunction = cmd.CompleteWords(func(words []string) []string {
		switch server, n := o.named(words); {
		case server == "":
			names := o.ServersAfter(words)
			if len(names) == 1 && o.command == "call" && o.target == "" { // it may be left out
				return append(names, source.ToolNames(names[0])...)
			}
			return names
		case o.command == "call" && n == 0 && o.target == "":
			return source.ToolNames(server)
		}
		return nil
	})
}

// take reads the words that are not flags: config files, the server unless a flag names it, and the target.
func (o *options) take(words []string) error {
	names := o.Flags.Take(words)
	serverFree := o.server == "" && o.Single() == ""
	if len(names) == 1 && o.target == "" && serverFree && o.namesTarget(names[0]) {
		serverFree = false
	}
	if serverFree && len(names) > 0 {
		o.server, names = names[0], names[1:]
	}
	if o.target == "" && len(names) > 0 {
		o.target, names = names[0], names[1:]
	}
	if len(names) > 0 {
		return o.TooMany(names[0], "[SERVER] ["+strings.ToUpper(targets[o.command][0])+"]")
	}
	return nil
}

// namesTarget reports whether a single word means the target, and not the server: it is a URI, or a
// name that no server has.
func (o *options) namesTarget(word string) bool {
	if o.command == "read" {
		return strings.Contains(word, "://")
	}
	names := o.ServerNames()
	return len(names) > 0 && !slices.Contains(names, word)
}

// readArguments replaces the value of --args by the content that it refers to.
func (o *options) readArguments(stdin io.Reader) error {
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

func (o *options) check() error {
	if o.target == "" {
		return errors.New(targets[o.command][2])
	}
	// Arguments of templates are strings (MCP 2026-07-28, server/prompts: GetPromptRequest).
	if o.command == "prompt" && o.args != "" && (json.Unmarshal([]byte(o.args), &o.values) != nil || o.values == nil) {
		return errors.New(`--args: it is a JSON object of strings, {"name":"Ada"} say`)
	}
	if err := toolargs.CheckPairs(o.pairs); err != nil {
		return err
	}
	if err := o.Flags.Check(); err != nil {
		return err
	}
	switch {
	case o.Single() != "" && o.server != "":
		return fmt.Errorf("--server names a server of a --config file; the server of --%s is the only one", o.Single())
	case o.linger < 0:
		return errors.New("--linger: a duration cannot be negative")
	}
	if o.trace != "" {
		if err := checkTraceFile(o.trace); err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
	}
	if o.server == "" {
		server, err := o.Choose()
		if err != nil {
			return err
		}
		o.server = server
	}
	if o.requestID == "" {
		o.requestID = "cli-" + strings.ToLower(rand.Text()[:10])
	}
	return o.answers.Inputs.Check()
}

// ask makes the request and waits for its end. If a call needs the tool's schema first, ask looks it up, until ready
// ends.
func (o *options) ask(ctx, ready context.Context, client *door.Client) (answer, error) {
	switch o.command {
	case "read":
		return client.Servers.ReadResource(ctx, &mcphubv1.ReadResourceRequest{
			RequestId: o.requestID, Server: o.server, Uri: o.target, Timeouts: o.timeouts(),
		})
	case "prompt":
		return client.Servers.GetMcpPrompt(ctx, &mcphubv1.GetMcpPromptRequest{
			RequestId: o.requestID, Server: o.server, Name: o.target, Arguments: o.values, Timeouts: o.timeouts(),
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

func (o *options) request() *mcphubv1.CallToolRequest {
	return &mcphubv1.CallToolRequest{
		RequestId: o.requestID, Server: o.server, Tool: o.target, ArgumentsJson: o.args, Timeouts: o.timeouts(),
		PreferTask: o.task,
	}
}

func (o *options) timeouts() *mcphubv1.Timeouts {
	if o.idle == nil && o.total == nil {
		return nil
	}
	t := &mcphubv1.Timeouts{}
	if o.idle != nil {
		t.Idle = durationpb.New(*o.idle)
	}
	if o.total != nil {
		t.Total = durationpb.New(*o.total)
	}
	return t
}

// typedArguments returns the arguments of the call: those of --args, overridden by those of --arg, which are read
// according to the tool's schema. The schema comes from the server, which is started for that.
func (o *options) typedArguments(ctx context.Context, client *door.Client) (string, error) {
	r, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: o.server})
	if ctx.Err() != nil {
		return "", exit.Failf("CANCELLED", "%v before the call", context.Cause(ctx))
	}
	if err != nil {
		return "", err
	}
	tool, err := toolargs.FindTool(r.GetTools(), o.server, o.target)
	if err != nil {
		return "", err
	}
	arguments := toolargs.Read(tool.GetDefinitionJson())
	text, err := toolargs.WithPairs(o.args, o.pairs, &arguments)
	if err != nil {
		return "", &exit.Failure{Code: "INVALID_ARGUMENT", Reason: "INVALID_ARGUMENTS", Message: err.Error()}
	}
	return text, nil
}
