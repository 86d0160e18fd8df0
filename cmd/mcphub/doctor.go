package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// doctorOptions are the flags of mcphub doctor.
type doctorOptions struct {
	sourceFlags
	inputs inputFlags
	tool   string
	args   string
	before time.Duration
	watch  time.Duration
	yes    bool
	all    bool
	json   bool
	report string
}

func (o *doctorOptions) flags() *pflag.FlagSet {
	set := newFlags("doctor")
	o.register(set)
	o.inputs.register(set)
	set.StringVar(&o.tool, "tool", "", "NAME\tcall this tool and cancel it, to see what becomes of the call")
	set.StringVar(&o.args, "args", "{}", "JSON\targuments of the tool: such that it works for some seconds")
	set.DurationVar(&o.before, "cancel-after", time.Second,
		"DURATION\tcancel after so long, or with the first progress")
	set.DurationVar(&o.watch, "watch", 3*time.Second, "DURATION\tlook for so long at what comes after a cancel")
	set.BoolVarP(&o.yes, "yes", "y", false, "start the server, and call the tool, without asking first")
	set.BoolVar(&o.all, "all", false, "tell what is as it should be as well")
	set.BoolVar(&o.json, "json", false, "print the report as one line of JSON")
	set.StringVar(&o.report, "report", "", "FILE\twrite the report in Markdown, for an issue of the server's project")
	return set
}

// runDoctor examines one server.
func runDoctor(env environment, o *doctorOptions, positional []string) int {
	server := o.single()
	switch names := o.take(positional); {
	case len(names) > 1 || len(names) == 1 && server != "":
		return usageError(env, "doctor", fmt.Errorf("%q is one argument too many", names[len(names)-1]))
	case len(names) == 1:
		server = names[0]
	}
	if err := o.checkDoctor(server); err != nil {
		return usageError(env, "doctor", err)
	}
	conf, err := o.resolved(server)
	if err != nil {
		return usageError(env, "doctor", err)
	}
	var secrets redact.Redactor
	secrets.Add(conf.Secrets...)
	secrets.Add(transport.Credentials(os.Environ())...)
	options := doctor.Options{
		Client: mcp.Implementation{Name: "mcphub-doctor", Version: version},
		Tool:   o.tool, Arguments: json.RawMessage(o.args), Before: o.before, Watch: o.watch,
	}
	if limit := conf.Timeouts.Connect; limit != nil {
		options.Connect = *limit
	}
	target := doctor.Target{Name: conf.Name, Ways: ways(conf), Hide: secrets.Text}
	if !o.yes && !o.agreed(env, target, options, conf.Origin.OfWorkspace(), secrets.Text(launchLine(conf))) {
		return exitDenied
	}
	if !o.json {
		options.Doing = func(text string) { env.say("  %s", escape(text)) }
	}
	ctx, stop := env.interruptible()
	defer stop()
	report, err := doctor.Examine(ctx, target, options)
	missing, noTool := errors.AsType[*doctor.NoToolError](err)
	if noTool {
		env.tell("mcphub doctor: %s%s", escape(err.Error()), escape(nearmiss.Hint(missing.Tool, missing.Tools)))
	} else if errors.Is(err, doctor.ErrSignIn) {
		env.tell("mcphub doctor: %v, and the doctor has none: with --url give --header 'Authorization: Bearer TOKEN', in a "+
			"config file set it in the headers of the server's entry", err)
	} else if err != nil {
		env.tell("mcphub doctor: %s", escape(err.Error()))
	}
	if failed := o.write(env, report); failed != nil {
		env.tell("mcphub doctor: %s", escape(failed.Error()))
		return exitServer
	}
	switch {
	case ctx.Err() != nil:
		return exitCancelled
	case noTool:
		return exitUsage
	case err != nil:
		return exitServer
	case report.Worst() == doctor.Mend:
		return exitToolError
	}
	return exitOK
}

func (o *doctorOptions) checkDoctor(server string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.inputs.check(); err != nil {
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
func (o *doctorOptions) agreed(env environment, t doctor.Target, options doctor.Options, workspace bool,
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
		env.say("%s", escape(line))
	}
	if !isTerminal(env.stdin) {
		env.say("mcphub doctor: nobody could be asked: there is no terminal; --yes agrees")
		return false
	}
	return isYes(env.ask("Go on? [y/N]", false).text)
}

// write writes the report to the file of --report, and to stdout.
func (o *doctorOptions) write(env environment, report *doctor.Report) error {
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
		printValue(env.stdout, report)
		return nil
	}
	return report.WriteText(env.stdout, terminalWidth(env.stdout), o.all, o.paint(env))
}

// paint returns a function that colours the headings of a report, nil if there are no colours.
func (o *doctorOptions) paint(env environment) func(doctor.Level, string) string {
	if !hasColours(env.stdout) {
		return nil
	}
	colours := map[doctor.Level]string{doctor.Mend: red, doctor.Improve: yellow, doctor.Note: bold, doctor.Good: green}
	return func(level doctor.Level, text string) string { return painted(colours[level], text) }
}
