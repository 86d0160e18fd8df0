package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// serveFake serves s over Streamable HTTP until the end of the test, and returns its address.
func serveFake(t *testing.T, s *fakeserver.Server) (url string, h *fakeserver.HTTP) {
	t.Helper()
	h = fakeserver.NewHTTP(s, fakeserver.HTTPOptions{})
	t.Cleanup(h.Close)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL + fakeserver.PathMCP, h
}

// TestCallTaskCancel_real: the output shows once that a task is working, and a cancel of the request cancels the task.
func TestCallTaskCancel_real(t *testing.T) {
	t.Parallel()
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
	url, h := serveFake(t, s)
	p := build(t)
	command := p.start("call", "--url", url, "--tool", "t", "--approve", "allow")
	command.stderr.await(t, "task T-1: working, warming up")
	if err := sendInterrupt(command.cmd.Process); err != nil {
		t.Fatal(err)
	}
	r := command.read()
	if r.status != 3 || !strings.Contains(r.stderr, "task T-1: working, warming up") {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
	if strings.Count(r.stderr, "warming up") != 1 {
		t.Errorf("each poll is told:\n%s", r.stderr)
	}
	cancels, call := 0, ""
	for _, x := range h.Exchanges() {
		switch x.Message.Method {
		case "tools/call":
			call = string(x.Message.ID)
		case "tasks/cancel":
			cancels++
		case "notifications/cancelled": // a poll that is in flight is cancelled as any other request
			if strings.Contains(string(x.Message.Params), `"requestId":`+call+",") {
				t.Error("a notification was sent for a task")
			}
		}
	}
	if cancels != 1 {
		t.Errorf("%d tasks/cancel", cancels)
	}
}

// TestCallOutputViolation_real: a result that breaks its own schema is shown all the same, and so is what is wrong with
// it.
func TestCallOutputViolation_real(t *testing.T) {
	t.Parallel()
	s := fakeserver.New()
	s.ToolWith(
		`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`,
		func(c *fakeserver.CallContext) {
			c.Result(`{"content":[{"type":"text","text":"seven"}],"structuredContent":{"n":"seven"}}`)
		})
	url, _ := serveFake(t, s)
	p := build(t)
	r := p.run("call", "--url", url, "--tool", "t", "--approve", "allow")
	if r.status != 0 || r.stdout != "seven\n" || !strings.Contains(r.stderr,
		"the result breaks the tool's output schema: ") {
		t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	c := readConversation(t, p.run("call", "--json", "--url", url, "--tool", "t", "--approve", "allow").stdout)
	if len(c.response.GetOutputViolations()) == 0 {
		t.Errorf("--json: %v", c.response)
	}
	if _, ok := find(c, func(e *mcphubv1.AttachResponse) (bool, bool) {
		return true, e.GetMcpRequestFinished().GetTool() == "t"
	}); !ok {
		t.Error("the end of the call was not shown")
	}
}
