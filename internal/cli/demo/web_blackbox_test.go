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
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
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
	for _, s := range tb.Events()[1].GetSnapshot().GetServers() {
		names = append(names, s.GetName())
	}
	if got := strings.Join(names, " "); got != "demo demo-http demo-http-legacy demo-legacy demo-workspace" {
		t.Errorf("servers: %s", got)
	}
	begin := func(id, server, tool, arguments string) {
		tb.BeginTool(&mcphubv1.CallToolRequest{RequestId: id, Server: server, Tool: tool, ArgumentsJson: arguments})
	}
	begin("c1", "demo", "sleep", `{"seconds":60,"steps":600}`)
	tb.WaitProgress("c1")
	tb.CancelRequest("c1", "enough of it")
	if c := tb.WaitTerminal("c1").GetMcpRequestCancelled(); c.GetCancellation().GetReason() != "enough of it" {
		t.Errorf("cancelled: %v", c)
	}
	records, err := filepath.Glob(filepath.Join(p.Folder, "mcphub-demo-*", "demo.jsonl"))
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, %v", records, err)
	}
	if err := door.Eventually(b.Ctx, "the cancel at the server", func() (bool, error) {
		// the page is told when the hub has sent it
		text, err := os.ReadFile(records[0])
		return strings.Contains(string(text), "enough of it"), err
	}); err != nil {
		t.Error(err)
	}
	clitest.HeardCancel(t, records[0], "enough of it")

	answer := func(a *mcphubv1.PromptAnswer) {
		tb.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
	}
	begin("c2", "demo-workspace", "echo", `{"text":"hi"}`)
	launch := tb.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH)
	if launch.GetServerLaunch().GetCommand() != p.Binary {
		t.Fatalf("prompt %v", launch)
	}
	answer(door.Accept(launch, ""))
	input := tb.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT)
	if input.GetConfigInput().GetSecret() {
		t.Error("the value of the demo is secret, and would go to the person's keyring")
	}
	answer(door.Accept(input, `"Ada"`))
	if f := tb.WaitTerminal("c2").GetMcpRequestFinished(); f.GetIsError() || f.GetHubError() != nil || !strings.Contains(f.GetResultJson(), "hi") {
		t.Errorf("finished: %v", f)
	}

	_, port, _ := strings.Cut(strings.TrimPrefix(b.Address, "http://"), ":")
	if second := p.Run("demo", "--web", "--port", port); second.Status != exit.Broken ||
		!strings.Contains(second.Stderr, "cannot be served") || strings.Contains(second.Stdout, "http") {
		t.Errorf("at a taken port: status %d, stdout %q, stderr %q", second.Status, second.Stdout, second.Stderr)
	}

	begin("c3", "demo", "sleep", `{"seconds":60,"steps":600}`)
	tb.WaitProgress("c3")
	begin("c4", "demo-legacy", "ask_name", "{}")
	q := tb.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM)
	two.WaitShown(q.GetPromptId())
	clitest.Interrupt(t, r)
	for _, tb := range []*fakeeditor.Window{tb, two} {
		c := tb.WaitTerminal("c3").GetMcpRequestCancelled()
		if c.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_SHUTDOWN {
			t.Errorf("cancelled: %v", c)
		}
		tb.WaitClosed(q.GetPromptId())
		if err := tb.Wait(); websocket.CloseStatus(err) != 4014 {
			t.Errorf("the socket ended with %v, want status 4014", err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(p.Folder, "mcphub-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
