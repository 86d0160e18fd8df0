package core

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Every outgoing request passes one gate before it is sent. Its goroutine looks at what only package hub can see, and
// says so with Looked. The core answers with what the request needs next, or why it is not sent. The goroutine obtains
// that and looks again, since everything may have changed meanwhile: the list of tools, the policy, the connection. A
// request that needs nothing is sent after the first look.

// A server may say at any moment that its tools have changed, even while it lists them. After enoughLists lists for one
// call the latest list counts, if it comes from the connection that the call is sent on. One call needs something at
// most maxSteps times.
const (
	enoughLists = 2
	maxSteps    = 32
)

// Need is what a request lacks before it may be sent.
type Need uint8

// Needs.
const (
	NeedNothing   Need = iota // it is sent now
	NeedKeptTools             // the tools that an earlier connection listed, from the disk
	NeedApprovals             // the approvals that are on the disk now
	NeedSession               // a session with the server
	NeedTools                 // the tools as the server lists them now
	NeedPin                   // the definition of an allowed tool is recorded, if it is the first one
	NeedYes                   // a person agrees to the call
	NeedTurn                  // the end of the calls of other clients: see turns
)

func (n Need) String() string {
	return [...]string{"nothing", "kept_tools", "approvals", "session", "tools", "pin", "yes", "turn"}[n]
}

// Terms are what the consent to a call holds for: this definition of the tool may be called under this policy. The zero
// value is that of no call.
type Terms struct {
	Launch, Definition string // hashes
	Policy             event.Policy
	Anew               bool // earlier approvals do not count
	Hidden             bool // by the config: there is no consent to that
}

// gate is how far a request has come on its way through the gate.
type gate struct {
	step     int     // how often it has needed something
	need     Need    // what it obtains now
	terms    Terms   // to which it obtains the consent
	agreed   []Terms // to which the call has a consent
	lists    int     // how often the tools were listed for it
	recalled bool    // the kept tools were read
	fresh    bool    // the approvals were read from the disk, and the request has not waited for anything since
}

// agrees reports whether a call may go on these terms. held says that a consent to them is recorded.
func (g *gate) agrees(t Terms, held bool) bool {
	return slices.Contains(g.agreed, t) ||
		held && (t.Policy == event.PolicyAllow || t.Policy == event.PolicyAsk && !t.Anew)
}

// passed returns how far r has come.
func (r *request) passed() gate {
	if r.gate == nil {
		return gate{}
	}
	return *r.gate
}

// looked decides whether a request is sent now, or what it needs first. A request that has never needed anything has no
// gate, so that a warm call allocates none.
func (s *State) looked(e *Looked) {
	r := s.requests[e.Request]
	if r == nil || r.cause != nil {
		s.do(Refused{CallIsOver})
		return
	}
	g := r.passed()
	if r.handed || e.Step != g.step {
		s.do(Refused{OutOfStep})
		return
	}
	var tried Terms // they could not be pinned just now
	switch g.need {
	case NeedKeptTools:
		g.recalled = true
	case NeedApprovals:
		g.fresh = true
	case NeedTools:
		g.lists++
	case NeedPin:
		if tried = g.terms; e.Tool.Pinned {
			g.agreed = append(g.agreed, g.terms)
		}
	}
	need, why := s.toolNeeds(&g, e, tried)
	if need == NeedNothing && why == 0 {
		need = s.sessionNeeds(r, e)
	}
	if need == NeedNothing && why == 0 {
		s.moveTo(r, event.StateRunning)
		s.do(Needed{})
		return
	}
	if why == 0 && g.step == maxSteps {
		why = Unsettled
	}
	if g.need = need; why == 0 {
		g.step++
	}
	if need == NeedPin || need == NeedYes {
		g.terms = e.Tool.Terms
	}
	g.fresh = g.fresh && need == NeedKeptTools
	if r.gate == nil {
		r.gate = &gate{}
	}
	if *r.gate = g; why != 0 {
		s.do(Refused{why})
		return
	}
	s.do(Needed{Need: need, Step: g.step})
}

