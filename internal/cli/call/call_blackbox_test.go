package call_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestCallEcho(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	r := p.Run("call", "--stdio", line, "--tool", "echo", "--args", `{"text":"two\nlines"}`, "--approve", "allow")
	if r.Status != 0 || r.Stdout != "two\nlines\n" {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	for _, want := range []string{"ready", "may echo run on stdio?", `text: "two\nlines"`, "done"} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("stderr does not tell %q:\n%s", want, r.Stderr)
		}
	}
}

// TestCallExitStatus: every status, and with --json the last line that goes with it. Which error has which status
// is shown by TestExitStatusOfEveryReason.
func TestCallExitStatus(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	config := p.Config("mcp.json", `{"mcpServers":{
		"denying": {"command": `+strconv.Quote(p.Binary)+`, "args": ["demo-server"], "approvals": {"echo": "deny"}},
		"broken": {}}}`)
	demo := func(args ...string) []string { return append([]string{"--stdio", line}, args...) }
	from := func(server string) []string {
		return []string{"--config", config, "--server", server, "--tool", "echo", "--args", `{"text":"x"}`}
	}
	tests := []struct {
		name         string
		args         []string
		status       exit.Status
		code, reason string // of the error; "": a response came
	}{
		{"result", demo("--tool", "echo", "--args", `{"text":"x"}`, "--approve", "allow"), 0, "", ""},
		{"result with isError", demo("--tool", "scan_directory", "--args", `{"path":"missing"}`, "--approve", "allow"),
			1, "", ""},
		{"error of the server", demo("--tool", "echo", "--args", `{"text":1}`, "--approve", "allow"), 1, "", ""},
		{"cancelled", demo("--tool", "sleep", "--args", `{"seconds":60}`, "--approve", "allow", "--cancel-after", "200ms"), 3,
			"CANCELLED", "CANCELLED"},
		{"cancelled while asking", demo("--tool", "sleep", "--approve", "hang", "--cancel-at", "200ms"), 3, "CANCELLED",
			"CANCELLED"},
		{"idle", demo("--tool", "sleep", "--args", `{"seconds":60,"steps":1}`, "--approve", "allow", "--idle-timeout",
			"200ms"), 4, "DEADLINE_EXCEEDED", "IDLE_TIMEOUT"},
		{"nobody to ask", demo("--tool", "echo", "--args", `{"text":"x"}`), 5, "FAILED_PRECONDITION", "NO_APPROVER"},
		{"denied by policy", from("denying"), 5, "PERMISSION_DENIED", "DENIED_BY_POLICY"},
		{"unknown tool", demo("--tool", "nothing", "--approve", "allow"), 2, "NOT_FOUND", "TOOL_NOT_FOUND"},
		{"broken entry", from("broken"), 6, "FAILED_PRECONDITION", "SERVER_BROKEN"},
		{"crash", demo("--tool", "crash", "--approve", "allow"), 6, "UNAVAILABLE", "SERVER_GONE"},
		{"no such command", []string{"--stdio", "'" + filepath.Join(p.Folder, "missing") + "'", "--tool", "echo", "--approve", "allow"}, 6,
			"UNAVAILABLE", "SERVER_FAILED"},
	}
	for _, test := range tests {
		r := p.Run(append([]string{"call", "--json"}, test.args...)...)
		if r.Status != test.status {
			t.Errorf("%s: status %d, want %d\n%s%s", test.name, r.Status, test.status, r.Stdout, r.Stderr)
		}
		c := clitest.ReadConversation(t, r.Stdout)
		switch {
		case test.code == "" && c.Response == nil:
			t.Errorf("%s: no response but %+v", test.name, c.Failure)
		case test.code != "" && (c.Failure == nil || c.Failure.Code != test.code || c.Failure.Reason != test.reason ||
			c.Failure.Message == ""):
			t.Errorf("%s: ended with %+v, want %s %s", test.name, c.Failure, test.code, test.reason)
		}
	}
}

