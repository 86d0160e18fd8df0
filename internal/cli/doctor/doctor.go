// Package doctor has mcphub doctor, which tells what is wrong with a server or a client.
//
// What must not live here: the examinations (internal/doctor, internal/doctor/clients).
package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// options are the flags of mcphub doctor.
type options struct {
	*door.Factory
	source.Flags
	inputs questions.Inputs
	tool   string
	args   string
	before time.Duration
	watch  time.Duration
	yes    bool
	all    bool
	json   bool
	report string
	client string
	drive  string
	play   string
}

// NewDoctorCmd returns mcphub doctor.
func NewDoctorCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "doctor [FILE...] [SERVER | --client 'CMD ARGS'] [--tool NAME --args JSON] [FLAGS]", GroupID: cmd.GroupLook,
		Short: "tell what is wrong with a server, and what becomes of a call that is cancelled",
		Long: `Starts the server several times, as the hub would, and tells its author or user how it starts and ends,
which revisions of MCP it speaks, whether it does what it declares, and which of its tools models refuse. With --tool
the tool is called and cancelled in each era that the server speaks, twice, and what comes afterwards is looked at: does
the work stop, does progress go on, are its own questions withdrawn, does the next call work. The tool has its effects,
so that is asked about first.

Each finding says what was seen, what the specification says, and what to do. --report FILE writes all of it in
Markdown, for an issue of the server's project; values from the environment, from inputs and of headers are taken out.

With --client it plays the server of a client instead, for authors of hosts and gateways, and tells what the client's
cancels are, what it does with late answers and withdrawn questions, and how it ends its servers. In the command
{server} stands for the words that start the server (for a command line within a longer word), {config} for a file with
mcpServers that has it, and {url} for its address over Streamable HTTP; the command has to run as long as the client.
With --client - you start the client yourself, and Ctrl-C ends the play. What to do with the client is said at the start;
--drive runs a program that does it. What nobody did is not seen, and is never taken for good.

Exit status: 0 nothing must be mended, 1 something must, 2 usage, or something of a client was not seen, 3 interrupted
while a server is examined, 5 not agreed to, 6 other trouble.
`,
		Example: "mcphub doctor files --all\nmcphub doctor --client 'app {server}'",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(_ *cobra.Command, words []string) error { return o.run(words) },
	}
	o.register(c)
	o.Complete(c, func(words []string) string {
		s := o.Flags
		if names := s.Take(words); len(names) > 0 {
			return names[0]
		}
		return o.Single()
	})
	c.ValidArgsFunction = cmd.CompleteWords(func(words []string) []string {
		s := o.Flags
		if len(s.Take(words)) > 0 {
			return nil
		}
		return s.ServerNames()
	})
	return c
}

func (o *options) register(c *cobra.Command) {
	o.Flags.Register(c)
	set := c.Flags()
	o.inputs.Register(set)
	set.StringVar(&o.tool, "tool", "", "NAME\tcall this tool and cancel it, to see what becomes of the call")
	set.StringVar(&o.args, "args", "{}", "JSON\targuments of the tool: such that it works for some seconds")
	set.StringVar(&o.client, "client", "",
		"'CMD ARGS'\texamine the client that this starts; no shell reads it; - if you start it")
	set.StringVar(&o.drive, "drive", "",
		"'CMD ARGS'\twith --client: run this to use the client, and end the play when it has ended")
	set.StringVar(&o.play, "play", "", "SOCKET\tserve the client that has started this process")
	set.Lookup("play").Hidden = true
	set.DurationVar(&o.before, "cancel-after", time.Second,
		"DURATION\tcancel after so long, or with the first progress")
	set.DurationVar(&o.watch, "watch", 3*time.Second, "DURATION\tlook for so long at what comes after a cancel")
	set.BoolVarP(&o.yes, "yes", "y", false, "start the server, and call the tool, without asking first")
	set.BoolVar(&o.all, "all", false, "tell what is as it should be as well")
	set.BoolVar(&o.json, "json", false, "print the report as one line of JSON")
	set.StringVar(&o.report, "report", "", "FILE\twrite the report in Markdown, for an issue of the server's project")
}

