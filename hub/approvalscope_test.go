package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func roots(uris ...string) []hub.Root {
	var list []hub.Root
	for _, uri := range uris {
		list = append(list, hub.Root{URI: uri, Name: "x"})
	}
	return list
}

// prompts returns the open prompts, oldest first, once nothing moves.
func (v *view) prompts() []event.PromptInfo {
	opened := eventsOf[*event.PromptOpened](v)
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []event.PromptInfo
	for _, e := range opened {
		if v.open[e.Prompt.ID] {
			list = append(list, e.Prompt)
		}
	}
	return list
}

// asks calls a tool and reports whether the user was asked. It answers with a Yes for once.
func (w *world) asks(v *view, tool string) bool {
	w.t.Helper()
	c := w.call(hub.CallRequest{Server: "s", Tool: tool})
	synctest.Wait()
	open := v.prompts()
	for _, p := range open {
		v.answer(yes(p, event.ScopeOnce))
	}
	c.ok(w.t)
	return len(open) > 0
}

// approves calls a tool and answers the question about it with a Yes.
func (w *world) approves(v *view, tool string, scope event.ApprovalScope) {
	w.t.Helper()
	c := w.call(hub.CallRequest{Server: "s", Tool: tool})
	v.answer(yes(v.prompt(), scope))
	c.ok(w.t)
}

// How long an approval holds: once for one call, window until the window has gone, workspace while its folders are
// open, always after that, too.
func TestApprovalScopes(t *testing.T) {
	for _, tc := range []struct {
		name             string
		scope            event.ApprovalScope
		again, afterward bool // does the next call ask; does one after the window has gone
	}{
		{"once", event.ScopeOnce, true, true},
		{"window", event.ScopeWindow, false, true},
		{"workspace", event.ScopeWorkspace, false, true},
		{"always", event.ScopeAlways, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", answers("a", "b")))
				v := w.attach(hub.Hello{Kinds: allKinds, Roots: roots("file:///p")})
				other := w.everything()
				w.approves(v, "a", tc.scope)
				if asked := w.asks(other, "a"); asked != tc.again {
					t.Errorf("asked again: %v, want %v", asked, tc.again)
				}
				if !w.asks(other, "b") {
					t.Error("an approval of one tool let another one run")
				}
				v.win.Detach(true)
				if asked := w.asks(other, "a"); asked != tc.afterward {
					t.Errorf("asked once the window had gone: %v, want %v", asked, tc.afterward)
				}
			})
		})
	}
}

// An approval for a workspace holds for exactly the folders of the window that answered, in any order, also in a later
// hub and for another window.
func TestWorkspaceApprovalHoldsForItsFoldersOnly(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		w := newWorldIn(t, dir, serversOf("s", answers("a")))
		v := w.attach(hub.Hello{Kinds: allKinds})
		c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		p := v.prompt()
		err := event.AsError(v.win.Answer(yes(p, event.ScopeWorkspace)))
		if err == nil || err.Code != event.CodeInvalidArgument || err.Reason != event.ReasonInvalidContent ||
			!strings.Contains(err.Message, "set its roots") {
			t.Errorf("a window without folders approves for its workspace: %v", err)
		}
		if now := v.prompt(); now.ID != p.ID {
			t.Errorf("the prompt is %s now", now.ID)
		}
		v.win.SetRoots(roots("file:///b", "file:///a", "file:///a"))
		v.answer(yes(p, event.ScopeWorkspace))
		c.ok(t)
		v.win.SetRoots(nil) // after the answer
		if !w.asks(v, "a") {
			t.Error("it held without folders")
		}
	})
	for _, tc := range []struct {
		roots []hub.Root
		asked bool
	}{
		{roots("file:///a", "file:///b"), false},
		{roots("file:///b", "file:///a"), false},
		{roots("file:///a"), true},
		{roots("file:///a", "file:///b", "file:///c"), true},
		{roots("file:///a/b"), true},
		{nil, true},
	} {
		t.Run(fmt.Sprint(tc.roots), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorldIn(t, dir, serversOf("s", answers("a")))
				plain := w.everything()
				v := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}, Roots: tc.roots})
				if asked := w.asks(plain, "a"); asked != tc.asked {
					t.Errorf("asked: %v, want %v", asked, tc.asked)
				}
				v.win.Detach(true)
				if !w.asks(plain, "a") {
					t.Error("it held while no window had its folders open")
				}
			})
		})
	}
}

