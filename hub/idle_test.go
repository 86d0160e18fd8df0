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
