package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

// What a call needs, or why it is not sent: the first that applies. Each row changes what the row before it sees.
func TestWhatACallNeeds(t *testing.T) {
	s := New("hub")
	e := Looked{Tool: ToolSeen{Called: true, NoneKnown: true, NotForApps: true, LaunchAllows: true,
		Terms: Terms{Policy: event.PolicyDeny, Hidden: true}}}
	tool := &e.Tool
	step := func(change func(), want ...Effect) {
		t.Helper()
		change()
		if diff := cmp.Diff(want, s.Apply(start, e)); diff != "" {
			t.Errorf("sees %+v (-want +got):\n%s", e, diff)
		}
	}
	needs := func(need Need, change func()) {
		t.Helper()
		step(change, Needed{need, e.Step + 1})
		e.Step++
	}
	s.Apply(start, RequestMade{Prefix: "call", Server: 1, Call: true})
	e.Request = 1
	step(func() {}, Refused{ToolHidden})
	needs(NeedSession, func() { tool.Terms.Hidden = false })
	step(func() { e.Up, tool.Outdated = true, true }, Refused{ToolDenied})
	needs(NeedApprovals, func() { tool.Terms.Policy, e.Up, tool.LaunchAllows = event.PolicyAsk, false, false })
	step(func() {}, Refused{NoApprover})
	needs(NeedApprovals, func() {}) // each look of a refused call begins anew
	needs(NeedKeptTools, func() { tool.HeldForAny = true })
	needs(NeedSession, func() {})
	needs(NeedApprovals, func() { e.Up = true })
	needs(NeedTools, func() {})
	needs(NeedApprovals, func() { tool.Terms.Definition = "d" })
	needs(NeedTools, func() {})
	needs(NeedApprovals, func() {})
	step(func() {}, Refused{NotForApps})
	needs(NeedApprovals, func() { tool.NotForApps = false })
	needs(NeedYes, func() { tool.Terms.Anew, tool.Held = true, true })
	needs(NeedPin, func() { tool.Terms, tool.Held = Terms{Definition: "d", Policy: event.PolicyAllow}, false })
	needs(NeedYes, func() {})
	if n := s.Lists(1); n != 2 {
		t.Errorf("the tools were listed %d times, want 2", n)
	}
	step(func() { tool.Preapproved, e.Step = true, e.Step-1 }, Refused{OutOfStep})
	step(func() { e.Step++ }, RequestShown{1, event.StateRunning, true}, Needed{})
	step(func() {}, Refused{OutOfStep})
	if s.Lists(9) != 0 {
		t.Error("the tools were listed for a call that never was")
	}
}

// Something else is missing each time. At some time the call is given up.
func TestCallThatNeverSettles(t *testing.T) {
	s := New("hub")
	s.Apply(start, RequestMade{Prefix: "call", Server: 1, Call: true})
	e := Looked{Request: 1, Up: true, Tool: ToolSeen{Called: true, Terms: Terms{Policy: event.PolicyAllow}}}
	for e.Step = range maxSteps {
		if got := s.Apply(start, e); len(got) != 1 || got[0] != (Needed{NeedTools, e.Step + 1}) {
			t.Fatalf("in step %d: %+v", e.Step, got)
		}
	}
	e.Step = maxSteps
	if got := s.Apply(start, e); len(got) != 1 || got[0] != (Refused{Unsettled}) || s.Lists(1) != maxSteps {
		t.Errorf("after all of its steps: %+v, with %d lists", got, s.Lists(1))
	}
}

// A yes holds for the terms to which it was given, as often as the call looks, also when others were agreed to since.
func TestAYesHoldsForItsTerms(t *testing.T) {
	s := New("hub")
	s.Apply(start, WindowShows{"w", allKinds()})
	s.Apply(start, RequestMade{Prefix: "call", Server: 1, Call: true})
	asks, allows := Terms{Definition: "d", Policy: event.PolicyAsk}, Terms{Definition: "d", Policy: event.PolicyAllow}
	look := func(step int, terms Terms, pinned bool) Effect {
		got := s.Apply(start, Looked{Request: 1, Step: step, Up: true,
			Tool: ToolSeen{Called: true, Terms: terms, Pinned: pinned, Outdated: step < 4}})
		return got[len(got)-1]
	}
	for step, need := range []Need{NeedApprovals, NeedTools, NeedApprovals, NeedTools, NeedApprovals, NeedYes} {
		if got := look(step, asks, false); got != (Needed{need, step + 1}) {
			t.Fatalf("in step %d: %+v", step, got)
		}
	}
	s.Apply(start, Asked{Kind: event.PromptToolApproval, Server: 1, Of: 1, Approval: true, Terms: asks})
	s.Apply(start, Answered{1, End{Cause: event.CauseAnswered}})
	if got := look(6, allows, false); got != (Needed{NeedPin, 7}) {
		t.Errorf("other terms: %+v", got)
	}
	if got := look(7, asks, true); got != (Needed{}) {
		t.Errorf("the terms of the yes again: %+v", got)
	}
}

// A call that finds its server connected uses the connection from then on: it is not taken away before the call is
// over.
func TestAWarmCallUsesTheConnection(t *testing.T) {
	s := New("hub")
	for _, e := range []Event{
		ServerAdded{Server: 1, Name: "s"}, ServerWanted{Server: 1, Waiter: 1},
		RequestMade{Prefix: "start", Server: 1, Start: true}, StartOver{Request: 1}, ServerReleased{1},
		RequestMade{Prefix: "call", Server: 1, Call: true}, Looked{Request: 2, Up: true}, ServerStale{1},
	} {
		s.Apply(start, e)
	}
	if state := s.Server(1, start).State; state != event.ServerReady {
		t.Errorf("the server is %s, and a call uses it", state)
	}
	s.Apply(start, CallOver{Request: 2})
	if state := s.Server(1, start).State; state != event.ServerStopping {
		t.Errorf("the server is %s after the call, and was to be connected anew", state)
	}
}

// A server that was ready and used is started again by itself. A call that finds it connected has used it.
func TestAWarmCallMakesItsServerComeBack(t *testing.T) {
	for _, used := range []bool{false, true} {
		s := New("hub")
		for _, e := range []Event{
			ServerAdded{Server: 1, Name: "s"}, ServerWanted{Server: 1, Waiter: 1},
			RequestMade{Prefix: "start", Server: 1, Start: true}, StartOver{Request: 1}, ServerReleased{1},
			ServerConfigured{Server: 1, Relaunch: true, Cause: because("config")}, ServerEnded{Server: 1, Connection: 1},
			RequestMade{Prefix: "start", Server: 1, Start: true}, StartOver{Request: 2},
			RequestMade{Prefix: "call", Server: 1, Call: true}, Looked{Request: 3, Up: used}, CallOver{Request: 3},
			ConnectionEnded{Connection: 2, Server: 1}, ServerEnded{Server: 1, Connection: 2, Fell: true},
		} {
			s.Apply(start, e)
		}
		if next := s.Server(1, start).NextStart; next.IsZero() == used {
			t.Errorf("used %v: the next start is planned for %v", used, next)
		}
	}
}
