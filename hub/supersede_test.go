package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// A webview reload may attach before the hub has seen the old stream break: the resume wins, and nothing is lost or
// told twice.
func TestResumeSupersedesTheOldStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		old := w.attach(windows.Hello{WindowID: "side", Kinds: allKinds})
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang", OwnerWindowID: "side"})
		started := last[*event.RequestStarted](old)
		seen := old.seq
		if _,
			err := w.tryAttach(windows.Hello{WindowID: "side", Kinds: allKinds}); event.AsError(
			err).Reason != event.ReasonWindowIDInUse {
			t.Fatalf("a second window of the same id: %v", err)
		}
		again := w.attach(windows.Hello{WindowID: "side", Kinds: allKinds,
			Resume: &windows.Resume{HubID: w.hub.ID(), After: seen}})
		if old.closed == nil || old.closed.Reason != event.ReasonWindowSuperseded {
			t.Errorf("the old stream was told %v", old.closed)
		}
		old.win.Detach(true) // the broken stream is noticed at last
		if !again.start.Resumed || c.over() {
			t.Fatalf("resumed %v, the call of %s over %v", again.start.Resumed, started.Request.ID, c.over())
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
