package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// ownID returns the nth id that a hub mints itself.
func ownID(h *hub.Hub, prefix string, n int) string {
	return fmt.Sprintf("%s-%s-%d", prefix, strings.ToLower(h.ID()[:6]), n)
}

// A host may choose ids that look like those that the hub mints: no id is used twice, and each request ends.
func TestMintedIDsAvoidChosenOnes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		var chosen []string
		for i, prefix := range []string{"start", "start", "start", "call", "ask", "ask", "ask", "ask"} {
			chosen = append(chosen, ownID(w.hub, prefix, i+2))
		}
		var calls []*pendingCall
		for _, id := range chosen {
			calls = append(calls, w.call(hub.CallRequest{ID: id, Server: "s", Tool: "hang"}))
			synctest.Wait()
		}
		minted := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		pass(10 * time.Second)
		if _, err := s.Request(elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		v.prompt()
		open := map[string]string{}
		for _, r := range w.hub.Requests("") {
			open[r.ID] = r.Method
		}
		if len(open) != len(chosen)+2 {
			t.Errorf("open are %v", open)
		}
		for _, id := range chosen {
			if open[id] != "tools/call" {
				t.Errorf("%s is %q", id, open[id])
			}
		}
		w.call(hub.CallRequest{ID: chosen[0], Server: "s", Tool: "hang"}).want(t, event.CodeAlreadyExists,
			event.ReasonRequestIDInUse)
		w.hub.CancelRequests(hub.CancelScope{All: true}, "", event.OriginHost)
		for _, c := range append(calls, minted) {
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
		}
		for id, end := range v.terminals() {
			if end != "cancelled " && end != "done " {
				t.Errorf("%s ended %q", id, end)
			}
		}
		pass(2 * time.Second) // the server is given a moment to withdraw its question
		if left := w.hub.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
}

// A cancel that came before its call counts for a call with that id on that server, and for no other.
func TestEarlyCancelOfAnotherCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]*fakeserver.Server{"a": answers("t"), "b": answers("t")}, "a:"+allow, "b:"+allow)
		early := func(id, server string) {
			t.Helper()
			if out, err := w.hub.CancelRequest(id, server, "", event.OriginHost); out != event.OutcomeUnknown || err != nil {
				t.Errorf("the cancel gave %v, error %v", out, err)
			}
		}
		early("x", "b")
		w.call(hub.CallRequest{ID: "x", Server: "a", Tool: "t"}).ok(t)
		early("y", "b")
		w.call(hub.CallRequest{ID: "y", Server: "b", Tool: "t"}).want(t, event.CodeCancelled, event.ReasonCancelled)
		// A cancel cannot mean an id that the hub has not minted yet: a host may remember the id from an earlier hub.
		for n := range 8 {
			early(ownID(w.hub, "call", n+1), "")
		}
		w.call(hub.CallRequest{Server: "a", Tool: "t"}).ok(t)
	})
}

// When a new window can show more, a legacy server is connected again, but not before the answer to its question was
// sent.
func TestAnswerComesBeforeConnectingAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for range 50 {
			s := hanging()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptElicitationForm}})
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			q, err := s.Request(elicitation, formParams)
			if err != nil {
				t.Fatal(err)
			}
			p := v.prompt()
			w.everything()
			v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			if m, ok := <-q.Response(); !ok || answerOf(m) != `{"action":"accept","content":{"name":"Ada"}}` {
				t.Fatalf("the server was answered %v %s", ok, answerOf(m))
			}
			pass(time.Minute)
			if n := w.starts("s"); n != 2 {
				t.Fatalf("%d starts", n)
			}
		}
	})
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
