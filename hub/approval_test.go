package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// answers returns a server with tools that answer at once.
func answers(tools ...string) *fakeserver.Server {
	s := fakeserver.New()
	for _, name := range tools {
		s.Tool(name, func(c *fakeserver.CallContext) { c.Text(name) })
	}
	return s
}

func yes(p event.PromptInfo, scope event.ApprovalScope) event.PromptAnswer {
	return event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: scope}
}

// The config decides whether a tool runs, asks or is refused: a deny wins, then the exact name, then the longest
// pattern.
func TestPolicy(t *testing.T) {
	for _, tc := range []struct{ name, entry, tool, want string }{
		{"default", `"args":[]`, "read_a", "ask"},
		{"exact allow", `"alwaysAllow":["read_a"]`, "read_a", "allow"},
		{"exact allow of another", `"alwaysAllow":["read_b"]`, "read_a", "ask"},
		{"glob allow", `"approvals":{"read_*":"allow"}`, "read_a", "allow"},
		{"glob ask over allow all", `"approvals":{"*":"allow","read_*":"ask"}`, "read_a", "ask"},
		{"exact allow over glob ask", `"approvals":{"read_*":"ask","read_a":"allow"}`, "read_a", "allow"},
		{"deny", `"approvals":{"read_a":"deny"}`, "read_a", "deny"},
		{"glob deny over exact allow", `"approvals":{"read_*":"deny","read_a":"allow"}`, "read_a", "deny"},
		{"deny over alwaysAllow", `"alwaysAllow":["*"],"approvals":{"read_a":"deny"}`, "read_a", "deny"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := answers("read_a", "read_b")
				w := newWorld(t, serversOf("s", s), "s:"+tc.entry)
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: tc.tool})
				synctest.Wait()
				switch tc.want {
				case "allow":
					c.ok(t)
					if n := len(eventsOf[*event.PromptOpened](v)); n != 0 {
						t.Errorf("%d prompts", n)
					}
				case "deny":
					e := c.want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
					if e.Meta["setting"] != "approvals" || !strings.Contains(e.Message, "test.json:1") {
						t.Errorf("the error says %s, with %v", e.Message, e.Meta)
					}
					if w.starts("s") != 0 {
						t.Error("the server was started for a call that is denied")
					}
				case "ask":
					p := v.prompt()
					if p.Approval.Tool.Name != tc.tool || p.Approval.Arguments != "{}" || toolCalls(s) != 0 {
						t.Errorf("the prompt has %+v", p.Approval)
					}
					v.answer(yes(p, event.ScopeOnce))
					c.ok(t)
				}
			})
		})
	}
}

// With policy ask and no window that shows approvals, the call fails at once, and the error says why.
func TestNoApprover(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
		e := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "a"}).want(t, event.CodeFailedPrecondition,
			event.ReasonNoApprover)
		if e.Meta["request_id"] != "r1" || e.Meta["setting"] != "approvals" || e.Meta["prompt_kind"] != "tool_approval" ||
			!strings.Contains(e.Message, "nobody could be asked") {
			t.Errorf("the error has %+v", e.Meta)
		}
		if w.starts("s") != 0 {
			t.Error("the server was started")
		}
	})
}

// A host that has asked the user itself marks the call as preapproved. A deny in the config is stronger.
func TestPreapproved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a", "b")
		w := newWorld(t, serversOf("s", s), `s:"approvals":{"b":"deny"}`)
		w.call(hub.CallRequest{Server: "s", Tool: "a", Preapproved: true}).ok(t)
		w.call(hub.CallRequest{Server: "s", Tool: "b", Preapproved: true}).want(t, event.CodePermissionDenied,
			event.ReasonDeniedByPolicy)
		if n := toolCalls(s); n != 1 {
			t.Errorf("%d calls reached the server", n)
		}
	})
}

// An approval for a window is not kept if the window goes before the call has received the approval.
func TestWindowApprovalEndsWithItsWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		for range 50 {
			v, other := w.everything(), w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			p := v.prompt()
			v.answer(yes(p, event.ScopeWindow))
			v.win.Detach(true) // while the call receives its approval
			c.ok(t)
			c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
			synctest.Wait()
			if c.over() {
				t.Fatal("an approval outlived its window")
			}
			other.answer(event.PromptAnswer{PromptID: other.prompt().ID, Action: event.ActionDecline})
			c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
			other.win.Detach(true)
		}
	})
}

func TestAlwaysSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		bubble(t, func(t *testing.T) {
			w := newWorldIn(t, dir, serversOf("s", answers("a")))
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			if round == 0 {
				v.answer(yes(v.prompt(), event.ScopeAlways))
			}
			c.ok(t)
			if n := len(eventsOf[*event.PromptOpened](v)); n != 1-round {
				t.Errorf("hub %d: %d prompts", round, n)
			}
		})
	}
	if info, err := os.Stat(filepath.Join(dir, "approvals.json")); err != nil || !ofUserAlone(info) {
		t.Errorf("the file of approvals: %v, %v", info, err)
	}
}

