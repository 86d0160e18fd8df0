package demo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/mcphub-go/mcphub/internal/cli/browser"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
