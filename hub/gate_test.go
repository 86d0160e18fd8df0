package hub_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A warm call that needs nobody takes the hub's lock four times: begin, may it go and on what session, sent, end. So do
// the other requests.
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
			if got := w.hub.LockCount() - before - 1; got != 4 { // without the first LockCount
				t.Errorf("%s: the lock was taken %d times, want 4", name, got)
			}
		}
	})
}

// A call without the name of a tool is a tool call like any other: it passes no gate that one with a name would not.
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