// toolNeeds returns what the call of a tool lacks besides a session, or why it is not sent. It looks in this order at
// what the config hides or denies; what can be decided before the server is started; the definition of the tool; the
// consent to it.
func (s *State) toolNeeds(g *gate, e *Looked, tried Terms) (Need, Refusal) {
	t := &e.Tool
	if !t.Called {
		return NeedNothing, 0
	}
	asks := t.Terms.Policy == event.PolicyAsk && !t.Preapproved && !slices.Contains(g.agreed, t.Terms)
	switch {
	case t.Terms.Hidden:
		return 0, ToolHidden
	case t.LaunchAllows && !e.Up:
		// A yes to the launch allows the tool, too. It is asked for first, so that it is the only question.
		return NeedSession, 0
	case t.Terms.Policy == event.PolicyDeny:
		return 0, ToolDenied
	case asks && !g.fresh:
		return NeedApprovals, 0
	case asks && !t.HeldForAny && !s.shows.Has(event.PromptToolApproval, false):
		return 0, NoApprover
	case t.Terms.Definition == "" && !e.Up && t.NoneKnown && !g.recalled:
		return NeedKeptTools, 0
	case t.Terms.Definition == "" && !e.Up:
		return NeedSession, 0
	case t.Terms.Definition == "", t.Outdated && g.lists < enoughLists:
		return NeedTools, 0
	case t.NotForApps:
		return 0, NotForApps
	case t.Preapproved || g.agrees(t.Terms, t.Held):
		return NeedNothing, 0
	case t.Terms.Policy == event.PolicyAllow && t.Terms != tried:
		return NeedPin, 0
	}
	return NeedYes, 0
}

// sessionNeeds returns what a request lacks that is otherwise ready. One that waits for its turn uses the connection
// already.
func (s *State) sessionNeeds(r *request, e *Looked) Need {
	if !e.Up {
		return NeedSession
	}
	r.uses = true
	if sv := s.servers[r.server]; sv != nil {
		sv.used = true
	}
	if !e.Modern && !s.hasTurn(r) {
		s.moveTo(r, event.StateQueued)
		return NeedTurn
	}
	return NeedNothing
}

// isNeeded reports whether a person still has to be asked to agree to a call, on the terms on which it needs that.
func (s *State) isNeeded(of *request, e *Asked) bool {
	g := of.passed()
	return g.need == NeedYes && e.Terms == g.terms && !g.agrees(e.Terms, e.Held)
}

// approvalClosed lets a call look anew that a person has agreed to, or for which the question has lost its sense.
func (s *State) approvalClosed(r *request, cause event.PromptCause) {
	if cause == event.CauseAnswered {
		r.gate.agreed = append(r.gate.agreed, r.gate.terms)
	}
	if cause == event.CauseAnswered || cause == event.CauseSuperseded {
		s.moveTo(r, event.StateQueued)
	}
}

// termsSeen closes the question about a call if the config, or the consent to the launch, now sets other terms: the
// call looks anew. The definition is the one that is shown to people, whatever the server has said since.
func (s *State) termsSeen(e *TermsSeen) {
	p := s.prompts[e.Prompt]
	if p == nil || !p.approval {
		return
	}
	now, terms := e.Terms, s.requests[p.request].gate.terms
	if now.Definition = terms.Definition; now == terms {
		return
	}
	says := now.Policy.String()
	if now.Hidden {
		says = "hidden"
	}
	s.closePrompt(p.n, End{Cause: event.CauseSuperseded, Origin: event.OriginPolicy,
		Reason: "the config has changed; for this tool it says " + says})
}

// Lists returns how often the tools were listed for a request.
func (s *State) Lists(n RequestNumber) int {
	if r := s.requests[n]; r != nil {
		return r.passed().lists
	}
	return 0
}
