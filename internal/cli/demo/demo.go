// Package demo has mcphub demo, which plays what a user, an editor with two windows and a server do to each other, and
// checks each step; or shows the demo's servers on the editor's page.
//
// What must not live here: the demo's server (internal/demoserver).
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/cli/browser"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// stepTime bounds a step. No step takes as long on a slow machine, so a demo that hangs reports where.
const stepTime = 30 * time.Second

var errQuit = errors.New("quit")

const demoIntroduction = `McpHub: one hub, one MCP server in four places, two editor windows.

Everything here is real: the hub is a process of its own behind its plugin door, the server is others behind their stdio and URLs.
Each step checks what it says.
`

// options are the flags of mcphub demo.
type options struct {
	*door.Factory
	web  bool
	page browser.Flags
}

// NewDemoCmd returns mcphub demo.
func NewDemoCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "demo [--web [--port PORT] [--open]]", GroupID: cmd.GroupTry,
		Short: "watch the whole hub at work: call, progress, cancel, withdraw, approve, crash, drain",
		Long: `Spawns the hub as a plugin with its built-in demo server, as processes of the hub and behind URLs of
this machine, and plays what a user, an editor with two windows, and a server do to each other. On a terminal each
step waits for Enter. Each step checks what it says: exit status 0 means that all of it happened.

With --web the hub is yours: the editor's page is served to a browser of this machine over the demo's servers, until
Ctrl-C.
`,
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
	c.Flags().BoolVar(&o.web, "web", false,
		"show the demo's servers on the editor's page, in a browser, instead of the script")
	o.page.Register(c.Flags())
	return c
}

func (o *options) run() error {
	if !o.web && o.page != (browser.Flags{}) {
		return exit.Wrongf("--port and --open go with --web")
	}
	if err := o.page.Check(); err != nil {
		return exit.Wrong(err)
	}
	ctx, stop := o.Interruptible()
	defer stop()
	d := &demo{stage: &stage{Factory: o.Factory, page: &page{w: o.Out}, processes: map[int]string{},
		shown: map[string]bool{}}}
	if o.web {
		return d.runWeb(ctx, o.page)
	}
	if console.IsTerminal(o.In) && console.IsTerminal(o.Out) {
		d.lines = console.ReadLines(o.In)
	}
	began := time.Now()
	d.page.line("%s", demoIntroduction)
	err := d.play(ctx)
	switch {
	case err == nil:
		d.page.line("\nAll %d steps did what they say, in %s.", d.number, console.Duration(time.Since(began)))
		return nil
	case errors.Is(err, errQuit):
		return nil
	case ctx.Err() != nil:
		return exit.Failf("CANCELLED", "%v", context.Cause(ctx))
	case d.number == 0:
		return &exit.Error{Status: exit.Broken, Err: err}
	}
	return &exit.Error{Status: exit.Broken, Err: fmt.Errorf("step %d failed: %w", d.number, err)}
}

// demo is one run of the demo.
type demo struct {
	*stage
	lines  <-chan string // what the person types; nil if there is nobody
	number int           // number of the present step
}

// play plays every step. However it ends, it closes the hub and leaves nothing behind.
func (d *demo) play(ctx context.Context) (err error) {
	if d.dir, err = os.MkdirTemp("", "mcphub-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	stageCtx, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		// If no step failed, all this has ended and was checked: see sceneEnd.
		if d.client != nil {
			d.Close(d.client, door.CloseTime)
		}
		ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), door.HurriedCloseTime, errStepTime)
		defer done()
		if err := d.stopWebs(ctx); err != nil {
			d.Say("mcphub demo: %v", err)
		}
		leave(door.ErrWindowClosed)
		d.group.Wait()
	}()

	opening, opened := context.WithTimeoutCause(ctx, stepTime, errStepTime)
	err = played(func() { d.open(opening, stageCtx) })
	opened()
	if err != nil {
		return err
	}
	for _, sc := range scenes {
		if err := d.step(ctx, sc); err != nil {
			return err
		}
	}
	return nil
}

