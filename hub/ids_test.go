package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// ownID returns the nth id that a hub mints itself.
func ownID(h *hub.Hub, prefix string, n int) string {
	return fmt.Sprintf("%s-%s-%d", prefix, strings.ToLower(h.ID()[:6]), n)
}

// An answer or a cancel for a hub that was killed may reach the next hub, whose ids count from 1 again. It must not
// find anything there.
func TestClicksOfAnotherHubFindNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		open := func() (*world, *view, event.PromptInfo, *pendingCall) {
			w := newWorld(t, map[string]*fakeserver.Server{"s": answers("t")}, "s")
			v := w.attach(hub.Hello{Kinds: allKinds})
			c := w.call(hub.CallRequest{Server: "s", Tool: "t"})
			return w, v, v.prompt(), c
		}
		_, _, before, _ := open()
		w, v, now, _ := open()
		if before.ID == now.ID || before.RequestID == now.RequestID {
			t.Fatalf("two hubs gave out one id: %s, %s", before.ID, before.RequestID)
		}
		wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: before.ID, Action: event.ActionAccept}),
			event.ReasonPromptNotFound)
		if out, err := v.win.Cancel(before.RequestID, ""); out != event.OutcomeUnknown || err != nil {
			t.Errorf("the cancel gave %v, error %v", out, err)
		}
		if got := w.hub.Requests(""); len(got) != 1 || got[0].State != event.StateAwaitingApproval {
			t.Errorf("the open requests are %+v", got)
		}
	})
}

// A window keeps its id when it attaches to the hub that has replaced its own. The new hub must not have given this id
// to another window before.
func TestWindowIDsOfAnotherHubAreFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		before, after := newWorld(t, nil), newWorld(t, nil)
		next := ownID(before.hub, "window", 2) // which a host has chosen
		before.attach(hub.Hello{WindowID: next})
		if id := before.attach(hub.Hello{}).win.ID(); id != next+"'" {
			t.Errorf("minted %q", id)
		}
		v := before.attach(hub.Hello{})
		other := after.attach(hub.Hello{})
		hello := hub.Hello{WindowID: v.win.ID(), ComesBackTo: before.hub.ID()}
		back, err := after.tryAttach(hello)
		if err != nil {
			t.Fatalf("the window that has come back was refused: %v", err)
		}
		if back.win.ID() == other.win.ID() {
			t.Errorf("two windows are %q", other.win.ID())
		}
	})
}
