package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"github.com/spf13/pflag"
)

// demoOptions are the flags of mcphub demo.
type demoOptions struct {
	web bool
	webFlags
}

func (o *demoOptions) flags() *pflag.FlagSet {
	set := newFlags("demo")
	set.BoolVar(&o.web, "web", false, "show the demo's servers on the editor's page, in a browser, instead of the script")
	o.webFlags.register(set)
	return set
}

func (o *demoOptions) check() error {
	if !o.web && o.webFlags != (webFlags{}) {
		return errors.New("--port and --open go with --web")
	}
	return o.webFlags.check()
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

// runDemoWeb shows the demo's servers on the page until the command is interrupted.
func runDemoWeb(env environment, o demoOptions) int {
	ctx, stop := env.interruptible()
	defer stop()
	d := &demo{stage: &stage{env: env, page: newPage(env.stdout), processes: map[int]string{}}}
	env.say("%s", browserIntroduction)
	err := d.browse(ctx, o.webFlags)
	if err == nil || errors.Is(context.Cause(ctx), errInterrupted) {
		return exitOK
	}
	env.say("mcphub demo: %s", escape(err.Error()))
	return exitDemo
}

// browse opens the stage, with the page instead of its windows. However it ends, it leaves nothing behind.
func (d *demo) browse(ctx context.Context, o webFlags) (err error) {
	if d.dir, err = os.MkdirTemp("", "mcphub-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	defer d.group.Wait()
	defer func() {
		ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), hurriedCloseTime, errBrowsed)
		defer done()
		err = errors.Join(err, d.stopWebs(ctx))
	}()
	if err := played(func() { d.openAlone(ctx) }); err != nil {
		return err
	}
	if err := played(func() { d.furnish(ctx) }); err != nil {
		closeHub(d.env, d.client, closeTime)
		return err
	}
	return browse(ctx, d.env, d.client, o, typedLines(d.env))
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
