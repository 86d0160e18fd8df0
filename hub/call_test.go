package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A call to a connected server that asks nobody takes the hub's lock four times: when it begins, when it may go on to a
// session, when it is sent, and when it ends. So does reading a resource.
func TestAWarmCallTakesTheLockFourTimes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New(fakeserver.WithCapabilities(`{"tools":{},"resources":{}}`))
		s.Tool("a", func(c *fakeserver.CallContext) { c.Text("a") })
		s.Handle("resources/read", func(c *fakeserver.CallContext) { c.Result(`{"contents":[]}`) })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		w.everything()
		for name, one := range map[string]func(){
			"tool":     func() { w.call(hub.CallRequest{Server: "s", Tool: "a"}).ok(t) },
			"resource": func() { w.read(hub.CallRequest{Server: "s", URI: "file:///a"}).ok(t) },
		} {
			one()
			synctest.Wait()
			before := w.hub.LockCount()
			one()
			synctest.Wait()
			if got := w.hub.LockCount() - before - 1; got != 4 { // LockCount takes it, too
				t.Errorf("%s: the lock was taken %d times, want 4", name, got)
			}
		}
	})
}

// A call without the name of a tool passes the same checks as any other tool call.
func TestCallWithoutAToolsName(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		w.everything()
		w.call(hub.CallRequest{Server: "s", Preapproved: true}).want(t, event.CodeNotFound, event.ReasonToolNotFound)
		if n := s.Count(fakeserver.Method("tools/call")); n != 0 {
			t.Errorf("the server was called %d times", n)
		}
	})
}

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
		w, v := withWindow(t, s)
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
		if r := w.begin("", "echo").ok(t); len(r.OutputViolations) != 0 {
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

// Requests and the history have the title of the tool, since people read that instead of the name. The server chooses
// the title, so it is bounded.
func TestRequestsTellTheTitleOfTheirTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		long := strings.Repeat("é", bounds.ToolTitleBytes)
		cut := bounds.Cut(long, bounds.ToolTitleBytes)
		if len(cut) > bounds.ToolTitleBytes {
			t.Fatalf("a title of %d bytes", len(cut))
		}
		work := func(c *fakeserver.CallContext) { c.Text("worked") }
		s.ToolWith(`{"name": "work", "title": "Do the work", "inputSchema": {"type": "object"}}`, work)
		s.ToolWith(`{"name": "long", "title": "`+long+`", "inputSchema": {"type": "object"}}`, work)
		s.ToolWith(`{"name": "old", "inputSchema": {"type": "object"}, "annotations": {"title": "Older"}}`, work)
		w, v := withWindow(t, s)
		for _, tool := range []string{"work", "work", "long", "old"} {
			w.call(hub.CallRequest{Server: "s", Tool: tool, Arguments: "{}"}).ok(t)
		}
		c := w.call(hub.CallRequest{ID: "stopped", Server: "s", Tool: "hang"})
		w.state("stopped")
		now := w.attach(hub.Hello{})
		if open := now.start.Snapshot.Requests; len(open) != 1 || open[0].Title != "" || open[0].Tool != "hang" {
			t.Errorf("the snapshot has %+v", open)
		}
		now.win.Detach(true)
		v.cancel("stopped", "no")
		c.cancelled(t)
		var begun, ended []string
		for _, e := range eventsOf[*event.RequestStarted](v) {
			if e.Request.Method == "tools/call" {
				begun = append(begun, e.Request.Tool+": "+e.Request.Title)
			}
		}
		for _, e := range w.history(10) {
			switch b := e.Body.(type) {
			case *event.RequestCancelled:
				ended = append(ended, b.Tool+": "+b.Title)
			case *event.RequestFinished:
				if b.Tool != "" {
					ended = append(ended, b.Tool+": "+b.Title)
				}
			}
		}
		// The first call begins before the server has ever been listed.
		want := []string{"work: ", "work: Do the work", "long: " + cut, "old: Older", "hang: "}
		if fmt.Sprint(begun) != fmt.Sprint(want) {
			t.Errorf("begun: %q, want %q", begun, want)
		}
		want[0] = "work: Do the work"
		if fmt.Sprint(ended) != fmt.Sprint(want) {
			t.Errorf("ended: %q, want %q", ended, want)
		}
	})
}

// A server chooses the ids of its questions. One that is longer than the hub's bound is shown in no window and kept
// nowhere; the answer carries it whole.
func TestHugeWireIDIsShownToNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, v := withWindow(t, s)
		if _, err := w.hub.StartServer(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		huge := `"` + strings.Repeat("i", 1<<20) + `"`
		if _, err := s.RequestWithID(huge, elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		p := v.prompt()
		v.cancel(p.RequestID, "no")
		end, _ := v.terminalOf(p.RequestID).(*event.RequestCancelled)
		started := eventsOf[*event.RequestStarted](v)
		if end == nil || end.WireID != "" || started[len(started)-1].Request.WireID != "" {
			t.Errorf("the windows were told %d bytes of an id", len(started[len(started)-1].Request.WireID))
		}
		if got := responses(s); len(got) == 0 || !strings.Contains(got[len(got)-1], huge) {
			t.Error("the answer does not carry the id of its question")
		}
		w.nothingLeft()
	})
}

// Windows tell calls of one tool from each other by their arguments and by the client that they are for: while they
// run, when they end, and in the history.
func TestRequestsTellTheirArgumentsAndCaller(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("work", func(c *fakeserver.CallContext) { c.Text("worked") })
		w, v := withWindow(t, s)
		const shown = `path: "/tmp/a", api_key: [redacted]`
		of := hub.CallRequest{Server: "s", Tool: "work", Arguments: `{"path": "/tmp/a", "api_key": "k-1"}`, CallerName: "Other"}
		of.ID = "done"
		w.call(of).ok(t)
		of.ID, of.Tool = "stopped", "hang"
		c := w.call(of)
		w.state("stopped")
		now := w.attach(hub.Hello{})
		open := now.start.Snapshot.Requests
		if len(open) != 1 || open[0].Preview != shown || open[0].Caller != "Other" {
			t.Errorf("the snapshot has %+v", open)
		}
		now.win.Detach(true)
		v.cancel("stopped", "no")
		c.cancelled(t)
		for _, e := range eventsOf[*event.RequestStarted](v) {
			if e.Request.Method == "tools/call" && (e.Request.Preview != shown || e.Request.Caller != "Other") {
				t.Errorf("the start of %+v", e.Request)
			}
		}
		var told []string
		for _, e := range w.history(10) {
			switch b := e.Body.(type) {
			case *event.RequestCancelled:
				told = append(told, b.Tool+" "+b.Preview+" "+b.Caller)
			case *event.RequestFinished:
				told = append(told, b.Tool+" "+b.Preview+" "+b.Caller)
			}
		}
		const startOfSession = "  "
		want := []string{startOfSession, "work " + shown + " Other", "hang " + shown + " Other"}
		if fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("the history has %q, want %q", told, want)
		}
	})
}
