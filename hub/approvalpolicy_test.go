package hub_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A deny in the config wins over everything that allows: an exact name in the same config, a remembered approval of any
// scope, and a host that marks the call as preapproved.
func TestDenyWins(t *testing.T) {
	for _, scope := range []event.ApprovalScope{event.ScopeWindow, event.ScopeWorkspace, event.ScopeAlways} {
		bubble(t, func(t *testing.T) {
			s := answers("read_a")
			w := newWorld(t, serversOf("s", s))
			v := w.attach(hub.Hello{Kinds: allKinds, Roots: roots("file:///p")})
			w.approves(v, "read_a", scope)
			for _, deny := range []string{
				`"approvals":{"read_a":"deny"}`, `"approvals":{"read_*":"deny","read_a":"allow"}`,
				`"alwaysAllow":["read_a"],"approvals":{"*":"deny"}`,
			} {
				w.load("s:" + deny)
				for _, preapproved := range []bool{false, true} {
					w.call(hub.CallRequest{Server: "s", Tool: "read_a", Preapproved: preapproved}).want(t, event.CodePermissionDenied,
						event.ReasonDeniedByPolicy)
				}
			}
			w.load(`s:"approvals":{"read_*":"ask"}`) // a remembered approval makes the question unnecessary
			if w.asks(v, "read_a") || toolCalls(s) != 2 || len(eventsOf[*event.PromptOpened](v)) != 1 {
				t.Errorf("scope %d: %d calls, %d prompts", scope, toolCalls(s), len(eventsOf[*event.PromptOpened](v)))
			}
		})
	}
}

// A new config that decides an open question closes it in every window, and the call goes on or is refused.
func TestPolicyChangeWhileAsking(t *testing.T) {
	for _, tc := range []struct {
		name, entry string
		check       func(t *testing.T, w *world, c *pendingCall)
		calls       int
	}{
		{"deny", `"approvals":{"a":"deny"}`, func(t *testing.T, _ *world, c *pendingCall) {
			c.want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
		}, 0},
		{"allow", `"alwaysAllow":["a"]`, func(t *testing.T, _ *world, c *pendingCall) { c.ok(t) }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := answers("a", "b")
				w := newWorld(t, serversOf("s", s))
				v, other := w.everything(), w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "a"})
				p := v.prompt()
				unconcerned := w.call(hub.CallRequest{Server: "s", Tool: "b"})
				w.load("s:" + tc.entry)
				tc.check(t, w, c)
				for _, v := range []*view{v, other} {
					if e := last[*event.PromptClosed](v); e.PromptID != p.ID || e.Cause != event.CauseSuperseded ||
						e.Origin != event.OriginPolicy || e.Reason == "" {
						t.Errorf("the prompt closed with %+v", e)
					}
				}
				if err := event.AsError(v.win.Answer(yes(p, event.ScopeAlways))); err == nil ||
					err.Reason != event.ReasonPromptClosed ||
					len(w.hub.Remembered("")) != 0 {
					t.Errorf("a late yes: %v; remembered %+v", err, w.hub.Remembered(""))
				}
				if toolCalls(s) != tc.calls || w.starts("s") != 1 {
					t.Errorf("%d calls of the tool, %d starts", toolCalls(s), w.starts("s"))
				}
				if f := last[*event.RequestFinished](v); f.RequestID != "r1" {
					t.Errorf("the end of the request is %+v", f)
				}
				v.answer(yes(v.prompt(), event.ScopeOnce)) // the other call still asks
				unconcerned.ok(t)
			})
		})
	}
	t.Run("switched off", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := answers("a")
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			v.prompt()
			if _, err := w.hub.SetServerEnabled(context.Background(), "s", false); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			if len(v.prompts()) != 0 || toolCalls(s) != 0 {
				t.Errorf("%d prompts, %d calls", len(v.prompts()), toolCalls(s))
			}
		})
	})
	t.Run("the answer in the same instant", func(t *testing.T) {
		for range 50 {
			bubble(t, func(t *testing.T) {
				s := answers("a")
				w := newWorld(t, serversOf("s", s))
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
				p := v.prompt()
				go func() { _ = v.win.Answer(yes(p, event.ScopeAlways)) }()
				w.load(`s:"approvals":{"a":"deny"}`)
				<-c.done
				synctest.Wait()
				if e := event.AsError(c.err); e != nil && e.Reason != event.ReasonDeniedByPolicy ||
					(e == nil) != (toolCalls(s) == 1) {
					t.Errorf("the call ended with %v, %d calls of the tool", c.err, toolCalls(s))
				}
				w.call(hub.CallRequest{Server: "s", Tool: "a"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
			})
		}
	})
}

// A change of approvals, in the config or by the user, starts and stops no process, and a running call goes on.
func TestChangingApprovalsRestartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		release := make(chan struct{})
		s.Tool("slow", func(c *fakeserver.CallContext) {
			<-release
			c.Text("done")
		})
		w := newWorld(t, serversOf("s", s))
		v := w.attach(hub.Hello{Kinds: allKinds, Roots: roots("file:///p")})
		slow := w.call(hub.CallRequest{ID: "slow", Server: "s", Tool: "slow"})
		v.answer(yes(v.prompt(), event.ScopeWindow))
		synctest.Wait()
		for _, entry := range []string{`"alwaysAllow":["slow"]`, `"approvals":{"slow":"deny"}`, `"approvals":{"*":"ask"}`,
			`"args":[]`} {
			if stopped := w.load("s:" + entry); len(stopped) != 0 {
				t.Errorf("%s stopped %v", entry, stopped)
			}
			synctest.Wait()
			if slow.over() {
				t.Fatalf("%s ended the call: %v", entry, slow.err)
			}
		}
		w.approves(v, "a", event.ScopeWorkspace)
		for _, r := range w.hub.Remembered("") {
			if w.hub.Forget([]string{r.ID}) != 1 {
				t.Errorf("%+v was not forgotten", r)
			}
		}
		synctest.Wait()
		if slow.over() || w.starts("s") != 1 {
			t.Errorf("over %v, %d starts", slow.over(), w.starts("s"))
		}
		close(release)
		slow.ok(t)
		if sessions := s.Count(fakeserver.Method("initialize")) +
			s.Count(fakeserver.Method("server/discover")); sessions > 2 || len(cancels(s)) != 0 {
			t.Errorf("%d handshakes, cancels %v", sessions, cancels(s))
		}
	})
}
