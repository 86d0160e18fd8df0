package hub_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
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
			n := w.hub.CountSections()
			synctest.Wait()
			n.Store(0)
			one()
			synctest.Wait()
			if got := n.Load(); got != 4 {
				t.Errorf("%s: %d critical sections, want 4", name, got)
			}
		}
	})
}
