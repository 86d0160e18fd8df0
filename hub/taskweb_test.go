package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// taskWeb is a world with a task server behind a URL and a call r1 whose task T-1 is working.
func taskWeb(t *testing.T, s *taskServer, c hub.CallRequest) (*webWorld, *site, *view, *pendingCall) {
	t.Helper()
	w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s.Server), "s:"+allow)
	v := w.person()
	c.ID, c.Server, c.Tool = "r1", "s", "work"
	call := w.call(c)
	if got := w.state("r1"); got != "task_working" {
		t.Fatalf("the call is %q: %v", got, call.err)
	}
	return w, w.sites["s"], v, call
}

// The session ends while a task works: the task is followed in a new session.
func TestTaskSurvivesItsSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false)
		w, at, v, c := taskWeb(t, s, hub.CallRequest{})
		for range 3 {
			at.http.Expire()
			pass(5 * time.Second)
			if got := w.state("r1"); got != "task_working" {
				t.Fatalf("the call is %q: %v", got, c.err)
			}
		}
		s.set("T-1", "completed", "")
		pass(5 * time.Second)
		c.ok(t)
		v.terminalOf("r1")
		if n := s.Count(fakeserver.Method("initialize")); n != 4 || toolCalls(s.Server) != 1 {
			t.Errorf("%d sessions, %d calls", n, toolCalls(s.Server))
		}
		w.nothingLeft()
	})
}

// Errors on the way to the server (here 503) do not end the call of a task.
func TestTaskWhileItsServerIsInTrouble(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, at, _, c := taskWeb(t, s, hub.CallRequest{})
		at.http.On("POST tasks/get", 0, fakeserver.Act{Status: 503})
		pass(10 * time.Minute)
		if got := w.state("r1"); got != "task_working" {
			t.Fatalf("the call is %q: %v", got, c.err)
		}
		at.http.On("POST tasks/get", 0, fakeserver.Act{})
		s.set("T-1", "completed", "")
		pass(time.Minute)
		c.ok(t)
		w.nothingLeft()
	})
}

// StopServer tells the server to cancel the task before it leaves.
func TestStopServerBehindAURLDuringATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, _, v, c := taskWeb(t, s, hub.CallRequest{})
		if _, err := w.hub.StopServer(context.Background(), "s", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if end := v.terminalOf("r1").(*event.RequestCancelled); !end.ServerNotified() || !end.ServerMayContinue {
			t.Errorf("%+v", end)
		}
		if n := s.task("T-1").cancels; n != 1 {
			t.Errorf("%d tasks/cancel", n)
		}
		w.nothingLeft()
	})
}

// A server that does not answer tasks/cancel does not hold up a stop for long.
func TestStopServerThatIgnoresTheCancelOfATask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(true)
		w, at, _, c := taskWeb(t, s, hub.CallRequest{})
		at.http.On("POST tasks/cancel", 0, fakeserver.Act{Silent: true})
		start := time.Now()
		if _, err := w.hub.StopServer(context.Background(), "s", "enough"); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("the stop took %v", d)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
	})
}

// The token ends while a task works: a person signs in anew and takes the time that it takes, and the task is followed
// on.
func TestSignInDuringATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, at, v, c := taskWeb(t, s, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(time.Minute)}})
		at.set(func() { at.guarded = true })
		pass(5 * time.Second)
		first := v.prompt()
		pass(20 * time.Minute)
		if p := v.prompt(); p.ID != first.ID {
			t.Fatalf("another prompt")
		}
		w.signIn(v)
		s.set("T-1", "completed", "")
		pass(10 * time.Second)
		if r := c.ok(t); r.Timings.Human < 20*time.Minute {
			t.Errorf("%+v", r.Timings)
		}
		w.nothingLeft()
	})
}

// The person declines: the call ends with that, and the task may go on.
func TestSignInDeclinedDuringATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, at, v, c := taskWeb(t, s, hub.CallRequest{})
		at.set(func() { at.guarded = true })
		pass(5 * time.Second)
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		pass(time.Minute)
		e := c.want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
		if end := v.terminalOf("r1").(*event.RequestFinished); !end.ServerMayContinue ||
			e.Meta["server_may_continue"] != "true" {
			t.Errorf("%+v, %+v", end, e.Meta)
		}
		v.noPrompt()
		w.nothingLeft()
	})
}

// The session of a task has ended and the next one requires a sign-in, which no window can show: the server is tried
// until one can.
func TestTaskWaitsForAWindowToSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false)
		w, at, v, c := taskWeb(t, s, hub.CallRequest{})
		v.win.Detach(true)
		at.set(func() { at.guarded = true })
		at.http.Expire()
		pass(time.Minute)
		if w.state("r1") == "" {
			t.Fatalf("ended: %v", c.err)
		}
		v = w.person()
		pass(time.Minute)
		w.signIn(v)
		pass(time.Minute)
		if got := w.state("r1"); got != "task_working" {
			t.Fatalf("the call is %q: %v", got, c.err)
		}
		s.set("T-1", "completed", "")
		pass(5 * time.Second)
		c.ok(t)
		w.nothingLeft()
	})
}

// A change of the config in the middle of a sign-in ends it; what comes next signs in by the new one.
func TestConfigChangesDuringSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		p := v.prompt()
		w.configure(`s:"headers":{"X-New":"1"},` + allow)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "the server's config changed")
		if i := w.server("s"); i.SignIn != 0 || i.State != event.ServerStopped {
			t.Errorf("%+v", i)
		}
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		w.nothingLeft()
	})
}

// A cancel, a decline or a stop while the browser comes back: one terminal event of each request, and nothing is left.
func TestSignInCancelAndReturnInTheSameInstant(t *testing.T) {
	for i := range 20 {
		bubble(t, func(t *testing.T) {
			w, _ := guardedWorld(t)
			v := w.person()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			first := v.prompt()
			v.answer(event.PromptAnswer{PromptID: first.ID, Action: event.ActionAccept})
			second := v.prompt()
			w.slowBrowser(first.SignIn.URL, func() {
				switch i % 4 {
				case 0:
					go func() { _, _ = v.win.Cancel("r1", "no") }()
				case 1:
					go func() { _ = v.win.Answer(event.PromptAnswer{PromptID: second.ID, Action: event.ActionDecline}) }()
				case 2:
					go func() { _, _ = w.hub.StopServer(context.Background(), "s", "no") }()
				case 3:
					go func() { _, _ = v.win.Cancel(second.RequestID, "no") }()
				}
			})
			pass(time.Minute)
			<-c.done
			if e := event.AsError(c.err); e != nil && e.Reason != event.ReasonCancelled &&
				e.Reason != event.ReasonSignInDeclined &&
				!strings.HasPrefix(e.Reason, "SERVER_") {
				t.Errorf("%v", e)
			}
			v.terminalOf("r1")
			v.terminalOf(second.RequestID)
			v.noPrompt()
			w.nothingLeft()
		})
	}
}