const (
	definition1 = `{"name":"a","description":"reads","inputSchema":{"type":"object"}}`
	definition2 = `{"name":"a","description":"deletes","inputSchema":{"type":"object"}}`
)

// An approval holds for the definition that was shown. A changed definition asks again, even if it changes while the
// question is open.
func TestChangedDefinitionAsksAgain(t *testing.T) {
	answer := func(c *fakeserver.CallContext) { c.Text("a") }
	t.Run("after the approval", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			s.ToolWith(definition1, answer)
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			p := v.prompt()
			v.answer(yes(p, event.ScopeAlways))
			c.ok(t)
			s.ToolWith(definition2, answer)
			if err := s.NotifyToolsChanged(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
			p2 := v.prompt()
			if p2.Approval.DefinitionHash == p.Approval.DefinitionHash ||
				!strings.Contains(p2.Approval.Tool.Definition, "deletes") {
				t.Errorf("the second prompt has %+v", p2.Approval)
			}
			v.answer(yes(p2, event.ScopeOnce))
			c.ok(t)
		})
	})
	t.Run("while the question is open", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			s.ToolWith(definition1, answer)
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			p := v.prompt()
			s.ToolWith(definition2, answer)
			if err := s.NotifyToolsChanged(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			v.answer(yes(p, event.ScopeAlways))
			if p := v.prompt(); !strings.Contains(p.Approval.Tool.Definition, "deletes") || toolCalls(s) != 0 {
				t.Errorf("the prompt has %+v", p.Approval)
			}
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		})
	})
	t.Run("while the question is open, and listed", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			s.ToolWith(definition1, answer)
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
			p := v.prompt()
			s.ToolWith(definition2, answer)
			if err := s.NotifyToolsChanged(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
				t.Fatal(err)
			}
			v.answer(yes(p, event.ScopeAlways))
			if p := v.prompt(); len(p.Approval.Changes) != 1 || p.Approval.Changes[0].Path != "description" ||
				toolCalls(s) != 0 {
				t.Errorf("the prompt has %+v", p.Approval)
			}
			v.answer(yes(v.prompt(), event.ScopeOnce))
			c.ok(t)
		})
	})
	t.Run("across a restart of the server", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			s.ToolWith(definition1, answer)
			w := newWorld(t, serversOf("s", s))
			v := w.everything()
			if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
				t.Fatal(err)
			}
			s.Disconnect()
			synctest.Wait()
			c := w.call(hub.CallRequest{Server: "s", Tool: "a"}) // the prompt shows the list of the earlier connection
			p := v.prompt()
			s.ToolWith(definition2, answer)
			if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
				t.Fatal(err)
			}
			v.answer(yes(p, event.ScopeOnce))
			if p := v.prompt(); !strings.Contains(p.Approval.Tool.Definition, "deletes") || toolCalls(s) != 0 {
				t.Errorf("the prompt has %+v", p.Approval)
			}
			v.answer(yes(v.prompt(), event.ScopeOnce))
			c.ok(t)
		})
	})
}

// A server with another launch under the same name is another server: an approval for the first does not hold for the
// second.
func TestChangedLaunchAsksAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		v.answer(yes(v.prompt(), event.ScopeAlways))
		c.ok(t)
		w.load(`s:"args":["--all"]`)
		c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
		v.answer(yes(v.prompt(), event.ScopeOnce))
		c.ok(t)
		w.load(`s:"args":[]`)
		w.call(hub.CallRequest{Server: "s", Tool: "a"}).ok(t) // the first launch again, whose approval holds
	})
}

// A No ends only its own call, whatever its scope: the next call asks again.
func TestOneDenialDeniesOneCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := answers("a")
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "a"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline, Scope: event.ScopeAlways,
			Reason: "not\nnow"})
		e := c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		if e.Meta["reason"] != "not\nnow" || !strings.Contains(e.Message, `not\nnow`) {
			// raw for programs, escaped for people
			t.Errorf("%q: %s", e.Meta["reason"], e.Message)
		}
		if f := last[*event.RequestFinished](v); f.RequestID != "r1" || f.State != event.StateFailed || f.Err != e {
			t.Errorf("the end of the request is %+v", f)
		}
		c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDismiss, Scope: event.ScopeAlways})
		c.want(t, event.CodePermissionDenied, event.ReasonDismissedByUser)
		c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
		v.answer(yes(v.prompt(), event.ScopeOnce))
		c.ok(t)
		if n := toolCalls(s); n != 1 {
			t.Errorf("%d calls reached the server", n)
		}
	})
}