// run examines one server or client.
func (o *options) run(words []string) error {
	switch {
	case o.play != "":
		return o.runPlay()
	case o.client != "":
		return o.runClient(words)
	case o.drive != "":
		return exit.Wrongf("--drive goes with --client")
	}
	server := o.Single()
	switch names := o.Take(words); {
	case len(names) > 1 || len(names) == 1 && server != "":
		return exit.Wrong(o.TooMany(names[len(names)-1], ""))
	case len(names) == 1:
		server = names[0]
	}
	if err := o.checkDoctor(server); err != nil {
		return exit.Wrong(err)
	}
	conf, err := o.resolved(server)
	if err != nil {
		return exit.Wrong(err)
	}
	if no := refusal(conf); no != nil {
		return exit.Wrong(no.Error(conf.Name))
	}
	var secrets redact.Redactor
	secrets.Add(conf.Secrets...)
	secrets.Add(process.Credentials(os.Environ())...)
	options := doctor.Options{
		Client: mcp.Implementation{Name: "mcphub-doctor", Version: o.Version},
		Tool:   o.tool, Arguments: json.RawMessage(o.args), Before: o.before, Watch: o.watch,
	}
	if limit := conf.Timeouts.Connect; limit != nil {
		options.Connect = *limit
	}
	target := doctor.Target{Name: conf.Name, Way: way(conf), Hide: secrets.Text}
	if !o.yes && !o.agreed(target, options, conf.Origin.OfWorkspace(), secrets.Text(launchLine(conf))) {
		return exit.Denied
	}
	if !o.json {
		options.Doing = func(text string) { o.Say("  %s", console.Escape(text)) }
	}
	ctx, stop := o.Interruptible()
	defer stop()
	report, err := doctor.Examine(ctx, target, options)
	missing, noTool := errors.AsType[*doctor.NoToolError](err)
	if noTool {
		o.Tell("mcphub doctor: %s%s", console.Escape(err.Error()), console.Escape(event.Hint(missing.Tool, missing.Tools)))
	} else if errors.Is(err, doctor.ErrSignIn) {
		o.Tell("mcphub doctor: %v, and the doctor has none: with --url give --header 'Authorization: Bearer TOKEN', in a "+
			"config file set it in the headers of the server's entry", err)
	} else if err != nil {
		o.Tell("mcphub doctor: %s", console.Escape(err.Error()))
	}
	if failed := o.write(report); failed != nil {
		return failed
	}
	switch {
	case ctx.Err() != nil:
		return exit.Cancelled
	case noTool:
		return exit.Usage
	case err != nil:
		return exit.Server
	case report.Worst() == doctor.Mend:
		return exit.ToolError
	}
	return nil
}

func (o *options) checkDoctor(server string) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.inputs.Check(); err != nil {
		return err
	}
	if server == "" {
		return errors.New("which server? Name one of the config")
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal([]byte(o.args), &arguments) != nil || arguments == nil {
		return errors.New(`--args: it is a JSON object, {"seconds":30} say`)
	}
	if o.before <= 0 || o.watch <= 0 {
		return errors.New("--cancel-after and --watch: they are longer than nothing")
	}
	return nil
}

// agreed reports whether the examination may begin. It asks a person before a workspace's server is started, and before
// a tool is called that may have effects.
func (o *options) agreed(t doctor.Target, options doctor.Options, workspace bool,
	launch string) bool {
	var ask []string
	if workspace {
		ask = append(ask, fmt.Sprintf("This starts a server that a workspace brings, several times: %s", launch))
	}
	if n := doctor.Calls(t, options); n > 0 {
		ask = append(ask, fmt.Sprintf("The tool %s of %s will be called up to %d times and cancelled. Its effects are real.",
			options.Tool, t.Name, n))
	}
	if len(ask) == 0 {
		return true
	}
	for _, line := range ask {
		o.Say("%s", console.Escape(line))
	}
	if !console.IsTerminal(o.In) {
		o.Say("mcphub doctor: nobody could be asked: there is no terminal; --yes agrees")
		return false
	}
	return console.IsYes(o.Ask("Go on? [y/N]", false).Text)
}

