//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const working = mcphubv1.RequestState_REQUEST_STATE_TASK_WORKING

func preferTask(r *mcphubv1.CallToolRequest) { r.PreferTask = true }

// TestTasks: a server that has tasks (2025-11-25, TypeScript SDK 1.x), behind a tap, over both transports.
func TestTasks(t *testing.T) {
	for _, kind := range []string{"http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := peers.TypeScript1.HTTP(t)
			between := newTap(t, s.URL)
			p := newPlace(t)
			d := p.open(servers{"peer": remote(kind, between.url+map[string]string{"http": "/mcp", "sse": "/sse"}[kind])})
			w := d.window("side bar")
			taskRuns(t, s, d, w, between)
			taskAsks(t, d, w, between)
			between.forget()
			taskIsCancelled(t, s, d, w, between)
			if kind == "http" {
				between.forget()
				taskIsLost(t, d, w, between)
			}
		})
	}
}

// taskRuns: where the tool leaves it to the client, the call runs as a task if the host prefers that: the window sees
// it working, and the result is that of the task.
func taskRuns(t *testing.T, s *peers.Server, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	c := d.call("peer", "task", `{"ms":300,"steps":3}`, preferTask)
	w.WaitRequest(c.id, working)
	r := c.answer()
	if got := textOf(t, r.GetResultJson()); got != "task done" || r.GetTask().GetTaskId() == "" {
		t.Errorf("%v", r)
	}
	end := w.WaitTerminal(c.id).GetMcpRequestFinished()
	if end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE ||
		end.GetTask().GetTaskId() != r.GetTask().GetTaskId() {
		t.Errorf("the end: %v", end)
	}
	call := between.one("the call", func(m posted) bool { return m.Params.Name == "task" })
	if !strings.Contains(call.Body, `"task":{`) || len(between.all(sent("tasks/result"))) == 0 {
		t.Errorf("sent %s and %d times tasks/result", call.Body, len(between.all(sent("tasks/result"))))
	}
	s.Wait("the end of the work", func(e peers.Event) bool {
		return e.Is(peers.EventFinished, "task") && e.Task == r.GetTask().GetTaskId()
	})

	// Without preferTask the same call is no task.
	plain := d.call("peer", "task", `{"ms":20,"steps":1}`)
	if got := plain.answer(); got.GetTask() != nil {
		t.Errorf("a task that nobody wanted: %v", got)
	}
}

// taskAsks: a tool that requires a task runs as one even if the host does not say so, and asks while it runs.
func taskAsks(t *testing.T, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	c := d.call("peer", "task_ask", `{}`)
	p := w.WaitPrompt(form)
	if p.GetParentRequestId() != c.id {
		t.Errorf("the prompt belongs to %q, not to %q", p.GetParentRequestId(), c.id)
	}
	takes(t, w.Accept(p.GetPromptId(), `{"name":"Ada"}`))
	if text := c.text(); !strings.Contains(text, "Ada") {
		t.Errorf("result %q", text)
	}

	c = d.call("peer", "task_ask", `{}`)
	p = w.WaitPrompt(form)
	cancels(t, w, c.id, "not now")
	c.fails("CANCELLED", "CANCELLED")
	closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, w)
	between.await("the cancel of the task", sent("tasks/cancel"))
}

// taskIsCancelled: a cancel sends tasks/cancel and no notification, which could name only the call's request, and that
// was answered long ago.
func taskIsCancelled(t *testing.T, s *peers.Server, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	c := d.call("peer", "task", endless, preferTask)
	w.WaitRequest(c.id, working)
	n := 0
	started := s.Wait("the work", func(e peers.Event) bool {
		if e.Is(peers.EventStarted, "task") {
			n++
		}
		return n == 3 // taskRuns has begun two
	})
	cancels(t, w, c.id, "enough")
	c.fails("CANCELLED", "CANCELLED")
	e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "enough")
	if e.GetTask().GetTaskId() != started.Task || !delivered(w, c.id) {
		t.Errorf("told %v", e)
	}
	s.Wait("the cancelled work", func(e peers.Event) bool {
		return e.Is(peers.EventCancelled, "task") && e.Task == started.Task
	})
	if m := between.one("the cancel", sent("tasks/cancel")); m.Params.TaskID != started.Task {
		t.Errorf("it names task %q, not %q", m.Params.TaskID, started.Task)
	}
	d.works("peer")
	call := between.one("the call", func(m posted) bool { return m.Params.Name == "task" })
	for _, m := range between.all(sent("notifications/cancelled")) {
		if string(m.Params.RequestID) == string(call.ID) {
			t.Errorf("the call itself was cancelled: %s", m.Body)
		}
	}
}

// taskIsLost: this server keeps a task for its session only. The hub asks for it on a new session, and fails the call
// with TASK_LOST.
func taskIsLost(t *testing.T, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	c := d.call("peer", "task", endless, preferTask)
	w.WaitRequest(c.id, working)
	between.expire()
	c.fails("UNAVAILABLE", "TASK_LOST")
	between.one("the call", func(m posted) bool { return m.Params.Name == "task" })
	if end := w.WaitTerminal(c.id).GetMcpRequestFinished(); !end.GetServerMayContinue() ||
		end.GetTask().GetTaskId() == "" {
		t.Errorf("the end: %v", end)
	}
	d.works("peer")
}