// openAlone spawns the servers that the hub reaches by URL, and the hub. Answers that the hub remembers are kept in the
// demo's directory, which is removed at the end.
func (d *demo) openAlone(ctx context.Context) {
	for _, name := range []string{modernWeb, legacyWeb} {
		d.startWeb(name)
	}
	d.client = got(d.Open(ctx, filepath.Join(d.dir, "state")))
}

// open is openAlone with both windows, which exist as long as stageCtx.
func (d *demo) open(ctx, stageCtx context.Context) {
	d.openAlone(ctx)
	d.left, d.right = d.attach(stageCtx, screenA), d.attach(stageCtx, screenB)
	d.starts(ctx)
}

// step plays one scene, after the person has pressed Enter for it.
func (d *demo) step(ctx context.Context, sc scene) error {
	if d.number > 0 {
		if err := d.next(ctx); err != nil {
			return err
		}
	}
	d.number++
	d.page.title(d.number, sc.title, sc.about)
	ctx, done := context.WithTimeoutCause(ctx, stepTime, errStepTime)
	defer done()
	err := played(func() { sc.play(ctx, d.stage) })
	if err != nil {
		d.page.failed(err)
	}
	return err
}

// next waits for Enter. If there is no person, it returns at once.
func (d *demo) next(ctx context.Context) error {
	if d.lines == nil {
		return nil
	}
	fmt.Fprint(d.page.w, "\n    Enter for the next step, q to quit: ")
	select {
	case line, ok := <-d.lines:
		if !ok || slices.Contains([]string{"q", "quit", "exit"}, strings.TrimSpace(line)) {
			return errQuit
		}
		return nil
	case <-ctx.Done():
		d.page.line("")
		return context.Cause(ctx)
	}
}

// stepFailure is the value of the panic by which a step ends at the first thing that is not as it should be, as a test
// ends: every line of a step is such a check.
type stepFailure struct{ error }

