package hub_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// eras runs a test with a task server of each era: with the tasks of 2025-11-25 and those of the extension.
func eras(t *testing.T, f func(t *testing.T, s *taskServer)) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			bubble(t, func(t *testing.T) { f(t, newTaskServer(modern)) })
		})
	}
}

// terminalOf gives the one terminal event of a request.
func (v *view) terminalOf(id string) event.Body {
	v.t.Helper()
	var found []event.Body
	for _, e := range eventsOf[*event.RequestCancelled](v) {
		if e.RequestID == id {
			found = append(found, e)
		}
	}
	for _, e := range eventsOf[*event.RequestFinished](v) {
		if e.RequestID == id {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		v.t.Fatalf("request %s has %d terminal events", id, len(found))
	}
	return found[0]
}

// Windows are told the task's status and message; its result is the result of the call.
func TestTaskIsShownAndFinishes(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		if r := w.request("r1"); r.Task == nil || *r.Task != (event.TaskInfo{ID: "T-1", Status: "working"}) ||
			r.State != event.StateTaskWorking {
			t.Errorf("shown is %+v, task %+v", r, r.Task)
		}
		s.set("T-1", "working", "half done")
		pass(2 * time.Second)
		p := last[*event.RequestProgressed](v)
		if p.RequestID != "r1" || p.State != event.StateTaskWorking || p.Task == nil ||
			*p.Task != (event.TaskInfo{ID: "T-1", Status: "working", Message: "half done"}) {
			t.Errorf("the newest progress is %+v, task %+v", p, p.Task)
		}
		s.set("T-1", "completed", "")
		r := c.ok(t)
		if string(r.Result) != taskText || r.IsError || r.Task == nil || r.Task.Status != "completed" ||
			r.Timings.Active < 2*time.Second {
			t.Errorf("%+v, task %+v", r, r.Task)
		}
		end, ok := v.terminalOf("r1").(*event.RequestFinished)
		if !ok || end.State != event.StateDone || end.Task == nil || end.Task.ID != "T-1" || end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
		w.nothingLeft()
	})
}

// While a task works the idle clock stands still; the total clock runs on.
func TestTaskClocks(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Idle: ptr(10 * time.Second),
			Total: ptr(5 * time.Minute)}})
		pass(4*time.Minute + 59*time.Second)
		if c.over() {
			t.Fatalf("ended: %v", c.err)
		}
		e := func() *event.Error {
			pass(time.Second)
			return c.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		}()
		if e.Meta["setting"] != "timeouts.total" {
			t.Errorf("%+v", e.Meta)
		}
		end, ok := v.terminalOf("r1").(*event.RequestCancelled)
		if !ok || end.Cancellation.Origin != event.OriginTimeout || !end.ServerMayContinue || s.task("T-1").cancels != 1 {
			t.Errorf("the end is %+v, %d tasks/cancel", end, s.task("T-1").cancels)
		}
		w.nothingLeft()
	})
}

// A question inside a task is a prompt of the call. While a person thinks no clock runs.
func TestTaskAsksAPerson(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Idle: ptr(10 * time.Second), Total: ptr(time.Minute)}})
		s.ask("T-1")
		pass(2 * time.Second)
		p := v.prompt()
		if p.Kind != event.PromptElicitationForm || p.RequestID != "r1" && p.ParentRequestID != "r1" ||
			w.state("r1") != "awaiting_input" {
			t.Errorf("prompt %+v, call %s", p, w.state("r1"))
		}
		pass(20 * time.Minute)
		if c.over() {
			t.Fatalf("ended while a person thought: %v", c.err)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		if got := w.state("r1"); got != "task_working" {
			t.Errorf("after the answer the call is %s", got)
		}
		if a := s.task("T-1").answers; len(a) != 1 {
			t.Errorf("answers %q", a)
		}
		pass(30 * time.Second)
		if c.over() {
			t.Fatalf("the idle clock ran: %v", c.err)
		}
		s.set("T-1", "completed", "")
		if r := c.ok(t); r.Timings.Human < 20*time.Minute || r.Timings.Active > time.Minute {
			t.Errorf("timings %+v", r.Timings)
		}
		w.nothingLeft()
	})
}

