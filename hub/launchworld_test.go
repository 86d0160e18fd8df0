package hub_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// startKinds are allKinds and the kinds of questions about the start of a server, except the sign-in.
var startKinds = append([]event.PromptKind{event.PromptServerLaunch, event.PromptConfigInput}, allKinds...)

// user attaches a window that shows startKinds. If id is "", the hub chooses the id.
func (w *world) user(id string, roots ...string) *view {
	hello := hub.Hello{WindowID: id, Kinds: startKinds, SamplingTools: true}
	for _, uri := range roots {
		hello.Roots = append(hello.Roots, hub.Root{URI: uri})
	}
	return w.attach(hello)
}

const workspaceFile = "/repos/site/.vscode/mcp.json"

// rooted makes a path that begins with a slash absolute on the system that the test runs on: Windows needs a drive.
func rooted(path string) string {
	if runtime.GOOS == "windows" {
		return "C:" + path
	}
	return path
}

// ofUserAlone reports whether only the user can access a file. On Windows the mode does not show that; the user's
// folder protects the file there.
func ofUserAlone(info os.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm() == 0o600
}

// workspaceEntry is an entry of server s in a workspace file.
var workspaceEntry = `{"type":"stdio","command":"s","args":["--root","a b; rm -rf /"],"cwd":"` + rooted("/repos/site") + `","env":{"TOKEN":"${env:SITE_TOKEN}","MODE":"literal-7731"},` + allow + `}`

// workspaceWorld returns a world with one server s of a workspace file.
func workspaceWorld(t *testing.T, stateDir string, entry string) *world {
	t.Helper()
	w := newWorldWith(t, hub.Options{StateDir: stateDir, Environ: []string{"SITE_TOKEN=tok-5521-abc", "HOME=/config"}},
		serversOf("s", hanging()))
	w.workspace(entry)
	return w
}

// workspace loads a workspace file with one server s, and returns the names of the servers that were stopped for it.
func (w *world) workspace(entry string) []string {
	w.t.Helper()
	return w.source(hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site",
		JSON: `{"servers":{"s":` + entry + `}}`})
}

// source loads one file, and returns the names of the servers that were stopped for it. Only a fatal problem fails the
// test.
func (w *world) source(src hub.ConfigSource) []string {
	w.t.Helper()
	_, problems, stopped, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{src})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range problems {
		if p.Fatal {
			w.t.Errorf("config: %v", p)
		}
	}
	w.hub.EditConfs(func(c *config.Server) { c.Origin.Trusted = src.Trusted })
	return stopped
}

// started returns the configs of the servers that were started, in order.
func (w *world) started() []config.Server {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]config.Server(nil), w.opened...)
}

// launch returns the one open prompt, which must be about the launch of a server.
func (v *view) launch() event.PromptInfo {
	v.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptServerLaunch || p.Launch == nil {
		v.t.Fatalf("the open prompt is %+v", p)
	}
	return p
}

// allowLaunch answers the open launch question with a Yes for a scope.
func (v *view) allowLaunch(scope event.ApprovalScope) {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionAccept, Scope: scope})
}

const (
	mineEntry   = `{"command":"s","args":["mine"],"alwaysAllow":["hang","echo"]}`
	theirsEntry = `{"command":"s","args":["theirs"],"alwaysAllow":["*"]}`
)

// twoFiles loads a config file of the user with the text mine and, unless theirs is "", one of a workspace.
func (w *world) twoFiles(mine, theirs string) {
	w.t.Helper()
	sources := []hub.ConfigSource{{Path: userFile, Scope: "user", JSON: mine}}
	if theirs != "" {
		sources = append(sources, hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site",
			JSON: theirs})
	}
	if _, _, _, err := w.hub.LoadConfig(context.Background(), sources); err != nil {
		w.t.Errorf("loading the config: %v", err) // not Fatal: TestBothScopesRace calls this on a goroutine of its own
	}
}

func ofServer(entry string) string { return `{"servers":{"s":` + entry + `}}` }

// restart stops server s and calls it. It reports whether the user was asked, and leaves the question open.
func (w *world) restart(v *view) (asked bool) {
	w.t.Helper()
	if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
		w.t.Fatal(err)
	}
	c := w.echo()
	synctest.Wait()
	if c.over() {
		c.ok(w.t)
		return false
	}
	v.launch()
	return true
}

// approval returns the one open prompt, which must be about a tool call.
func (v *view) approval() event.PromptInfo {
	v.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptToolApproval {
		v.t.Fatalf("the open prompt is %+v", p)
	}
	return p
}