// Two hubs share the approvals for always, in both directions and without a restart. What one hub forgets, the other
// asks about again.
func TestApprovalOfAnotherHubIsSeen(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		w1 := newWorldIn(t, dir, serversOf("s", answers("a", "b", "c", "d")))
		w2 := newWorldIn(t, dir, serversOf("s", answers("a", "b", "c", "d")))
		v1, v2 := w1.everything(), w2.attach(hub.Hello{Kinds: allKinds, Roots: roots("file:///p")})
		w1.approves(v1, "a", event.ScopeAlways)
		if w2.asks(v2, "a") {
			t.Error("the second hub does not see the first one's approval")
		}
		w2.approves(v2, "b", event.ScopeAlways)
		w2.approves(v2, "c", event.ScopeWorkspace)
		if w1.asks(v1, "b") || w1.asks(v1, "a") {
			t.Error("one hub's approval took away another's")
		}
		if !w1.asks(v1, "c") {
			t.Error("an approval for folders that this hub's windows do not have")
		}
		v1.win.Detach(true)
		w1.call(hub.CallRequest{Server: "s", Tool: "b"}).ok(t) // without a window that could ask
		w1.call(hub.CallRequest{Server: "s", Tool: "d"}).want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		w2.approves(v2, "d", event.ScopeAlways)
		w1.call(hub.CallRequest{Server: "s", Tool: "d"}).ok(t)
		remembered := w1.hub.Remembered("s")
		if len(remembered) != 4 || !slices.EqualFunc(remembered, w2.hub.Remembered("s"), func(a, b event.Remembered) bool {
			return a.ID == b.ID
		}) {
			t.Errorf("the hubs remember %+v and %+v", remembered, w2.hub.Remembered("s"))
		}
		ids := map[string]string{}
		for _, r := range remembered {
			ids[r.Tool] = r.ID
		}
		if n := w1.hub.Forget([]string{ids["a"], ids["b"]}); n != 2 { // each was given in another hub
			t.Errorf("%d forgotten", n)
		}
		for _, tool := range []string{"a", "b"} {
			w2.approves(v2, tool, event.ScopeOnce) // asks again
		}
		w2.approves(v2, "a", event.ScopeAlways)
		if list := w1.hub.Remembered(""); len(list) != 3 || slices.ContainsFunc(list, func(r event.Remembered) bool {
			return r.Tool == "b"
		}) {
			t.Errorf("what was forgotten is back: %+v", list)
		}
	})
}

// What another hub forgets while a call waits for its server is asked about by this call.
func TestApprovalForgottenDuringAWaitIsSeen(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		s, listed := fakeserver.New(), make(chan struct{})
		s.ToolWith(definition1, func(c *fakeserver.CallContext) { c.Text("a") })
		s.Handle("tools/list", func(c *fakeserver.CallContext) {
			<-listed
			c.Result(`{"tools":[` + definition1 + `]}`)
		})
		other := fakeserver.New()
		other.ToolWith(definition1, func(c *fakeserver.CallContext) { c.Text("a") })
		w1, w2 := newWorldIn(t, dir, serversOf("s", other)), newWorldIn(t, dir, serversOf("s", s))
		v1, v2 := w1.everything(), w2.everything()
		w1.approves(v1, "a", event.ScopeAlways)
		c := w2.call(hub.CallRequest{Server: "s", Tool: "a"})
		synctest.Wait()
		forgotten, lists := w1.hub.Forget([]string{w1.hub.Remembered("s")[0].ID}), s.Count(fakeserver.Method("tools/list"))
		if forgotten != 1 || lists != 1 {
			t.Fatalf("%d forgotten, the call waits for %d lists", forgotten, lists)
		}
		close(listed)
		v2.answer(yes(v2.prompt(), event.ScopeOnce))
		c.ok(t)
	})
}