// A cancel is sent as tasks/cancel alone, the call ends at once, and nothing is promised of the server: it may go on.
func TestTaskCancelled(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		for _, stubborn := range []bool{false, true} {
			s.mu.Lock()
			s.stubborn = stubborn
			s.mu.Unlock()
			w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
			v, c := taskWorld(w, hub.CallRequest{})
			id := fmt.Sprintf("T-%d", s.made)
			before := time.Now()
			if out, err := v.win.Cancel("r1", "too slow"); out != event.OutcomeCancelling || err != nil {
				t.Fatal(out, err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			if d := time.Since(before); d != 0 {
				t.Errorf("the caller waited %v", d)
			}
			end, ok := v.terminalOf("r1").(*event.RequestCancelled)
			if !ok || end.Cancellation.Reason != "too slow" || !end.ServerNotified() || !end.ServerMayContinue ||
				end.Task == nil || end.Task.ID != id {
				t.Errorf("stubborn %v: the end is %+v", stubborn, end)
			}
			if n := s.task(id).cancels; n != 1 {
				t.Errorf("%d tasks/cancel", n)
			}
			if got := cancels(s.Server); len(got) != 0 {
				t.Errorf("notifications/cancelled %v", got)
			}
			s.set(id, "completed", "") // in spite of the cancel
			pass(time.Minute)
			v.terminalOf("r1")
			w.nothingLeft()
		}
	})
}

// A question of a task closes with its call.
func TestTaskCancelledWhileItAsks(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.ask("T-1")
		pass(2 * time.Second)
		p := v.prompt()
		if _, err := v.win.Cancel("r1", "never mind"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "never mind")
		pass(time.Minute)
		if task := s.task("T-1"); task.cancels != 1 {
			t.Errorf("%+v", task)
		}
		w.nothingLeft()
	})
}

// The server may cancel its task: that is a cancelled call whose origin is the server.
func TestTaskCancelledByTheServer(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.set("T-1", "cancelled", "out of paper\x1b[2J")
		pass(2 * time.Second)
		e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if e.Meta["origin"] != "server" || e.Meta["cancel_reason"] != "out of paper\x1b[2J" {
			t.Errorf("%+v", e.Meta)
		}
		end, ok := v.terminalOf("r1").(*event.RequestCancelled)
		if !ok || end.Cancellation.Origin != event.OriginServer || end.ServerNotified() || end.ServerMayContinue ||
			end.Task.Status != "cancelled" {
			t.Errorf("the end is %+v", end)
		}
		if n := s.task("T-1").cancels; n != 0 {
			t.Errorf("%d tasks/cancel", n)
		}
		w.nothingLeft()
	})
}

// A failed task is a failed call: of the extension with its error, of 2025-11-25 with its result.
func TestTaskFails(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.set("T-1", "failed", "")
		pass(2 * time.Second)
		r := c.ok(t)
		if s.modern && (r.Error == nil || r.Error.Code != -32000) || !s.modern &&
			(!r.IsError || string(r.Result) != taskFailed) {
			t.Errorf("%+v", r)
		}
		if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
	})
}

// A call whose task the server has lost fails with a clear error: nobody knows whether its work goes on.
func TestTaskLost(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.set("T-1", "", "")
		pass(2 * time.Second)
		if e := c.want(t, event.CodeUnavailable, event.ReasonTaskLost); e.Meta["server_may_continue"] != "true" {
			t.Errorf("%+v", e.Meta)
		}
		if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || end.State != event.StateFailed ||
			!end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
		if n := toolCalls(s.Server); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// A tool with optional tasks becomes a task only when the call prefers that.
func TestTaskPreferred(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false)
		s.ToolWith(`{"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`,
			func(c *fakeserver.CallContext) {
				if c.Param("task") != nil {
					c.Result(s.begin())
					return
				}
				c.Text("at once")
			})
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		if r := w.call(hub.CallRequest{Server: "s", Tool: "either"}).ok(t); textOf(t, r) != "at once" || r.Task != nil {
			t.Errorf("%+v", r)
		}
		c := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "either", PreferTask: true})
		if got := w.state("r2"); got != "task_working" {
			t.Fatalf("the call is %q", got)
		}
		s.set("T-1", "completed", "")
		if r := c.ok(t); r.Task == nil || r.Task.ID != "T-1" {
			t.Errorf("%+v", r)
		}
	})
}

