package web_test

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

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestWebShowsOwnServers: mcphub web serves the page with the servers of the user's own config files, named with
// or without --config, and tells on stderr and on the page what is wrong with an entry.
func TestWebShowsOwnServers(t *testing.T) {
	p := clitest.Inside(t)
	entry := fmt.Sprintf(`{"command":%q,"args":["demo-server"],"alwaysAllow":["echo"]}`, p.Binary)
	one := p.Config("one.json", `{"mcpServers":{"first":`+entry+`,"odd":{"command":7}}}`)
	two := p.Config("two.json", `{"mcpServers":{"second":`+entry+`}}`)
	p.Setenv("MCPHUB_STATE_DIR", "")
	r := p.Start("web", one, "--config", two)
	tb := clitest.BrowserAt(t, r.Stdout.First(t)).Tab("tab")
	var names []string
	for _, s := range tb.Events()[1].GetSnapshot().GetServers() {
		names = append(names, s.GetName())
		if s.GetName() == "odd" && len(s.GetProblems()) != 1 {
			t.Errorf("the problems of the odd server: %v", s.GetProblems())
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "first odd second" {
		t.Errorf("servers: %s", got)
	}
	tb.BeginTool(&mcphubv1.CallToolRequest{RequestId: "c1", Server: "second", Tool: "echo", ArgumentsJson: `{"text":"hi"}`})
	if f := tb.WaitTerminal("c1").GetMcpRequestFinished(); !strings.Contains(f.GetResultJson(), "hi") {
		t.Errorf("finished: %v", f)
	}
	clitest.Interrupt(t, r)
	if said := r.Stderr.String(); !strings.Contains(said, `server "odd": key "command"`) {
		t.Errorf("stderr lacks the problem of the odd server:\n%s", said)
	}
}

// TestWebAddsDemo: the entry that the page offers a user without servers is written, and starts after consent to
// its whole command.
func TestWebAddsDemo(t *testing.T) {
	p := clitest.Inside(t)
	file := p.Config("none.json", `{"mcpServers":{}}`)
	r := p.Start("web", file)
	b := clitest.BrowserAt(t, r.Stdout.First(t))
	_, page := b.Get(b.Address + "/")
	_, surface, _ := strings.Cut(html.UnescapeString(page), `data-surface="`)
	surface, _, _ = strings.Cut(surface, "\">")
	var offered struct {
		Demo struct{ Server, Command, EntryJSON string }
	}
	if err := json.Unmarshal([]byte(surface), &offered); err != nil || offered.Demo.Command == "" {
		t.Fatalf("%v: %s", err, surface)
	}
	p.Binary = offered.Demo.Command // this program
	tb := b.Tab("tab")
	done := func(r *mcphubv1.Reply) {
		if r.GetError() != nil {
			t.Fatal(r.GetError())
		}
	}
	done(tb.Call(mcphubv1.ConfigService_AddServer_FullMethodName, &mcphubv1.AddServerRequest{
		Server: offered.Demo.Server, Entry: &mcphubv1.AddServerRequest_EntryJson{EntryJson: offered.Demo.EntryJSON}}))
	started := make(chan *mcphubv1.Reply, 1)
	go func() {
		started <- tb.Call(mcphubv1.McpServerService_StartServer_FullMethodName,
			&mcphubv1.StartServerRequest{Server: offered.Demo.Server})
	}()
	asked := tb.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH)
	launch := asked.GetServerLaunch()
	if launch.GetCommand() != offered.Demo.Command || launch.GetWrittenBy() == nil {
		t.Errorf("asked: %v", launch)
	}
	done(tb.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{
		AnswerPrompt: door.Accept(asked, "")}}))
	done(<-started)
	clitest.Interrupt(t, r)
}

// TestWebWithoutConfig: without any config file the page has no servers; an entry that is added is written to a
// file of the folder, which is not made before.
func TestWebWithoutConfig(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(nil)
	r := p.Start("web", "--folder", work)
	tb := clitest.BrowserAt(t, r.Stdout.First(t)).Tab("tab")
	if servers := tb.Events()[1].GetSnapshot().GetServers(); len(servers) > 0 {
		t.Errorf("servers: %v", servers)
	}
	file := filepath.Join(work, ".mcp.json")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file was made before anything was added:", err)
	}
	if r := tb.Call(mcphubv1.ConfigService_AddServer_FullMethodName, &mcphubv1.AddServerRequest{Server: "mine",
		ConfigFile: file, Entry: &mcphubv1.AddServerRequest_EntryJson{EntryJson: `{"command": "x"}`}}); r.GetError() != nil {
		t.Fatal(r.GetError())
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"mine"`) {
		t.Errorf("%s %v", text, err)
	}
	clitest.Interrupt(t, r)
}

// TestHubDiesUnderThePage: when the hub ends, the command ends with a clear error.
func TestHubDiesUnderThePage(t *testing.T) {
	p := clitest.Inside(t)
	line, _ := p.DemoServer()
	r := p.Start("web", "--stdio", line)
	tb := clitest.BrowserAt(t, r.Stdout.First(t)).Tab("tab")
	if err := p.Hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if status := r.Wait(); status != exit.Server || !strings.Contains(r.Stderr.String(), "the hub has ended") {
		t.Errorf("status %d\n%s", status, r.Stderr.String())
	}
	_ = tb.Wait()
}

// TestWebUsage: what cannot be served is a usage error before anything runs.
func TestWebUsage(t *testing.T) {
	p := clitest.Inside(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"web", filepath.Join(p.Folder, "none.json")}, "no such file"},
		{[]string{"web", "--stdio", "x", "--port", "70000"}, "--port"},
		{[]string{"web", "--stdio", "x", p.Folder}, "exclude"},
		{[]string{"demo", "--port", "1"}, "--web"},
		{[]string{"demo", "--open"}, "--web"},
	} {
		if r := p.Run(test.args...); r.Status != 2 || r.Stdout != "" || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q; want 2 and %q", test.args, r.Status, r.Stdout, r.Stderr,
				test.want)
		}
	}
}
