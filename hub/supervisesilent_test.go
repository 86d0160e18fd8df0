package hub_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A process that says nothing is ended when its time to start is over, and the error names the setting and what it
// printed.
func TestMuteServerNamesWhatItPrinted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithSilentProbe())
		s.Handle("initialize", func(c *fakeserver.CallContext) { _ = c.Hang() })
		w := newWorld(t, serversOf("s", s), `s:"timeouts":{"connect":"20s"},`+allow)
		w.fall("s", &ill{stderr: []string{"waiting for the database"},
			exit: "ended by SIGTERM after it was told to terminate"})
		begin := time.Now()
		e := w.echo().want(t, event.CodeDeadlineExceeded, event.ReasonConnectTimeout)
		const text = `server "s" was not ready within 20s; raise timeouts.connect in test.json:1; last lines on stderr: waiting for the database`
		if e.Message != text || time.Since(begin) != 20*time.Second {
			t.Errorf("after %v: %s", time.Since(begin), e.Message)
		}
		if info := w.server("s"); info.Failures != 1 || info.State != event.ServerFailed ||
			info.LastExit != "ended by SIGTERM after it was told to terminate" {
			t.Errorf("%+v", info)
		}
	})
}

// A server that works for an hour, or whose process is stopped with SIGSTOP while nobody needs it, gets no message of
// the hub's own and does not count as dead.
func TestBusyServerIsNotDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		done := make(chan struct{})
		s.Tool("work", func(c *fakeserver.CallContext) {
			<-done
			c.Text("at last")
		})
		w := newWorld(t, serversOf("s", s), `s:"timeouts":{"idle":"0s","total":"0s"},`+allow)
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "work"})
		synctest.Wait()
		before := len(s.Received())
		resume := s.PauseReading()
		pass(time.Hour)
		if info := w.server("s"); info.State != event.ServerReady || w.starts("s") != 1 || w.state("r1") != "running" {
			t.Errorf("%+v, the call is %q", info, w.state("r1"))
		}
		resume()
		close(done)
		c.ok(t)
		resume = s.PauseReading() // and now with nothing to do
		pass(time.Hour)
		if info := w.server("s"); info.State != event.ServerReady {
			t.Errorf("%+v", info)
		}
		resume()
		synctest.Wait()
		if n := len(s.Received()); n != before {
			t.Errorf("it was asked something: %v", s.Received()[before:])
		}
		w.echo().ok(t)
		if w.starts("s") != 1 {
			t.Errorf("%d starts", w.starts("s"))
		}
	})
}