// played returns the failure that has ended f, nil if none has.
func played(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stepFailure:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func must(err error) {
	if err != nil {
		panic(stepFailure{exit.FailureOf(err)})
	}
}

func got[T any](v T, err error) T {
	must(err)
	return v
}

func failIf(wrong bool, format string, args ...any) {
	if wrong {
		must(fmt.Errorf(format, args...))
	}
}

// survivors returns the processes of the demo that still run.
func (s *stage) survivors() (alive []string) {
	for pid, what := range s.processes {
		if process.Living(pid) {
			alive = append(alive, fmt.Sprintf("%s (%d)", what, pid))
		}
	}
	return alive
}

// endedOnce checks in all events of both windows that each request that started has ended exactly once. It returns the
// number of requests.
func (s *stage) endedOnce() (requests int, err error) {
	for _, scr := range s.screens() {
		events, _, _ := scr.log.Since(0)
		ends := map[string]int{}
		for _, e := range events {
			if id := e.GetMcpRequestStarted().GetRequest().GetRequestId(); id != "" {
				ends[id] += 0
			}
			if id := e.GetMcpRequestCancelled().GetRequestId() + e.GetMcpRequestFinished().GetRequestId(); id != "" {
				ends[id]++
			}
		}
		for id, n := range ends {
			if n != 1 {
				return 0, fmt.Errorf("the %s was told %d ends of the request %s", scr.title, n, id)
			}
		}
		requests = len(ends)
	}
	return requests, nil
}

// page is the demo's output: numbered steps, and below each step the actions of the actors. The script alone writes.
type page struct{ w io.Writer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// title begins a step. about says what to look for. Its author has wrapped it.
func (p *page) title(number int, title, about string) {
	p.line("\n%s", console.Paint(p.w, console.Bold, fmt.Sprintf("%2d  %s", number, title)))
	for line := range strings.Lines(about) {
		p.line("    %s", console.Paint(p.w, console.Dim, strings.TrimRight(line, "\n")))
	}
}

// The actors of the demo.
const (
	you     = "you"
	itself  = "hub"
	server  = "server"
	screenA = "side bar"
	screenB = "panel"
)

// says prints what an actor did. It escapes the text of servers.
func (p *page) says(actor, format string, args ...any) {
	p.entry(console.Dim, actor, console.Escape(fmt.Sprintf(format, args...)))
}

func (p *page) ok(format string, args ...any) {
	p.entry(console.Green, "ok", fmt.Sprintf(format, args...))
}

func (p *page) failed(err error) { p.entry(console.Red, "FAILED", console.Escape(err.Error())) }

func (p *page) entry(colour, head, text string) {
	p.line("    %s %s", console.Paint(p.w, colour, fmt.Sprintf("%-8s", head)), text)
}

const browserIntroduction = `McpHub: one hub, one MCP server in five places, and the editor's page in a browser.

Some things to try there:
  sleep on demo, 60 seconds            watch it, and cancel it with a reason
  echo or crash on demo                asks you first; crash takes the server down, and it comes back
  ask_then_withdraw on demo-legacy     asks you, and takes the question back
  stubborn on demo-legacy              does not listen to a cancel
  ask_name, open_page, summarize       a form, a page to open, a text for your model
  echo on demo-workspace               comes with a folder: see what it would run, then say what it asks for
  two tabs at once                     an answer in one closes the question in the other
`

// errBrowsed is the cause with which the demo's own servers are ended.
var errBrowsed = errors.New("the page is closed")

// runWeb shows the demo's servers on the page until the command is interrupted.
func (d *demo) runWeb(ctx context.Context, page browser.Flags) error {
	d.Say("%s", browserIntroduction)
	err := d.browse(ctx, page)
	if err == nil || errors.Is(context.Cause(ctx), door.ErrInterrupted) {
		return nil
	}
	return &exit.Error{Status: exit.Broken, Err: err}
}

// browse opens the stage, with the page instead of its windows. However it ends, it leaves nothing behind.
func (d *demo) browse(ctx context.Context, page browser.Flags) (err error) {
	if d.dir, err = os.MkdirTemp("", "mcphub-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	defer d.group.Wait()
	defer func() {
		ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), door.HurriedCloseTime, errBrowsed)
		defer done()
		err = errors.Join(err, d.stopWebs(ctx))
	}()
	if err := played(func() { d.openAlone(ctx) }); err != nil {
		return err
	}
	if err := played(func() { d.furnish(ctx) }); err != nil {
		d.Close(d.client, door.CloseTime)
		return err
	}
	return browser.Serve(ctx, d.Factory, d.client, page, web.Options{})
}

// workspaceServer comes from a config file of a workspace.
const workspaceServer = "demo-workspace"

// furnish gives the hub every demo server that a person can use by hand, also one that a folder brings.
func (d *demo) furnish(ctx context.Context) {
	executable := got(os.Executable())
	// The value of the input is not secret, so it is kept in the demo's directory and not in the person's keyring.
	type object = map[string]any
	text := got(json.MarshalIndent(object{
		"inputs": []object{{"id": "name", "type": "promptString", "description": "A name for the greeting"}},
		"servers": object{workspaceServer: object{
			"command":   executable,
			"args":      []string{"demo-server", "--record", d.record(workspaceServer), "--greet", "hello ${input:name}"},
			"approvals": object{"*": "allow"},
		}},
	}, "", "  "))
	folder := filepath.Join(d.dir, "project")
	file := filepath.Join(folder, ".vscode", "mcp.json")
	must(os.MkdirAll(filepath.Dir(file), 0o700))
	must(os.WriteFile(file, text, 0o600))
	d.configure(ctx, &mcphubv1.ConfigSource{Path: file, Scope: "workspace", Folder: folder})
}
