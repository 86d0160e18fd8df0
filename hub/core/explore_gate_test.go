package core

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// gateWorld is one call on its way through the gate, with what its goroutine sees: what the config says, what the
// server offers, what people have agreed to. It is explored as world is.
type gateWorld struct {
	rules *gateRules
	st    *State
	now   time.Time
	call  gateCall
	other RequestNumber // the call of another client that runs, 0 = none
	run   run           // of the server; number 0 = nothing runs
	timer time.Time     // of the server

	says     says
	tool     int  // the version of the tool that the server has
	known    int  // that is known, 0 = none
	kept     int  // that is known to the disk
	current  bool // the present connection has listed it, and has not said since that it changed
	held     [3]bool
	disk     [3]bool // approvals of versions that another hub has written
	pinned   int     // the first version that was let through, 0 = none
	attached bool    // a window
	drained  bool
	approves bool // a person may still approve another call of the tool

	cancels, changes, news, falls, fails, goes int // how many may still come

	pending  []Effect
	carrying bool
	wrongs   []string
	history
}

// gateRules say what can happen in a gateWorld, and how it begins.
type gateRules struct {
	name                                         string
	cancels, changes, news, falls, fails, goes   int // the last: how often the window goes
	says                                         says
	kept, pinned, disk                           int
	preapproved, app, owner, turns, task, drains bool
	approves                                     bool // a person approves another call of the tool
	long                                         bool // too many states for each change: the long form has it
}

var gateWorlds = []gateRules{
	{name: "a call that policy asks about", cancels: 1, changes: 1, goes: 1, says: saysAsk, approves: true},
	{name: "a call that policy asks about, and an approval on the disk", cancels: 1, news: 2, goes: 1, says: saysAsk,
		disk: 1, kept: 1},
	{name: "a call that policy allows, and its tool changes", cancels: 1, news: 3, falls: 1, fails: 1, says: saysAllow},
	{name: "a call whose policy changes", changes: 2, news: 1, says: saysAsk},
	{name: "a call that is allowed with the launch, and another definition is recorded", cancels: 1, changes: 1, news: 1,
		fails: 1, says: saysWithLaunch, pinned: 2, kept: 1},
	{name: "a call of an app that has a consent", cancels: 1, changes: 1, news: 1, falls: 1, says: saysAsk,
		preapproved: true, app: true},
	{name: "a task whose connection ends", cancels: 1, falls: 2, fails: 1, says: saysAllow, task: true},
	{name: "a call of a window that goes, and of whose client it is the turn", cancels: 1, news: 1, goes: 1,
		says: saysAllow, owner: true, turns: true},
	{name: "a call while the hub shuts down", cancels: 1, changes: 1, says: saysAsk, drains: true},
	{name: "a call whose policy changes, cancelled, windows that come and go", cancels: 1, changes: 2, news: 1, goes: 1,
		says: saysAsk, long: true},
	{name: "a call that is allowed with the launch, whose connection ends", cancels: 1, changes: 1, news: 2, falls: 1,
		fails: 1, says: saysWithLaunch, pinned: 2, kept: 1, long: true},
}

// says is what the config says of the tool.
type says int

const (
	saysAsk        says = iota
	saysAskAnew         // what was approved before does not count
	saysWithLaunch      // it allows it, once a person has agreed to the launch
	saysAllow
	saysDeny
	saysHidden
)

// gateCall is the goroutine of the call.
type gateCall struct {
	n       RequestNumber
	phase   gatePhase
	need    Need
	step    int
	asks    Terms // that it was told to obtain a consent to
	agreed  []Terms
	lists   int
	listed  int              // the version in the latest list for it
	of      ConnectionNumber // that listed it
	pinned  bool
	fresh   bool // the approvals were read, and it has waited for nothing since
	waiter  WaiterNumber
	prompt  PromptNumber
	closed  event.PromptCause
	stopped bool
	task    bool
	want    event.RequestState // that windows must see
	shown   event.RequestState // that they see
}

type gatePhase int

const (
	gateUnmade gatePhase = iota
	gateLooks
	gateNeeds
	gateWaits // for the server
	gateAsks
	gateRuns
	gateRenews // its task waits for the server
	gateFails
	gateOver
)

