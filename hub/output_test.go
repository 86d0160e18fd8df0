package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// structured returns a server whose tool "sum" promises a number n, and returns what its arguments say.
func structured() *fakeserver.Server {
	s := hanging()
	s.ToolWith(
		`{"name":"sum","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}}`,
		func(c *fakeserver.CallContext) {
			switch given := string(c.Arguments()); {
			case strings.Contains(given, "refuse"):
				c.Error(-32000, "no")
			case strings.Contains(given, "isError"):
				c.Result(`{"content":[],"isError":true}`)
			case strings.Contains(given, "missing"):
				c.Result(`{"content":[]}`)
			default:
				c.Result(`{"content":[],"structuredContent":` + given + `}`)
			}
		})
	return s
}

// If structured content violates the output schema of the tool, the violations are reported beside the result, which
// stays as the server sent it.
func TestOutputViolations(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := structured()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for _, c := range []struct {
			arguments, result string
			violated          bool
		}{
			{`{"n":1}`, `{"content":[],"structuredContent":{"n":1}}`, false},
			{`{"n":"one"}`, `{"content":[],"structuredContent":{"n":"one"}}`, true},
			{`{"m":1}`, `{"content":[],"structuredContent":{"m":1}}`, true},
			{`{"missing":1}`, `{"content":[]}`, true},
			{`{"isError":1}`, `{"content":[],"isError":true}`, false},
		} {
			r := w.call(hub.CallRequest{ID: "r" + c.arguments, Server: "s", Tool: "sum", Arguments: c.arguments}).ok(t)
			if string(r.Result) != c.result || r.Error != nil || (len(r.OutputViolations) > 0) != c.violated {
				t.Errorf("%s gave %s with violations %q", c.arguments, r.Result, r.OutputViolations)
			}
			if end := v.terminalOf("r" + c.arguments).(*event.RequestFinished); end.State != event.StateDone {
				t.Errorf("the end of the request is %+v", end)
			}
		}
		if r := w.call(hub.CallRequest{Server: "s", Tool: "sum", Arguments: `{"refuse":1}`}).ok(t); r.Error == nil ||
			len(r.OutputViolations) != 0 {
			t.Errorf("the result is %+v", r)
		}
		if r := w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t); len(r.OutputViolations) != 0 {
			t.Errorf("a tool without a promise: %q", r.OutputViolations)
		}
	})
}

// The result of a task is checked against the output schema as well, even if the connection has changed meanwhile.
func TestOutputViolationsOfATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		s.ToolWith(
			`{"name":"work","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]},"execution":{"taskSupport":"required"}}`,
			func(c *fakeserver.CallContext) { c.Result(s.begin()) })
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		_, c := taskWorld(w, hub.CallRequest{})
		s.Disconnect()
		pass(5 * time.Second)
		s.set("T-1", "completed", "")
		if r := c.ok(t); string(r.Result) != taskText || len(r.OutputViolations) == 0 {
			t.Errorf("the result is %s, violations %q", r.Result, r.OutputViolations)
		}
	})
}