// write writes the report to the file of --report, and to stdout.
func (o *options) write(report *doctor.Report) error {
	if o.report != "" {
		file, err := os.OpenFile(o.report, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		if err := errors.Join(report.WriteMarkdown(file), file.Close()); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if o.json {
		console.PrintValue(o.Out, report)
		return nil
	}
	writeText(o.Out, report, o.all)
	return nil
}

// headings are those of the levels, in their order.
var headings = []struct {
	level        doctor.Level
	text, colour string
}{
	{doctor.Mend, "To mend", console.Red}, {doctor.Improve, "To improve", console.Yellow},
	{doctor.Unseen, "Not seen", console.Yellow}, {doctor.Note, "Good to know", console.Bold},
	{doctor.Good, "As it should be", console.Green},
}

// writeText writes a report for people. With all, it includes the findings of level Good.
func writeText(w io.Writer, r *doctor.Report, all bool) {
	line := func(indent int, text string) {
		text = strings.Repeat(" ", indent) + strings.Join(strings.Fields(text), " ")
		fmt.Fprint(w, console.Hang(text, indent+2, console.PageWidth(w)))
	}
	line(0, r.Title())
	for _, fact := range r.Facts() {
		line(2, fact)
	}
	for _, h := range headings {
		if r.Count(h.level) == 0 || h.level == doctor.Good && !all {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", console.Paint(w, h.colour, h.text))
		for _, f := range r.Findings {
			if f.Level != h.level {
				continue
			}
			line(2, fmt.Sprintf("%s%s: %s", f.Check, f.Where(), f.Seen))
			if f.Do != "" {
				line(4, "do: "+f.Do)
			}
			if f.Spec != "" && (f.Level == doctor.Mend || f.Level == doctor.Improve) {
				line(4, fmt.Sprintf("%s: %s", f.Spec, f.Says))
			}
		}
	}
	fmt.Fprintf(w, "\n%s\n", r.Verdict())
}

// resolved returns the server with that name as the hub would start it, with the values of its references.
func (o *options) resolved(name string) (config.Resolved, error) {
	given, err := o.Sources(name)
	if err != nil {
		return config.Resolved{}, err
	}
	servers, problems := config.Load(source.ConfigSources(given))
	var names []string
	for _, s := range servers {
		if s.Name == name {
			v := source.Variables(o.inputs.Values)
			source.WarnUnresolved(o.Streams, s, v)
			return s.Resolve(v)
		}
		names = append(names, s.Name)
	}
	for _, p := range problems {
		if p.Server == name || len(servers) == 0 {
			return config.Resolved{}, fmt.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
	return config.Resolved{}, fmt.Errorf("there is no server %q%s", name, event.Hint(name, names))
}

// way returns the way to reach the server. A URL without a transport is tried as a hub tries it.
func way(conf config.Resolved) doctor.Way {
	heir := process.Own
	if conf.Origin.OfWorkspace() {
		heir = process.Stranger
	}
	if conf.URL == "" {
		return doctor.Way{Transport: doctor.Stdio, Command: process.Command{
			Path: conf.Command, Program: conf.Program, Args: conf.Args, Dir: conf.Dir,
			Env: process.Environment(os.Environ(), heir, conf.Env),
		}}
	}
	header := http.Header{}
	for name, value := range conf.Header {
		header.Set(name, value)
	}
	at := transport.HTTPOptions{URL: conf.URL, Header: header}
	if conf.Transport == config.TransportSSE {
		return doctor.Way{Transport: doctor.SSE, HTTP: at}
	}
	return doctor.Way{Transport: doctor.HTTP, HTTP: at, OrSSE: conf.Transport == config.TransportAuto}
}

// policyFile is the file of the system's managed policy. Tests have one of their own.
var policyFile = hub.SystemPolicyFile()

// refusal returns which rule of the system's managed policy refuses the launch, nil if none does: the doctor is no way
// around it.
func refusal(conf config.Resolved) *event.LaunchRefusal {
	policies := hub.SystemPolicies(policyFile)
	if len(policies) == 0 {
		return nil
	}
	program, _ := process.Find(way(conf).Command) // a program that is not found is told by the start
	return core.JudgePolicies(policies, (&grants.Resolver{}).IdentityOf(conf, program))
}

// launchLine returns what is run or reached, for people.
func launchLine(conf config.Resolved) string {
	if conf.URL != "" {
		return conf.DisplayURL()
	}
	return strings.Join(append([]string{conf.Command}, conf.Args...), " ")
}