func exploreGate(t *testing.T, r *gateRules, seen *coverage) int {
	first := &gateWorld{rules: r, st: New("hub"), now: start, says: r.says, tool: 1, kept: r.kept, pinned: r.pinned,
		cancels: r.cancels, changes: r.changes, news: r.news, falls: r.falls, fails: r.fails, goes: r.goes,
		approves: r.approves}
	first.disk[r.disk] = r.disk > 0
	if r.turns {
		takeTurns(first.st)
	}
	first.apply(seen, ServerAdded{Server: 1, Name: "s"})
	if r.turns {
		first.other = first.st.begun + 1
		first.apply(seen, RequestMade{Prefix: "call", Server: 1, Name: "s", Call: true, Client: "n"})
		first.apply(seen, Looked{Request: first.other, Up: true})
	}
	first.attach(seen)
	moves := func(w *gateWorld) []move[*gateWorld] { return w.moves(seen) }
	return inAllOrders(first, moves, func(w *gateWorld) {
		if wrong := w.wrong(); wrong != "" {
			t.Fatalf("in the world %q: %s\nafter:%s", r.name, wrong, w.trace)
		}
	})
}

func (w *gateWorld) attach(seen *coverage) {
	w.attached = true
	w.apply(seen, WindowShows{"w", allKinds()})
}

// apply applies an event, and carries out what follows, as package hub does. It returns how it was answered.
func (w *gateWorld) apply(seen *coverage, e Event) (why Refusal) {
	seen.add(e)
	effects := w.st.Apply(w.now, e)
	why = refused(effects)
	w.pending = append(w.pending, effects...)
	if w.carrying {
		return why
	}
	w.carrying = true
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		seen.add(next)
		w.carryOut(seen, next)
	}
	w.carrying, w.pending = false, nil
	return why
}

