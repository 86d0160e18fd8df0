package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A task outlives its connection: same request, same clocks, polls go on, the result arrives. The tool is not called
// again.
func TestTaskSurvivesItsConnection(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(time.Minute)}})
		start := w.request("r1").Start
		for range 3 {
			pass(5 * time.Second)
			s.Disconnect()
			pass(5 * time.Second)
			if got := w.request("r1"); got.State != event.StateTaskWorking || !got.Start.Equal(start) || got.Task == nil ||
				got.Task.ID != "T-1" {
				t.Fatalf("the call is %+v", got)
			}
		}
		if w.starts("s") != 4 || toolCalls(s.Server) != 1 {
			t.Errorf("%d starts, %d calls", w.starts("s"), toolCalls(s.Server))
		}
		s.set("T-1", "completed", "")
		if r := c.ok(t); string(r.Result) != taskText || r.RequestID != "r1" || r.Timings.Active+
			r.Timings.Queued < 30*time.Second {
			t.Errorf("%+v", r)
		}
		v.terminalOf("r1")
		w.nothingLeft()
	})
}

// The total clock runs on across connections.
func TestTaskTotalClockOverConnections(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		_, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(20 * time.Second),
			Idle: ptr(3 * time.Second)}})
		pass(15 * time.Second)
		s.Disconnect()
		pass(4 * time.Second)
		if c.over() {
			t.Fatalf("ended after 19 s: %v", c.err)
		}
		pass(time.Second)
		c.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		w.nothingLeft()
	})
}

// A server that cannot be reached for a while is tried again, and the task is followed; the tool is not called again.
// Another call that comes meanwhile fails with the attempt that it waits for, and does not end the task.
func TestTaskServerUnreachableForAWhile(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		_, c := taskWorld(w, hub.CallRequest{})
		w.down("s", nil)
		s.Disconnect()
		pass(5 * time.Minute)
		if got := w.state("r1"); got != "connecting" {
			t.Fatalf("the call is %q: %v", got, c.err)
		}
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "work"}).want(t, event.CodeUnavailable, event.ReasonServerFailed)
		if got := w.state("r1"); got != "connecting" {
			t.Fatalf("after another call failed, the call is %q: %v", got, c.err)
		}
		w.down("s", s.Server)
		pass(time.Minute)
		if got := w.state("r1"); got != "task_working" {
			t.Fatalf("the call is %q: %v", got, c.err)
		}
		s.set("T-1", "completed", "")
		c.ok(t)
		if toolCalls(s.Server) != 1 {
			t.Errorf("%d calls", toolCalls(s.Server))
		}
		w.nothingLeft()
	})
}

// A cancel ends the tries at once. The server was not told, and its task may go on: both are said.
func TestTaskCancelledWhileUnreachable(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		w.down("s", nil)
		s.Disconnect()
		pass(10 * time.Second)
		starts := len(eventsOf[*event.RequestStarted](v))
		if _, err := v.win.Cancel("r1", "gone for good"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		end, ok := v.terminalOf("r1").(*event.RequestCancelled)
		if !ok || end.ServerNotified() || !end.ServerMayContinue || end.Task == nil {
			t.Errorf("the end is %+v", end)
		}
		pass(10 * time.Minute)
		if n := len(eventsOf[*event.RequestStarted](v)); n > starts+1 || w.server("s").State != event.ServerGivenUp {
			// the hub's own last try
			t.Errorf("%d starts after the cancel", n-starts)
		}
		w.nothingLeft()
	})
}

// The total clock ends the tries, too.
func TestTaskTotalClockWhileUnreachable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(true)
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(time.Minute)}})
		w.down("s", nil)
		s.Disconnect()
		pass(59 * time.Second)
		if c.over() {
			t.Fatal(c.err)
		}
		pass(time.Second)
		c.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		if end := v.terminalOf("r1").(*event.RequestCancelled); !end.ServerMayContinue {
			t.Errorf("%+v", end)
		}
	})
}

// A server that is switched off in the config, or removed from it, while a task waits for it ends the call.
func TestTaskServerRemovedWhileUnreachable(t *testing.T) {
	for name, entries := range map[string]string{"removed": ``, "switched off": `"s":{"command":"s","disabled":true}`} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newTaskServer(true)
				w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
				v, c := taskWorld(w, hub.CallRequest{})
				w.down("s", nil)
				s.Disconnect()
				pass(10 * time.Second)
				if _, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{{Scope: "host", Path: "test.json",
					JSON: `{"mcpServers":{` + entries + `}}`}}); err != nil {
					t.Fatal(err)
				}
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				if end := v.terminalOf("r1").(*event.RequestCancelled); end.Cancellation.Origin != event.OriginHost ||
					!end.ServerMayContinue {
					t.Errorf("the call ended with %+v, want origin host, and that the server may go on", end)
				}
			})
		})
	}
}

// Many tasks of one connection are all followed on the next one, whichever of them is there first.
func TestManyTasksSurviveOneConnection(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v := w.everything()
		var calls []*pendingCall
		for i := range 20 {
			calls = append(calls, w.call(hub.CallRequest{ID: fmt.Sprintf("r%d", i), Server: "s", Tool: "work"}))
		}
		pass(3 * time.Second)
		for i := range 20 {
			s.Disconnect()
			pass(time.Duration(i) * 100 * time.Millisecond)
		}
		pass(time.Minute)
		for i := range calls {
			if got := w.state(fmt.Sprintf("r%d", i)); got != "task_working" {
				t.Errorf("call %d is %q: %v", i, got, calls[i].err)
			}
			s.set(fmt.Sprintf("T-%d", i+1), "completed", "")
		}
		for _, c := range calls {
			c.ok(t)
		}
		for i := range calls {
			v.terminalOf(fmt.Sprintf("r%d", i))
		}
		if n := toolCalls(s.Server); n != 20 {
			t.Errorf("%d calls", n)
		}
		w.nothingLeft()
	})
}

// A call whose server was connected anew by another call follows its task there: it has nothing to wait for.
func TestTaskFindsTheNextConnectionReady(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(true)
		s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		_, c := taskWorld(w, hub.CallRequest{})
		w.down("s", nil)
		s.Disconnect()
		pass(3500 * time.Millisecond) // the next try comes after 7 s
		w.down("s", s.Server)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		pass(10 * time.Second)
		if got := w.state("r1"); got != "task_working" {
			t.Fatalf("the call is %q: %v", got, c.err)
		}
		s.set("T-1", "completed", "")
		c.ok(t)
		w.nothingLeft()
	})
}

// The prompt of a task closes with the connection; the server asks again on the next one.
func TestTaskAsksAgainAfterItsConnection(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(time.Minute)}})
		s.ask("T-1")
		pass(2 * time.Second)
		first := v.prompt()
		pass(10 * time.Minute)
		s.Disconnect()
		pass(5 * time.Second)
		second := v.prompt()
		if first.ID == second.ID || w.state("r1") != "awaiting_input" {
			t.Fatalf("prompts %s and %s, call %s", first.ID, second.ID, w.state("r1"))
		}
		v.wantClosed(first.ID, event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
		pass(10 * time.Minute)
		v.answer(event.PromptAnswer{PromptID: second.ID, Action: event.ActionAccept, Content: formYes})
		if a := s.task("T-1").answers; len(a) != 1 {
			t.Errorf("answers %q", a)
		}
		s.set("T-1", "completed", "")
		if r := c.ok(t); r.Timings.Human < 20*time.Minute {
			t.Errorf("%+v", r.Timings)
		}
		w.nothingLeft()
	})
}
