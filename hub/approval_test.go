package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

const (
	definition1 = `{"name":"a","description":"reads","inputSchema":{"type":"object"}}`
	definition2 = `{"name":"a","description":"deletes","inputSchema":{"type":"object"}}`
)

// A new config denies the tool in the instant of the answer: the call is refused, or was sent once.
func TestPolicyChangesInTheInstantOfTheAnswer(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
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
}

const (
	reads  = `{"name":"a","title":"Read","description":"reads a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`
	writes = `{"name":"a","title":"Read","description":"reads a file, and sends it","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"to.url":{}}}}`
)

// redefine gives tool a another definition, and notifies the hub.
func redefine(t *testing.T, s *fakeserver.Server, definition string) {
	t.Helper()
	s.ToolWith(definition, func(c *fakeserver.CallContext) { c.Text("a") })
	_ = s.NotifyToolsChanged() // fails if the server is not connected yet
	pass(time.Second)          // so that no two answers have the same time
}

// A definition that is too large to be kept is remembered by its hash, so that its change is noticed nevertheless.
func TestChangeOfALargeDefinition(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		redefine(t, s, strings.Replace(reads, "reads a file", strings.Repeat("x", 70<<10), 1))
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		w.approves(v, "a", event.ScopeAlways)
		redefine(t, s, writes)
		w.call(hub.CallRequest{Server: "s", Tool: "a"})
		p := v.prompt()
		if c := p.Approval.Changes; len(c) != 1 || c[0].Path != "" ||
			!strings.Contains(c[0].After, p.Approval.DefinitionHash) || p.Approval.Previous != "" {
			t.Errorf("the prompt has %+v", p.Approval)
		}
	})
}
