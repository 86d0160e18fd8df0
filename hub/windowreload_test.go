package hub_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// An approval holds while its window reloads, whatever its scope. Finding B14.
func TestApprovalsHoldWhileTheWindowReloads(t *testing.T) {
	for name, scope := range map[string]event.ApprovalScope{"window": event.ScopeWindow, "workspace": event.ScopeWorkspace,
		"always": event.ScopeAlways} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()))
				v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds, Roots: []hub.Root{{URI: "file:///a"}}})
				c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
				v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: scope})
				c.ok(t)
				v.win.Detach(false) // the page is reloaded
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				pass(time.Minute) // it does not come back
				c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
				if scope == event.ScopeAlways {
					c.ok(t)
					return
				}
				c.want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
			})
		})
	}
}

// A question that comes while the only window reloads waits for it: the window finds it in its snapshot. When it does
// not come back, the question is closed. Finding B14.
func TestQuestionsWaitForAWindowThatReloads(t *testing.T) {
	for _, back := range []bool{true, false} {
		t.Run(map[bool]string{true: "it comes back", false: "it does not"}[back], func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := asking(elicitation, formParams)
				w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
				v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds})
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t) // connected, capabilities declared
				v.win.Detach(false)
				c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
				pass(200 * time.Millisecond)
				if c.over() {
					t.Fatal("the question was answered while nobody could see it")
				}
				if back {
					v2 := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds})
					synctest.Wait()
					if n := len(v2.start.Snapshot.Prompts); n != 1 || c.over() {
						t.Fatalf("the window finds %d questions; the call is over: %v", n, c.over())
					}
					v2.answer(event.PromptAnswer{PromptID: v2.start.Snapshot.Prompts[0].ID, Action: event.ActionDecline})
				} else {
					pass(time.Minute)
				}
				synctest.Wait()
				if n := len(responses(a.Server)); n == 0 {
					t.Error("the server was not answered")
				}
				close(a.finish)
				<-c.done
			})
		})
	}
}

// The same for an approval: the call waits.
func TestApprovalsAreAskedForWhileTheWindowReloads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()))
		v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds})
		v.win.Detach(false)
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		pass(time.Second)
		v = w.attach(hub.Hello{WindowID: "w", Kinds: allKinds})
		v.answer(event.PromptAnswer{PromptID: v.start.Snapshot.Prompts[0].ID, Action: event.ActionAccept})
		c.ok(t)
	})
}
