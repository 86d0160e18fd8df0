package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
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
		v.decline()
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
		c.cancelled(t)
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
		synctest.Test(t, func(t *testing.T) {
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

// Many tasks of one connection are all followed on the next one, whichever of them is there first.
func TestManyTasksSurviveOneConnection(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, v := withWindow(t, s.Server)
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
