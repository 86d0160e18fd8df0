package hub_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
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
