package call_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestCallTaskCancel: the output shows once that a task is working, and a cancel of the request cancels the task.
func TestCallTaskCancel(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = func() *fakeserver.Server {
		s := fakeserver.New(fakeserver.WithRevision("2025-11-25"),
			fakeserver.WithCapabilities(`{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`))
		s.ToolWith(`{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
			func(c *fakeserver.CallContext) {
				c.Result(`{"task":{"taskId":"T-1","status":"working","statusMessage":"warming up","pollInterval":50}}`)
			})
		s.Handle("tasks/get", func(c *fakeserver.CallContext) {
			c.Result(`{"taskId":"T-1","status":"working","statusMessage":"warming up","pollInterval":50}`)
		})
		s.Handle("tasks/cancel", func(c *fakeserver.CallContext) { c.Result(`{"taskId":"T-1","status":"cancelled"}`) })
		return s
	}
	r := p.Run("call", "--stdio", "fake", "--tool", "t", "--approve", "allow", "--cancel-after", "2s")
	if r.Status != 3 || strings.Count(r.Stderr, "task T-1: working, warming up") != 1 {
		t.Errorf("status %d\n%s", r.Status, r.Stderr)
	}
	if n := p.Server.Count(fakeserver.Method("tasks/get")); n < 2 {
		t.Errorf("%d polls", n)
	}
	if n := p.Server.Count(fakeserver.Method("tasks/cancel")); n != 1 {
		t.Errorf("%d tasks/cancel", n)
	}
	call := p.Server.Received()[slices.IndexFunc(p.Server.Received(), fakeserver.Method("tools/call"))]
	if p.Server.Count(fakeserver.CancelOf(call.ID)) > 0 { // of a poll that is in flight there may be one
		t.Error("a notification was sent for a task")
	}
}

// TestCallOutputViolation: a result that breaks its own schema is shown all the same, and so is what is wrong with
// it.
func TestCallOutputViolation(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = func() *fakeserver.Server {
		s := fakeserver.New()
		s.ToolWith(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":`+
			`{"n":{"type":"integer"}},"required":["n"]}}`, func(c *fakeserver.CallContext) {
			c.Result(`{"content":[{"type":"text","text":"seven"}],"structuredContent":{"n":"seven"}}`)
		})
		return s
	}
	r := p.Run("call", "--stdio", "fake", "--tool", "t", "--approve", "allow")
	if r.Status != 0 || r.Stdout != "seven\n" || !strings.Contains(r.Stderr,
		"the result breaks the tool's output schema: ") {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("call", "--json", "--stdio", "fake", "--tool", "t", "--approve", "allow")
	c := clitest.ReadConversation(t, r.Stdout)
	if len(c.Response.GetOutputViolations()) == 0 {
		t.Errorf("--json: %v", c.Response)
	}
	if _, ok := clitest.Find(c, func(e *mcphubv1.AttachResponse) (bool, bool) {
		return true, e.GetMcpRequestFinished().GetTool() == "t"
	}); !ok {
		t.Error("the end of the call was not shown")
	}
}
