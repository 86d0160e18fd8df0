package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// idleWorld returns a world with one server s that is stopped after a minute without use. A change of *limit has effect
// with the next load; 0 means no limit.
func idleWorld(t *testing.T, s *fakeserver.Server, entry string) (w *world, limit *time.Duration) {
	t.Helper()
	limit = new(time.Minute)
	w = editedWorld(t, hub.Options{}, func(s *config.Server) {
		s.IdleStop = nil
		if limit := *limit; limit != 0 {
			s.IdleStop = &limit
		}
	})
	w.servers = serversOf("s", s)
	w.load(entry)
	return w, limit
}

// wantIdle checks that s is running until in has passed, and is stopped then.
func (w *world) wantIdle(in time.Duration) {
	w.t.Helper()
	pass(in - time.Nanosecond)
	if info := w.server("s"); info.State != event.ServerReady {
		w.t.Fatalf("before its time it is %s: %s", info.State, info.LastError)
	}
	pass(time.Nanosecond)
	if info := w.server("s"); info.State != event.ServerStopped || info.Failures != 0 || info.LastError != "" ||
		next(info) != 0 {
		w.t.Fatalf("after its time: %+v", info)
	}
}

// A server that is not used for its idle time is stopped, whatever used it before, and starts with the next use.
func TestIdleStop(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var opts []fakeserver.Option
				if era == "modern" {
					opts = append(opts, fakeserver.WithModern())
				}
				s := hanging(opts...)
				w, _ := idleWorld(t, s, `s:"timeouts":{"idle":"0s"},"alwaysAllow":["hang","echo"]`)
				v := w.everything()
				for n := 1; n <= 2; n++ {
					w.echo().ok(t)
					pass(40 * time.Second)
					w.echo().ok(t)
					w.wantIdle(time.Minute)
					if w.starts("s") != n {
						t.Errorf("%d starts", w.starts("s"))
					}
				}
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				pass(10 * time.Minute)
				if _, err := v.win.Cancel("r1", ""); err != nil {
					t.Fatal(err)
				}
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				w.wantIdle(time.Minute)
				if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
					t.Fatal(err)
				}
				w.wantIdle(time.Minute)
				pass(time.Hour)
				if w.starts("s") != 4 {
					t.Errorf("%d starts", w.starts("s"))
				}
				w.nothingLeft()
			})
		})
	}
}

// A server is not stopped while a call waits for approval, although the call does not use the connection yet.
func TestNoIdleStopWhileACallWaitsForApproval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := idleWorld(t, hanging(), `s:"alwaysAllow":[]`)
		v := w.everything()
		w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).ok(t)
		c := w.echo()
		p := v.prompt()
		pass(10 * time.Minute)
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		w.wantIdle(time.Minute)
	})
}

// A server is not stopped while a task works.
func TestNoIdleStopWhileATaskWorks(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, _ := idleWorld(t, s.Server, `s:"timeouts":{"idle":"0s","total":"0s"},`+allow)
		_, c := taskWorld(w, hub.CallRequest{})
		pass(10 * time.Minute)
		if got := w.state("r1"); got != "task_working" || w.starts("s") != 1 {
			t.Fatalf("the call is %q after %d starts", got, w.starts("s"))
		}
		s.set("T-1", "completed", "")
		c.ok(t)
		w.wantIdle(time.Minute)
	})
}

// A server is not stopped while a resource is subscribed to.
func TestNoIdleStopWhileSubscribed(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w, _ := idleWorld(t, s.Server, `s:`+allow)
		if err := w.hub.SubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		if info := w.server("s"); info.State != event.ServerReady {
			t.Fatalf("the server is %+v", info)
		}
		if err := w.hub.UnsubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		w.wantIdle(time.Minute)
	})
}

// A server is not stopped while a question of its own is open that belongs to no call.
func TestNoIdleStopWhileItAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, _ := idleWorld(t, s, "s:"+allow)
		v := w.everything()
		w.echo().ok(t)
		q, err := s.Request(elicitation, formParams)
		if err != nil {
			t.Fatal(err)
		}
		p := v.prompt()
		pass(10 * time.Minute)
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		<-q.Response()
		synctest.Wait()
		w.wantIdle(time.Minute)
	})
}

// A change of the idle time restarts nothing. The new time counts from the last use, or from when there is a limit
// again.
func TestIdleStopChangeRestartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, limit := idleWorld(t, s, "s:"+allow)
		change := func(to time.Duration) {
			t.Helper()
			*limit = to
			if stopped := w.load("s:" + allow); len(stopped) != 0 {
				t.Errorf("stopped %v", stopped)
			}
			if w.starts("s") != 1 || w.server("s").State != event.ServerReady {
				t.Fatalf("the server is %+v", w.server("s"))
			}
		}
		w.echo().ok(t)
		pass(50 * time.Second)
		change(2 * time.Minute)
		pass(time.Minute)
		change(0)
		pass(time.Hour)
		change(10 * time.Minute)
		pass(time.Minute)
		change(3 * time.Minute)
		w.wantIdle(2 * time.Minute)
	})
}

// The idle clock runs as soon as a call that waited for approval has ended.
func TestIdleStopAfterAnUnapprovedCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := idleWorld(t, hanging(), `s:"alwaysAllow":[]`)
		v := w.everything()
		w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).ok(t)
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo", ID: "r1"})
		v.prompt()
		pass(10 * time.Minute)
		if _, err := v.win.Cancel("r1", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		w.wantIdle(time.Minute)
	})
}
