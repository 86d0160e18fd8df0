package core

import (
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// moves returns what may happen next.
func (w *gateWorld) moves(seen *coverage) (moves []move[*gateWorld]) {
	add := func(name string, run func(w *gateWorld)) { moves = append(moves, move[*gateWorld]{name, run}) }
	w.callMoves(seen, add)
	w.serverMoves(seen, add)
	if w.changes > 0 {
		for says := range saysHidden + 1 {
			if says != w.says && says != saysWithLaunch {
				add(fmt.Sprint("the config says ", says), func(w *gateWorld) {
					w.changes--
					w.says = says
					w.policyChanged(seen)
				})
			}
		}
	}
	switch {
	case !w.attached:
		add("the window comes", func(w *gateWorld) { w.attach(seen) })
	case w.goes > 0:
		add("the window goes", func(w *gateWorld) {
			w.attached = false
			w.goes--
			w.apply(seen, WindowDetached{Window: "w", Final: true})
		})
	}
	if w.rules.drains && !w.drained {
		add("drain", func(w *gateWorld) {
			w.drained = true
			w.apply(seen, Drained{})
			w.apply(seen, ScopeCancelled{Scope{All: true}, &event.CancelCause{Origin: event.OriginShutdown}})
		})
	}
	if c := &w.call; w.cancels > 0 && c.phase > gateUnmade && c.phase < gateOver {
		add("cancel", func(w *gateWorld) {
			w.cancels--
			w.apply(seen, CancelAsked{ID: "a", Cause: because("enough")})
		})
	}
	if w.approves {
		add("a person approves another call of the tool", func(w *gateWorld) {
			w.approves = false
			w.held[w.tool] = true
		})
	}
	if w.other != 0 {
		add("the call of another client is over", func(w *gateWorld) {
			other := w.other
			w.other = 0
			w.apply(seen, CallOver{Request: other})
		})
	}
	return moves
}

// policyChanged tells the core of the terms of the open question, as package hub does.
func (w *gateWorld) policyChanged(seen *coverage) {
	if c := &w.call; w.st.Open(c.prompt) {
		w.apply(seen, TermsSeen{Prompt: c.prompt, Terms: w.terms(0)})
	}
}

func (w *gateWorld) serverMoves(seen *coverage, add func(string, func(*gateWorld))) {
	if !w.timer.IsZero() {
		add("timer of the server", func(w *gateWorld) {
			w.now, w.timer = w.timer, time.Time{}
			w.apply(seen, ServerTimer{Server: 1})
		})
	}
	if w.run.number == 0 {
		return
	}
	switch w.run.phase {
	case runStarts:
		add("the server connects", func(w *gateWorld) {
			if w.run.phase, w.current = runUp, false; w.says == saysWithLaunch {
				w.says = saysAllow
			}
			w.apply(seen, StartOver{Request: w.run.request})
		})
		if w.fails > 0 {
			add("the start fails", func(w *gateWorld) {
				w.fails--
				request := w.run.request
				w.run = run{}
				w.apply(seen, StartOver{Request: request, Failed: true, Failure: Failure{Counts: true}})
			})
		}
	case runUp:
		if w.news > 0 {
			add("the server says that its tools changed", func(w *gateWorld) {
				w.news--
				w.current, w.tool = false, 3-w.tool
			})
		}
		if w.falls > 0 {
			add("the connection ends", func(w *gateWorld) {
				w.falls--
				w.run.phase, w.current = runFallen, false
				w.apply(seen, ConnectionEnded{Connection: w.run.number, Server: 1})
			})
		}
	case runFallen:
		add("all of the connection has ended", func(w *gateWorld) {
			number := w.run.number
			w.run = run{}
			w.apply(seen, ServerEnded{Server: 1, Connection: number, Fell: true})
		})
	}
}

func (w *gateWorld) callMoves(seen *coverage, add func(string, func(*gateWorld))) {
	at := func(name string, run func(w *gateWorld, c *gateCall)) {
		add(name, func(w *gateWorld) { run(w, &w.call) })
	}
	over := func(failed bool) func(w *gateWorld, c *gateCall) {
		return func(w *gateWorld, c *gateCall) {
			c.phase = gateOver
			w.apply(seen, CallOver{Request: c.n, Failed: failed})
		}
	}
	wants := func(next gatePhase) func(w *gateWorld, c *gateCall) {
		return func(w *gateWorld, c *gateCall) {
			c.phase, c.waiter = next, 1
			e := ServerWanted{Server: 1, Request: c.n, Waiter: 1}
			if w.apply(seen, e); c.waiter != 0 && !c.stopped {
				c.want = event.StateConnecting
			}
		}
	}
	leaves := func(w *gateWorld, c *gateCall) {
		c.waiter, c.phase = 0, gateFails
		w.apply(seen, WaiterLeft{Server: 1, Waiter: 1})
	}
	switch c := &w.call; c.phase {
	case gateUnmade:
		at("call", func(w *gateWorld, c *gateCall) {
			e := RequestMade{ID: "a", Server: 1, Name: "s", Call: true}
			if w.rules.owner {
				e.Owner = "w"
			}
			if w.rules.turns {
				e.Client = "m"
			}
			if c.phase = gateLooks; w.apply(seen, e) != 0 {
				c.phase = gateOver
			}
		})
	case gateLooks:
		at("looks", func(w *gateWorld, _ *gateCall) { w.look(seen) })
	case gateNeeds:
		w.needMoves(seen, add, wants(gateWaits))
	case gateWaits, gateRenews:
		if c.stopped {
			at("waits no longer", leaves)
		}
	case gateAsks:
		w.askMoves(seen, add)
	case gateFails:
		at("comes back", over(true))
	case gateRuns:
		at("result", over(false))
		if w.rules.task && !c.task && !c.stopped && w.up() {
			at("a task carries it out", func(w *gateWorld, c *gateCall) {
				c.task, c.want = true, event.StateTaskWorking
				w.apply(seen, TaskReported{c.n})
			})
		}
		if w.rules.task && !w.up() && !c.stopped {
			at("needs another connection", wants(gateRenews))
		}
	}
}

// needMoves are how the call obtains what it needs.
func (w *gateWorld) needMoves(seen *coverage, add func(string, func(*gateWorld)), wants func(*gateWorld, *gateCall)) {
	at := func(name string, run func(w *gateWorld, c *gateCall)) {
		add(name, func(w *gateWorld) {
			w.call.phase, w.call.fresh = gateLooks, w.call.fresh && w.call.need == NeedKeptTools
			run(w, &w.call)
		})
	}
	switch c := &w.call; c.need {
	case NeedKeptTools:
		at("reads the kept tools", func(w *gateWorld, _ *gateCall) {
			if w.known == 0 && !w.up() {
				w.known = w.kept
			}
		})
	case NeedApprovals:
		at("reads the approvals", func(w *gateWorld, c *gateCall) {
			c.fresh = true
			for v, yes := range w.disk {
				w.held[v] = w.held[v] || yes
			}
		})
	case NeedSession:
		switch {
		case c.stopped:
			at("is not given a session", func(_ *gateWorld, c *gateCall) { c.phase = gateFails })
		case w.up():
			at("uses the session", func(w *gateWorld, c *gateCall) {
				w.apply(seen, ServerWanted{Server: 1, Request: c.n})
			})
		default:
			at("wants the server", wants)
		}
	case NeedTools:
		at("lists the tools", func(w *gateWorld, c *gateCall) {
			if !w.up() || c.stopped {
				c.phase = gateFails
				return
			}
			c.lists++
			c.listed, c.of = w.tool, w.run.number
			w.known, w.current = w.tool, true
		})
		if w.news > 0 && w.up() && !c.stopped {
			at("lists the tools, which change meanwhile", func(w *gateWorld, c *gateCall) {
				c.lists++
				w.news--
				c.listed, c.of, w.current = w.tool, w.run.number, false
				w.tool = 3 - w.tool
			})
		}
	case NeedPin:
		at("records the definition", func(w *gateWorld, c *gateCall) {
			if v := versionOf(c.asks); w.pinned == 0 {
				w.pinned = v
			}
			if c.pinned = w.pinned == versionOf(c.asks); c.pinned {
				c.agreed = append(c.agreed, c.asks)
			}
		})
	case NeedYes:
		at("asks", func(w *gateWorld, c *gateCall) {
			terms := w.terms(versionOf(c.asks))
			switch why := w.apply(seen, Asked{Kind: event.PromptToolApproval, Server: 1, Of: c.n, Approval: true, Terms: terms,
				Held: w.recorded(terms)}); {
			case why == 0:
				c.phase, c.closed = gateAsks, 0
				if terms != c.asks {
					w.fault("a person is asked about %+v, and the call needs %+v", terms, c.asks)
				}
			case why == Unshowable && !w.attached:
				c.phase = gateFails
			case why == CallIsOver && c.stopped:
			case why != Needless || terms == c.asks && !w.recorded(terms):
				w.fault("the question about %+v is refused for reason %d", terms, why)
			}
		})
	case NeedTurn:
		if r := w.st.requests[c.n]; c.stopped || w.st.turns[1].of[r.n].phase != turnWaits {
			at("its turn has come", func(*gateWorld, *gateCall) {})
		}
	}
}

// askMoves are how a person answers whether the tool may be called.
func (w *gateWorld) askMoves(seen *coverage, add func(string, func(*gateWorld))) {
	at := func(name string, run func(w *gateWorld, c *gateCall)) {
		add(name, func(w *gateWorld) { run(w, &w.call) })
	}
	if w.call.closed == 0 && w.attached {
		for _, remembers := range []bool{false, true} {
			at(fmt.Sprint("a person agrees, for longer ", remembers), func(w *gateWorld, c *gateCall) {
				v := versionOf(c.asks)
				if c.agreed = append(c.agreed, c.asks); c.asks.Policy == event.PolicyAllow {
					w.pinned = v
				} else if remembers {
					w.held[v] = true
				}
				w.apply(seen, Answered{c.prompt, End{Cause: event.CauseAnswered}})
			})
		}
		at("a person declines", func(w *gateWorld, c *gateCall) {
			w.apply(seen, Answered{c.prompt, End{Cause: event.CauseDeclined}})
		})
	}
	if w.call.closed != 0 {
		at("learns the answer", func(_ *gateWorld, c *gateCall) {
			if c.phase = gateLooks; c.closed == event.CauseDeclined {
				c.phase = gateFails
			}
		})
	}
}
