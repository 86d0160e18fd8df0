package hub_test

import (
	"bytes"
	"encoding/json"
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

// The prompt shows the arguments that would be sent, whole and as they are spelled.
func TestArgumentsAreShownWhole(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"1 MiB":     `{"text":"` + strings.Repeat("abcdefgh", 1<<17) + `","rm":"at the end"}`,
		"spellings": " {\t\"a\" : 1.0,\n \"a\":2e+00, \"\\u0061\":\"\\/\u202e\\ud800\", \"big\":123456789012345678901234567890 } ",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