// A Yes for longer than once answers all calls that wait for approval of the same tool. A Yes for once answers one
// call, and so does every No.
func TestAnswerCoversOtherOpenPrompts(t *testing.T) {
	for _, scope := range []event.ApprovalScope{event.ScopeWindow, event.ScopeWorkspace, event.ScopeAlways,
		event.ScopeOnce} {
		t.Run(fmt.Sprint(scope), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := answers("a", "b")
				w := newWorld(t, serversOf("s", s))
				v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds, Roots: roots("file:///p")})
				c := []*pendingCall{
					w.call(hub.CallRequest{ID: "r0", Server: "s", Tool: "a", Arguments: `{"n":0}`}),
					w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "a", Arguments: `{"n":1}`}),
					w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "b"}),
				}
				open := v.prompts()
				if len(open) != 3 {
					t.Fatalf("%d prompts", len(open))
				}
				of := func(id string) event.PromptInfo {
					return open[slices.IndexFunc(open, func(p event.PromptInfo) bool { return p.RequestID == id })]
				}
				v.answer(yes(of("r1"), scope))
				c[1].ok(t)
				synctest.Wait()
				if c[0].over() != (scope != event.ScopeOnce) || c[2].over() {
					t.Fatalf("over: %v %v", c[0].over(), c[2].over())
				}
				if scope != event.ScopeOnce {
					c[0].ok(t)
					closed := eventsOf[*event.PromptClosed](v)
					if e := closed[len(closed)-1]; e.PromptID != of("r0").ID || e.Cause != event.CauseAnswered || e.WindowID != "w" ||
						e.Reason == "" || len(closed) != 2 {
						t.Errorf("closed %+v of %d", e, len(closed))
					}
					if err := event.AsError(v.win.Answer(yes(of("r0"), event.ScopeOnce))); err == nil ||
						err.Reason != event.ReasonPromptClosed {
						t.Errorf("a click on it: %v", err)
					}
				} else {
					v.answer(yes(of("r0"), event.ScopeOnce))
					c[0].ok(t)
				}
				v.answer(yes(of("r2"), event.ScopeOnce))
				c[2].ok(t)
				if toolCalls(s) != 3 || w.hub.Leftovers() != "" {
					t.Errorf("%d calls, left %s", toolCalls(s), w.hub.Leftovers())
				}
			})
		})
	}
	t.Run("no", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := answers("a")
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			c := []*pendingCall{w.call(hub.CallRequest{ID: "r0", Server: "s", Tool: "a"}),
				w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "a"})}
			for i, p := range v.prompts() {
				if open := len(v.prompts()); open != 2-i {
					t.Fatalf("%d prompts are open after %d answers", open, i)
				}
				v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline, Scope: event.ScopeAlways})
			}
			for _, c := range c {
				c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
			}
			if toolCalls(s) != 0 || len(w.hub.Remembered("")) != 0 {
				t.Errorf("%d calls, remembered %+v", toolCalls(s), w.hub.Remembered(""))
			}
		})
	})
}

// The prompt shows the arguments that would be sent, whole and as they are spelled.
func TestArgumentsAreShownWhole(t *testing.T) {
	for name, arguments := range map[string]string{
		"1 MiB":     `{"text":"` + strings.Repeat("abcdefgh", 1<<17) + `","rm":"at the end"}`,
		"spellings": " {\t\"a\" : 1.0,\n \"a\":2e+00, \"\\u0061\":\"\\/\u202e\\ud800\", \"big\":123456789012345678901234567890 } ",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := answers("a")
				w := newWorld(t, serversOf("s", s))
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: "a", Arguments: arguments})
				p := v.prompt()
				if p.Approval.Arguments != arguments {
					t.Errorf("%d bytes are shown of %d", len(p.Approval.Arguments), len(arguments))
				}
				v.answer(yes(p, event.ScopeOnce))
				c.ok(t)
				var sent string
				for _, m := range s.Received() {
					if fakeserver.Method("tools/call")(m) {
						sent = string(m.Param("arguments"))
					}
				}
				var compact bytes.Buffer // on the wire a message is one line, otherwise unchanged
				if err := json.Compact(&compact, []byte(arguments)); err != nil || compact.String() != sent {
					t.Errorf("%d bytes were sent, and %d shown: %.200q", len(sent), len(arguments), sent)
				}
				w.call(hub.CallRequest{Server: "s", Tool: "a", Arguments: `{"rm":"all"}`}) // asks again
				if now := v.prompt(); now.Approval.Arguments != `{"rm":"all"}` {
					t.Errorf("the prompt has %+v", now.Approval)
				}
			})
		})
	}
}
