package demo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestDemoWebEndToEnd_real: the page of mcphub demo --web shows the demo's servers, calls, sees progress, and cancels:
// the server is sent the reason. The workspace's server starts after consent to its launch and a value for its input.
// A second demo at the same port says why it ends. On Ctrl-C, with calls, prompts and tabs open, the pages are told how
// each ends, and nothing is left.
func TestDemoWebEndToEnd_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	p.Setenv("TMPDIR", p.Folder)
	r := p.Start("demo", "--web")
	b := clitest.BrowserAt(t, r.Stdout.First(t))
	tb, two := b.Tab("one"), b.Tab("two")
	var names []string
	for _, s := range tb.Snapshot().GetServers() {
		names = append(names, s.GetName())
	}
	if got := strings.Join(names, " "); got != "demo demo-http demo-http-legacy demo-legacy demo-workspace" {
		t.Errorf("servers: %s", got)
	}
	tb.Call("c1", "demo", "sleep", `{"seconds":60,"steps":600}`)
	tb.Progress("c1")
	tb.Say(&mcphubv1.AttachRequest{MessageId: "stop", Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: "c1", Reason: "enough of it"},
	}})
	if c := tb.Cancelled("c1"); c.GetCancellation().GetReason() != "enough of it" {
		t.Errorf("cancelled: %v", c)
	}
	records, err := filepath.Glob(filepath.Join(p.Folder, "mcphub-demo-*", "demo.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	if err := door.Eventually(tb.Ctx, "the cancel at the server", func() (bool, error) {
		// the page is told when the hub has sent it
		text, err := os.ReadFile(records[0])
		return strings.Contains(string(text), "enough of it"), err
	}); err != nil {
		t.Error(err)
	}
	clitest.HeardCancel(t, records[0], "enough of it")

	tb.Call("c2", "demo-workspace", "echo", `{"text":"hi"}`)
	launch := tb.Prompt("demo-workspace")
	if launch.GetServerLaunch().GetCommand() != p.Binary {
		t.Fatalf("prompt %v", launch)
	}
	tb.Answer(door.Accept(launch, ""))
	input := clitest.Sees(tb, "the question for the value", func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
		q := e.GetPromptOpened().GetPrompt()
		return q, q.GetConfigInput() != nil
	})
	if input.GetConfigInput().GetSecret() {
		t.Error("the value of the demo is secret, and would go to the person's keyring")
	}
	tb.Answer(door.Accept(input, `"Ada"`))
	if f := tb.Finished("c2"); f.GetIsError() || f.GetHubError() != nil || !strings.Contains(f.GetResultJson(), "hi") {
		t.Errorf("finished: %v", f)
	}

	_, port, _ := strings.Cut(strings.TrimPrefix(b.Address, "http://"), ":")
	if second := p.Run("demo", "--web", "--port", port); second.Status != exit.Broken ||
		!strings.Contains(second.Stderr, "cannot be served") || strings.Contains(second.Stdout, "http") {
		t.Errorf("at a taken port: status %d, stdout %q, stderr %q", second.Status, second.Stdout, second.Stderr)
	}

	two.Snapshot()
	tb.Call("c3", "demo", "sleep", `{"seconds":60,"steps":600}`)
	tb.Progress("c3")
	tb.Call("c4", "demo-legacy", "ask_name", "{}")
	q := tb.Prompt("demo-legacy")
	two.Prompt("demo-legacy")
	clitest.Interrupt(t, r)
	for _, tb := range []*clitest.Tab{tb, two} {
		if c := tb.Cancelled("c3"); c.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_SHUTDOWN {
			t.Errorf("cancelled: %v", c)
		}
		tb.Closed(q.GetPromptId())
		<-tb.Ended
		if code := websocket.CloseStatus(tb.Word); code != 4014 {
			t.Errorf("the socket ended with %v, want status 4014", tb.Word)
		}
	}
	if left, err := filepath.Glob(filepath.Join(p.Folder, "mcphub-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