// StopServer cancels the task, on the wire too, before the connection ends.
func TestStopServerDuringATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		if _, err := w.hub.StopServer(context.Background(), "s", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		end, ok := v.terminalOf("r1").(*event.RequestCancelled)
		if !ok || end.Cancellation.Origin != event.OriginHost || end.Cancellation.Reason != "enough" ||
			!end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
		if n := s.task("T-1").cancels; n != 1 {
			t.Errorf("%d tasks/cancel", n)
		}
		w.nothingLeft()
	})
}

// Drain does the same with the hub's origin, also for a task whose server cannot be reached.
func TestDrainDuringATask(t *testing.T) {
	for _, reachable := range []bool{true, false} {
		t.Run(fmt.Sprintf("reachable %v", reachable), func(t *testing.T) {
			eras(t, func(t *testing.T, s *taskServer) {
				w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
				v, c := taskWorld(w, hub.CallRequest{})
				if !reachable {
					w.down("s", nil)
					s.Disconnect()
					pass(10 * time.Second)
				}
				w.hub.Drain(context.Background(), "bye")
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				end, ok := v.terminalOf("r1").(*event.RequestCancelled)
				if !ok || end.Cancellation.Origin != event.OriginShutdown || end.ServerNotified() != reachable ||
					!end.ServerMayContinue {
					t.Errorf("the end is %+v", end)
				}
				want := 0
				if reachable {
					want = 1
				}
				if n := s.task("T-1").cancels; n != want {
					t.Errorf("%d tasks/cancel", n)
				}
			})
		})
	}
}

// A cancel and the end of a task in the same instant: one terminal event, and the caller is told the same.
func TestTaskCancelAndEndInTheSameInstant(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v := w.everything()
		for i := range 50 {
			id := fmt.Sprintf("r%d", i)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "work"})
			if got := w.state(id); got != "task_working" {
				t.Fatalf("the call is %q", got)
			}
			pass(999 * time.Millisecond)
			task := fmt.Sprintf("T-%d", i+1)
			status := []string{"completed", "cancelled", "failed", ""}[i%4]
			var both sync.WaitGroup
			both.Go(func() { <-time.NewTimer(time.Millisecond).C; _, _ = v.win.Cancel(id, "no") })
			both.Go(func() { s.set(task, status, "") })
			both.Wait()
			<-c.done
			_, cancelled := v.terminalOf(id).(*event.RequestCancelled)
			if e := event.AsError(c.err); (e != nil && e.Reason == event.ReasonCancelled) != cancelled {
				t.Errorf("%s: the caller was told %v, the windows cancelled: %v", id, c.err, cancelled)
			}
		}
		pass(time.Minute)
		w.nothingLeft()
	})
}

// A task that begins while a person is asked does not hide that: the call stays awaiting_input.
func TestTaskBeginsWhileAPersonIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false)
		var asked *fakeserver.OutRequest
		s.ToolWith(`{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`,
			func(c *fakeserver.CallContext) {
				asked = c.Request(elicitation, formParams)
				<-time.NewTimer(time.Minute).C
				c.Result(s.begin())
			})
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "work",
			Timeouts: hub.Timeouts{Total: ptr(10 * time.Second)}})
		p := v.prompt()
		pass(2 * time.Minute)
		if c.over() || w.state("r1") != "awaiting_input" || w.request("r1").Task == nil {
			t.Errorf("the call is %s, over %v", w.state("r1"), c.over())
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		if got := w.state("r1"); got != "task_working" {
			t.Errorf("after the answer the call is %s", got)
		}
		if m := <-asked.Response(); m.Result == nil {
			t.Errorf("answered with %s", m.Raw)
		}
		s.set("T-1", "completed", "")
		c.ok(t)
		if diff := cmp.Diff("", w.hub.Inconsistent()); diff != "" {
			t.Error(diff)
		}
		synctest.Wait()
	})
}
