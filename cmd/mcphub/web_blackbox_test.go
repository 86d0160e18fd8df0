package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// interrupt is Ctrl-C, after which a command with a page must end in order.
func interrupt(t *testing.T, r *started) {
	t.Helper()
	r.interrupt()
	if status := r.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, r.stderr.String())
	}
}

// TestDemoWebEndToEnd_real: the page of mcphub demo --web shows the demo's servers, calls, sees progress, and cancels:
// the server is sent the reason. The workspace's server starts after consent to its launch and a value for its input.
// A second demo at the same port says why it ends. On Ctrl-C, with calls, prompts and tabs open, the pages are told how
// each ends, and nothing is left.
func TestDemoWebEndToEnd_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	p.setenv("TMPDIR", p.dir)
	r := p.start("demo", "--web")
	b := browserAt(t, r.stdout.first(t))
	tb, two := b.tab("one"), b.tab("two")
	var names []string
	for _, s := range tb.snapshot().GetServers() {
		names = append(names, s.GetName())
	}
	if got := strings.Join(names, " "); got != "demo demo-http demo-http-legacy demo-legacy demo-workspace" {
		t.Errorf("servers: %s", got)
	}
	tb.call("c1", demoServer, "sleep", `{"seconds":60,"steps":600}`)
	tb.progress("c1")
	tb.say(&mcphubv1.AttachRequest{MessageId: "stop", Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: "c1", Reason: "enough of it"},
	}})
	if c := tb.cancelled("c1"); c.GetCancellation().GetReason() != "enough of it" {
		t.Errorf("cancelled: %v", c)
	}
	records, err := filepath.Glob(filepath.Join(p.dir, "mcphub-demo-*", "demo.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	if err := until(tb.ctx, "the cancel at the server", func() (bool, error) { // the page is told when the hub has sent it
		text, err := os.ReadFile(records[0])
		return strings.Contains(string(text), "enough of it"), err
	}); err != nil {
		t.Error(err)
	}
	heardCancel(t, records[0], "enough of it")

	tb.call("c2", workspaceServer, "echo", `{"text":"hi"}`)
	launch := tb.prompt(workspaceServer)
	if launch.GetServerLaunch().GetCommand() != p.path {
		t.Fatalf("prompt %v", launch)
	}
	tb.answer(accept(launch.GetPromptId(), ""))
	input := sees(tb, "the question for the value", func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
		q := e.GetPromptOpened().GetPrompt()
		return q, q.GetConfigInput() != nil
	})
	if input.GetConfigInput().GetSecret() {
		t.Error("the value of the demo is secret, and would go to the person's keyring")
	}
	tb.answer(give(input.GetPromptId(), "Ada"))
	if f := tb.finished("c2"); f.GetIsError() || f.GetHubError() != nil || !strings.Contains(f.GetResultJson(), "hi") {
		t.Errorf("finished: %v", f)
	}

	_, port, _ := strings.Cut(strings.TrimPrefix(b.address, "http://"), ":")
	if second := p.run("demo", "--web", "--port", port); second.status != exitDemo ||
		!strings.Contains(second.stderr, "cannot be served") || strings.Contains(second.stdout, "http") {
		t.Errorf("at a taken port: status %d, stdout %q, stderr %q", second.status, second.stdout, second.stderr)
	}

	two.snapshot()
	tb.call("c3", demoServer, "sleep", `{"seconds":60,"steps":600}`)
	tb.progress("c3")
	tb.call("c4", legacyServer, "ask_name", "{}")
	q := tb.prompt(legacyServer)
	two.prompt(legacyServer)
	interrupt(t, r)
	for _, tb := range []*tab{tb, two} {
		if c := tb.cancelled("c3"); c.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_SHUTDOWN {
			t.Errorf("cancelled: %v", c)
		}
		tb.closed(q.GetPromptId())
		<-tb.ended
		if code := websocket.CloseStatus(tb.word); code != 4014 {
			t.Errorf("the socket ended with %v, want status 4014", tb.word)
		}
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, "mcphub-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestWebShowsOwnServers: mcphub web serves the page with the servers of the user's own config files, named with
// or without --config, and tells on stderr and on the page what is wrong with an entry.
func TestWebShowsOwnServers(t *testing.T) {
	p := inside(t)
	entry := fmt.Sprintf(`{"command":%q,"args":["demo-server"],"alwaysAllow":["echo"]}`, p.path)
	one := p.config("one.json", `{"mcpServers":{"first":`+entry+`,"odd":{"command":7}}}`)
	two := p.config("two.json", `{"mcpServers":{"second":`+entry+`}}`)
	p.setenv("MCPHUB_STATE_DIR", "")
	r := p.start("web", one, "--config", two)
	tb := browserAt(t, r.stdout.first(t)).tab("tab")
	var names []string
	for _, s := range tb.snapshot().GetServers() {
		names = append(names, s.GetName())
		if s.GetName() == "odd" && len(s.GetProblems()) != 1 {
			t.Errorf("the problems of the odd server: %v", s.GetProblems())
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "first odd second" {
		t.Errorf("servers: %s", got)
	}
	tb.call("c1", "second", "echo", `{"text":"hi"}`)
	if f := tb.finished("c1"); !strings.Contains(f.GetResultJson(), "hi") {
		t.Errorf("finished: %v", f)
	}
	interrupt(t, r)
	if said := r.stderr.String(); !strings.Contains(said, `server "odd": key "command"`) {
		t.Errorf("stderr lacks the problem of the odd server:\n%s", said)
	}
}

// TestWebAddsDemo: the entry that the page offers a user without servers is written, and starts after consent to
// its whole command.
func TestWebAddsDemo(t *testing.T) {
	p := inside(t)
	file := p.config("none.json", `{"mcpServers":{}}`)
	r := p.start("web", file)
	b := browserAt(t, r.stdout.first(t))
	_, page := b.get(b.address + "/")
	_, surface, _ := strings.Cut(html.UnescapeString(page), `data-surface="`)
	surface, _, _ = strings.Cut(surface, "\">")
	var offered struct {
		Demo struct{ Server, Command, EntryJSON string }
	}
	if err := json.Unmarshal([]byte(surface), &offered); err != nil || offered.Demo.Command == "" {
		t.Fatalf("%v: %s", err, surface)
	}
	p.path = offered.Demo.Command // this program
	tb := b.tab("tab")
	tb.snapshot()
	tb.order("add", mcphubv1.ConfigService_AddServer_FullMethodName, &mcphubv1.AddServerRequest{
		Server: offered.Demo.Server, Entry: &mcphubv1.AddServerRequest_EntryJson{EntryJson: offered.Demo.EntryJSON}})
	tb.done("add")
	tb.order("start", mcphubv1.McpServerService_StartServer_FullMethodName,
		&mcphubv1.StartServerRequest{Server: offered.Demo.Server})
	asked := tb.prompt(offered.Demo.Server)
	launch := asked.GetServerLaunch()
	if launch.GetCommand() != offered.Demo.Command || launch.GetWrittenBy() == nil {
		t.Errorf("asked: %v", launch)
	}
	tb.answer(&mcphubv1.PromptAnswer{PromptId: asked.GetPromptId(), Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE,
			LaunchHash: launch.GetLaunchHash()}}})
	tb.done("start")
	interrupt(t, r)
}

// TestWebWithoutConfig: without any config file the page has no servers; an entry that is added is written to a
// file of the folder, which is not made before.
func TestWebWithoutConfig(t *testing.T) {
	p := inside(t)
	work := p.atHome(nil)
	r := p.start("web", "--folder", work)
	tb := browserAt(t, r.stdout.first(t)).tab("tab")
	if servers := tb.snapshot().GetServers(); len(servers) > 0 {
		t.Errorf("servers: %v", servers)
	}
	file := filepath.Join(work, ".mcp.json")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file was made before anything was added:", err)
	}
	tb.order("add", mcphubv1.ConfigService_AddServer_FullMethodName, &mcphubv1.AddServerRequest{Server: "mine",
		ConfigFile: file, Entry: &mcphubv1.AddServerRequest_EntryJson{EntryJson: `{"command": "x"}`}})
	tb.done("add")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"mine"`) {
		t.Errorf("%s %v", text, err)
	}
	interrupt(t, r)
}

// TestHubDiesUnderThePage: when the hub ends, the command ends with a clear error.
func TestHubDiesUnderThePage(t *testing.T) {
	p := inside(t)
	line, _ := p.demoServer()
	r := p.start("web", "--stdio", line)
	tb := browserAt(t, r.stdout.first(t)).tab("tab")
	tb.snapshot()
	if err := p.hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if status := r.wait(); status != exitServer || !strings.Contains(r.stderr.String(), "the hub has ended") {
		t.Errorf("status %d\n%s", status, r.stderr.String())
	}
	<-tb.ended
}

// TestWebUsage: what cannot be served is a usage error before anything runs.
func TestWebUsage(t *testing.T) {
	p := inside(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"web", filepath.Join(p.dir, "none.json")}, "no such file"},
		{[]string{"web", "--stdio", "x", "--port", "70000"}, "--port"},
		{[]string{"web", "--stdio", "x", p.dir}, "exclude"},
		{[]string{"demo", "--port", "1"}, "--web"},
		{[]string{"demo", "--open"}, "--web"},
	} {
		if r := p.run(test.args...); r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, r.status, r.stdout, r.stderr,
				test.want)
		}
	}
}
