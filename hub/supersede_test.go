package hub_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A webview reload may attach before the hub has seen the old stream break: the window that comes back wins.
func TestReturnSupersedesTheOldStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		old := w.attach(hub.Hello{WindowID: "side", Kinds: allKinds})
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang", OwnerWindowID: "side"})
		synctest.Wait()
		_, err := w.tryAttach(hub.Hello{WindowID: "side", Kinds: allKinds})
		if event.AsError(err).Reason != event.ReasonWindowIDInUse {
			t.Fatalf("a second window of the same id: %v", err)
		}
		again := w.attach(hub.Hello{WindowID: "side", Kinds: allKinds, ComesBackTo: w.hub.ID()})
		if old.closed == nil || old.closed.Reason != event.ReasonWindowSuperseded {
			t.Errorf("the old stream was told %v", old.closed)
		}
		old.win.Detach(true) // the broken stream is noticed at last
		if r := again.start.Snapshot.Requests; len(r) != 1 || r[0].ID != "r1" || c.over() {
			t.Fatalf("the snapshot shows %+v; the call over: %v", r, c.over())
		}
		if _, err := again.win.Cancel("r1", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if n := len(eventsOf[*event.RequestCancelled](again)); n != 1 {
			t.Errorf("%d terminal events in the new stream", n)
		}
		if n := len(eventsOf[*event.RequestCancelled](old)); n != 0 {
			t.Errorf("%d events in the old one after its end", n)
		}
	})
}