func (w *gateWorld) fault(format string, args ...any) {
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

func (w *gateWorld) carryOut(seen *coverage, effect Effect) {
	c := &w.call
	switch e := effect.(type) {
	case StartBegun:
		w.run = run{server: 1, number: e.Connection, request: w.st.begun + 1}
		w.apply(seen, RequestMade{Prefix: "start", Server: 1, Name: "s", Start: true})
	case ServerTimerSet:
		w.timer = e.At
	case WaiterWoken:
		if c.waiter != e.Waiter {
			w.fault("waiter %d is woken, and does not wait", e.Waiter)
		}
		c.waiter = 0
		switch {
		case e.Why != WakeReady:
			c.phase = gateFails
		case c.phase == gateRenews:
			switch c.phase = gateRuns; {
			case c.stopped:
			case c.task:
				c.want = event.StateTaskWorking
			default:
				c.want = event.StateRunning
			}
		default:
			c.phase = gateLooks
		}
	case PromptOpened:
		if c.prompt, c.want = e.Prompt, event.StateAwaitingApproval; slices.Contains(c.agreed, c.asks) ||
			w.says == saysAsk && w.held[versionOf(c.asks)] {
			w.fault("a person is asked for what is agreed: %+v", c.asks)
		}
	case PromptClosed:
		if c.closed = e.End.Cause; !c.stopped && (c.closed == event.CauseAnswered || c.closed == event.CauseSuperseded) {
			c.want = event.StateQueued
		}
	case CancelAccepted:
		if e.Request == c.n {
			c.want = event.StateCancelling
		}
	case Stopped:
		c.stopped = c.stopped || e.Request == c.n
	case RequestOpened:
		if w.st.requests[e.Request].id == "a" {
			c.n, c.shown, c.want = e.Request, event.StateQueued, event.StateQueued
		}
	case RequestShown:
		if e.Request == c.n {
			c.shown = e.State
		}
	}
}

func (w *gateWorld) up() bool { return w.run.phase == runUp && w.run.number != 0 }

// terms returns those that the call of a version of the tool needs a consent to.
func (w *gateWorld) terms(version int) Terms {
	t := Terms{Launch: "l", Policy: event.PolicyAsk, Anew: w.says == saysAskAnew, Hidden: w.says == saysHidden}
	if version > 0 {
		t.Definition = string(rune('0' + version))
	}
	switch w.says {
	case saysAllow, saysHidden:
		t.Policy = event.PolicyAllow
	case saysDeny:
		t.Policy = event.PolicyDeny
	}
	return t
}

func versionOf(t Terms) int {
	if t.Definition == "" {
		return 0
	}
	return int(t.Definition[0] - '0')
}

// recorded reports whether a consent to these terms is recorded.
func (w *gateWorld) recorded(t Terms) bool {
	v := versionOf(t)
	if t.Policy == event.PolicyAllow {
		return v > 0 && w.pinned == v
	}
	return w.held[v]
}

// sees returns what the goroutine of the call sees.
func (w *gateWorld) sees() Looked {
	c := &w.call
	seen := ToolSeen{Called: true, LaunchAllows: w.says == saysWithLaunch,
		Preapproved: w.rules.preapproved, Outdated: w.up() && !w.current, NoneKnown: w.known == 0, Pinned: c.pinned,
		HeldForAny: !w.attached && (w.held[1] || w.held[2])}
	version := w.known
	if seen.Outdated {
		if version = 0; c.of == w.run.number {
			version = c.listed
		}
	}
	seen.Terms = w.terms(version)
	seen.NotForApps = w.rules.app && version == 2
	seen.Held = w.recorded(seen.Terms)
	return Looked{Request: c.n, Step: c.step, Up: w.up(), Tool: seen}
}

// look lets the goroutine of the call look, and checks what it is told.
func (w *gateWorld) look(seen *coverage) {
	c, e := &w.call, w.sees()
	if stale := e; c.step > 0 && !c.stopped {
		for stale.Step = range c.step {
			if got := w.st.Apply(w.now, stale); len(got) != 1 || got[0] != (Refused{OutOfStep}) {
				w.fault("a look of step %d brings %+v in step %d", stale.Step, got, c.step)
			}
		}
	}
	before := c.need
	seen.add(e)
	effects := slices.Clone(w.st.Apply(w.now, e))
	c.phase, c.pinned = gateFails, false
	for _, effect := range effects {
		seen.add(effect)
		switch effect := effect.(type) {
		case Needed:
			c.phase, c.need = gateNeeds, effect.Need
			if effect.Need == NeedNothing {
				c.phase, c.want = gateRuns, event.StateRunning
			} else if c.step++; effect.Step != c.step {
				w.fault("step %d is called %d", c.step, effect.Step)
			}
			w.needed(&e, effect.Need, before)
		case Refused:
			w.refused(&e, effect.Why)
		default:
			w.carryOut(seen, effect)
		}
	}
	c.asks = e.Tool.Terms
}

// needed checks that the call needs that next.
func (w *gateWorld) needed(e *Looked, need, before Need) {
	c, t := &w.call, &e.Tool
	agreed := slices.Contains(c.agreed, t.Terms) || w.rules.preapproved ||
		t.Held && (t.Terms.Policy == event.PolicyAllow || t.Terms.Policy == event.PolicyAsk && !t.Terms.Anew)
	wrong := t.Terms.Policy == event.PolicyAsk && (need == NeedNothing || need == NeedYes) && !c.fresh &&
		!w.rules.preapproved && !slices.Contains(c.agreed, t.Terms)
	switch need {
	case NeedNothing:
		wrong = wrong || !agreed || !e.Up || t.Terms.Definition == "" || t.NotForApps ||
			t.Outdated && c.lists < enoughLists || w.other != 0
	case NeedKeptTools:
		wrong = e.Up || w.known != 0 || before == NeedKeptTools
	case NeedApprovals:
		wrong = before == NeedApprovals || t.Terms.Policy != event.PolicyAsk || w.rules.preapproved ||
			slices.Contains(c.agreed, t.Terms)
	case NeedSession:
		wrong = e.Up
	case NeedTools:
		wrong = !e.Up || t.Terms.Definition != "" && !t.Outdated
	case NeedPin:
		wrong = agreed || t.Terms.Policy != event.PolicyAllow || t.Terms.Definition == ""
	case NeedYes:
		wrong = wrong || agreed || t.Terms.Definition == "" || t.Terms.Policy == event.PolicyAllow && w.pinned == 0
	case NeedTurn:
		wrong = w.other == 0
		c.want = event.StateQueued
	}
	switch {
	case wrong:
		w.fault("the call needs %v after %v, and sees %+v", need, before, *e)
	case w.says == saysHidden || w.says == saysDeny || c.stopped:
		w.fault("the call needs %v, and must not go on; the config says %d", need, w.says)
	case w.says == saysWithLaunch && !e.Up && need != NeedSession:
		w.fault("the call needs %v, and a yes to the launch could allow it", need)
	case c.step >= maxSteps:
		w.fault("the call needs something for the %d. time", c.step)
	}
}

// refused checks that the call is not sent for that reason.
func (w *gateWorld) refused(e *Looked, why Refusal) {
	c, t := &w.call, &e.Tool
	right := false
	switch why {
	case CallIsOver:
		right = c.stopped
	case ToolHidden:
		right = w.says == saysHidden
	case ToolDenied:
		right = w.says == saysDeny
	case NoApprover:
		right = t.Terms.Policy == event.PolicyAsk && !w.attached && !t.HeldForAny && !slices.Contains(c.agreed, t.Terms) &&
			!w.rules.preapproved
	case NotForApps:
		right = t.NotForApps
	}
	if !right {
		w.fault("the call is refused for reason %d, and sees %+v", why, *e)
	}
}

// wrong returns what must not be, "" if nothing is wrong.
func (w *gateWorld) wrong() string {
	if len(w.wrongs) > 0 {
		return w.wrongs[0]
	}
	if wrong := w.st.inconsistent(); wrong != "" {
		return wrong
	}
	c, sv := &w.call, w.st.servers[1]
	r := w.st.requests[c.n]
	switch {
	case c.phase > gateUnmade && c.phase < gateOver && (c.shown != c.want || r.state != c.want):
		return fmt.Sprintf("the call is %s, windows see %s, and must see %s", r.state, c.shown, c.want)
	case len(sv.waiters) > 0 != (c.waiter != 0):
		return fmt.Sprintf("%v wait for the server, and the call is waiter %d", sv.waiters, c.waiter)
	case c.phase == gateAsks && c.closed == 0 && !w.st.Open(c.prompt):
		return "the call waits for an answer that nobody can give"
	case c.phase == gateAsks && c.closed == 0 && (w.says == saysDeny || w.says == saysHidden):
		return "people are asked what the config answers"
	case c.phase == gateOver && len(w.st.prompts) > 0:
		return "the call is over, and a question is open"
	case c.phase == gateOver && w.other == 0 && w.run.number == 0 && w.st.Len() > 0:
		return fmt.Sprintf("nobody does anything, and there are %+v", w.st.Requests())
	}
	return ""
}

func (w *gateWorld) clone() *gateWorld {
	next := *w
	next.st = w.st.clone()
	next.call.agreed = slices.Clone(w.call.agreed)
	return &next
}

// key is what tells one world from another. Numbers that only grow, and times, are left out.
func (w *gateWorld) key() string {
	k, c, sv := make(key, 0, 96), &w.call, w.st.servers[1]
	addTerms := func(t Terms) {
		k.add(versionOf(t), t.Policy)
		k.say(t.Anew)
	}
	k.add(c.phase, c.need, c.step, c.lists, c.listed, c.closed, c.want)
	k.say(c.of == w.run.number, c.pinned, c.waiter != 0, c.stopped, c.task, w.attached, w.current, w.drained)
	addTerms(c.asks)
	k.say(c.fresh, w.approves)
	for _, t := range c.agreed {
		addTerms(t)
	}
	k.add(w.run.phase, w.says, w.tool, w.known, w.kept, w.pinned, w.cancels, w.changes, w.news, w.falls, w.fails, w.goes)
	k.say(w.run.number != 0, w.other != 0, w.held[1], w.held[2], w.disk[1], w.disk[2], w.timer.IsZero())
	k.add(sv.state, sv.failures, len(sv.waiters))
	k.say(sv.planned(), sv.plan.byItself, sv.used, sv.wasReady)
	if r := w.st.requests[c.n]; r != nil {
		g := r.passed()
		k.add(r.state, g.step, g.need, g.lists)
		k.say(r.uses, r.handed, r.task, r.cause != nil, g.recalled, g.fresh)
		addTerms(g.terms)
		for _, t := range g.agreed {
			addTerms(t)
		}
	}
	return string(k)
}