// TestCallAnswersQuestions: the server gets the answer that the flags give; decline and dismiss stay different.
func TestCallAnswersQuestions(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	// Which answer each flag gives is shown by TestAnswers.
	for _, test := range []struct {
		era, tool, args string
		flags           []string
		want            string // in the result
	}{
		{"legacy", "ask_name", "", []string{"--elicit", `accept:{"name":"Ada"}`}, "Ada"},
		{"modern", "ask_name", "", []string{"--elicit", "decline"}, "declined"},
		{"modern", "ask_name", "", []string{"--elicit", `accept:{"name":7}`}, "dismissed"}, // does not fit the form
		{"legacy", "open_page", `{"url":"https://example.org/x"}`, []string{"--elicit", "accept"},
			"agreed to open https://example.org/x"},
		{"modern", "summarize", `{"text":"long"}`, []string{"--sample", "in short"}, "in short (by mcphub-cli)"},
	} {
		args := []string{"call", "--stdio", line, "--era", test.era, "--approve", "allow", "--tool", test.tool}
		if test.args != "" {
			args = append(args, "--args", test.args)
		}
		if r := p.Run(append(args, test.flags...)...); r.Status != 0 || !strings.Contains(r.Stdout, test.want) {
			t.Errorf("%s %q: status %d, stdout %q, want %q\n%s", test.era, test.flags, r.Status, r.Stdout, test.want, r.Stderr)
		}
	}
}

// TestCallHangingQuestion: a question that nobody answers closes with its call.
func TestCallHangingQuestion(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		p := clitest.InBubbles(t)
		line, _ := p.DemoServer()
		r := p.InterruptedAt(`"elicitationForm"`, "call", "--json", "--stdio", line, "--era", era, "--tool", "ask_name",
			"--approve", "allow", "--elicit", "hang")
		c := clitest.ReadConversation(t, r.Stdout)
		prompt, ok := clitest.Find(c, func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
			q := e.GetPromptOpened().GetPrompt()
			return q, q.GetElicitationForm() != nil
		})
		if r.Status != 3 || !ok {
			t.Fatalf("%s: status %d, prompt %v\n%s", era, r.Status, prompt, r.Stderr)
		}
		closed, _ := clitest.Find(c, func(e *mcphubv1.AttachResponse) (*mcphubv1.PromptClosed, bool) {
			return e.GetPromptClosed(), e.GetPromptClosed().GetPromptId() == prompt.GetPromptId()
		})
		if closed.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
			t.Errorf("%s: the question closed so: %v", era, closed)
		}
	}
}

// TestCallLinger: what a server does after its call was cancelled is still shown, and the last line stays the
// last.
func TestCallLinger(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	r := p.Run("call", "--json", "--stdio", line, "--tool", "stubborn", "--args", `{"ms":3000}`, "--approve", "allow",
		"--cancel-after", "2s", "--linger", "3s")
	c := clitest.ReadConversation(t, r.Stdout)
	if r.Status != 3 || c.Failure == nil {
		t.Fatalf("status %d\n%s", r.Status, r.Stdout)
	}
	cancelled, late := false, false
	for _, e := range c.Events {
		cancelled = cancelled || e.GetMcpRequestCancelled().GetTool() == "stubborn"
		late = late || cancelled && strings.Contains(e.GetLogMessage().GetDataJson(), "stubborn finished")
	}
	if !late {
		t.Errorf("the late end of the tool was not shown:\n%s", r.Stdout)
	}
}

// TestCallTellsConfigProblems: the problem of a broken entry is reported, with its place, to a call of that
// server, and not to a call of another.
func TestCallTellsConfigProblems(t *testing.T) {
	p := clitest.InBubbles(t)
	file := clitest.ListConfig(p)
	call := func(server string) clitest.Ended {
		return p.Run("call", "--config", file, "--server", server, "--tool", "echo", "--args", `{"text":"x"}`)
	}
	if r := call("good"); r.Status != 0 || r.Stdout != "x\n" || strings.Contains(r.Stderr, file+":5") {
		t.Errorf("of another: status %d, stdout %q, stderr:\n%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := call("broken"); r.Status == 0 || !strings.Contains(r.Stderr, file+":5") {
		t.Errorf("of its own: status %d, stdout %q, stderr:\n%s", r.Status, r.Stdout, r.Stderr)
	}
}
