package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

func because(reason string) *event.CancelCause {
	return &event.CancelCause{Origin: event.OriginHost, Reason: reason}
}

// moves returns what may happen next.
func (w *serverWorld) moves(seen *coverage) (moves []move[*serverWorld]) {
	add := func(name string, run func(w *serverWorld)) { moves = append(moves, move[*serverWorld]{name, run}) }
	tell := func(name string, e Event) { add(name, func(w *serverWorld) { w.apply(seen, e) }) }
	for i := range w.runs {
		w.runMoves(i, seen, add)
	}
	for i := range w.rules.people {
		w.personMoves(i, seen, add)
	}
	if w.rules.calls {
		w.callMoves(seen, add)
	}
	for _, n := range slices.Sorted(maps.Keys(w.timers)) {
		add(fmt.Sprint("timer of ", n), func(w *serverWorld) {
			if at := w.timers[n]; at.After(w.now) {
				w.now = at
			}
			delete(w.timers, n)
			w.apply(seen, ServerTimer{Server: n, Subscribed: w.subscribed})
		})
	}
	if w.question.p != 0 && w.question.closed == nil {
		tell("a person answers", Answered{w.question.p, End{Cause: event.CauseAnswered}})
	}
	reads := func(name string, of func(w *serverWorld) *asking) {
		if of(w).closed != nil {
			add(name, func(w *serverWorld) {
				q := *of(w)
				*of(w) = asking{}
				w.apply(seen, AnswerRead{Request: q.n, End: *q.closed})
				w.answerRead(&q)
			})
		}
	}
	reads("the server reads the answer", func(w *serverWorld) *asking { return &w.question })
	reads("the start reads the answer", func(w *serverWorld) *asking { return &w.launch })
	sv := w.st.servers[w.latest]
	configured := sv != nil && !sv.removed
	if w.drained {
		return moves
	}
	if w.rules.drains {
		add("drain", func(w *serverWorld) {
			w.drained = true
			w.apply(seen, Drained{})
			w.apply(seen, StopOrdered{w.latest, because("shutdown")})
		})
	}
	if w.rules.unasked {
		tell("folders are opened", AnswerPossible{})
	}
	w.consentMoves(seen, add)
	if w.rules.stale || w.rules.unasked {
		add("windows show more", func(w *serverWorld) {
			var e MoreShown
			if w.rules.stale {
				e.Outgrown = append(e.Outgrown, w.latest)
			}
			w.apply(seen, e)
		})
	}
	if w.rules.idles {
		add("subscribed, or no longer", func(w *serverWorld) {
			if w.subscribed = !w.subscribed; !w.subscribed {
				w.apply(seen, Unsubscribed{w.latest})
			}
		})
	}
	if !configured {
		if w.rules.removed && w.latest < 3 {
			add("added again", func(w *serverWorld) { w.add(seen) })
		}
		return moves
	}
	if w.rules.stops {
		tell("stop", StopOrdered{w.latest, because("stop")})
		add("start", func(w *serverWorld) {
			w.declined = never
			w.apply(seen, StartOrdered{w.latest})
		})
	}
	if w.rules.switches {
		tell("switch off", SwitchOrdered{Server: w.latest, Cause: because("off")})
		tell("switch on", SwitchOrdered{Server: w.latest, On: true, Cause: because("on")})
	}
	if w.rules.outdated {
		tell("a file has changed", ServerOutdated{w.latest, because("file")})
		tell("something else is to be seen of it", InfoChanged{w.latest})
	}
	if w.rules.removed {
		tell("removed", ServerRemoved{w.latest, because("removed")})
	}
	if w.changes > 0 {
		for _, change := range []func(e *Entry, c *ServerConfigured){
			func(_ *Entry, c *ServerConfigured) { c.Relaunch = true }, // it launches something else
			func(_ *Entry, c *ServerConfigured) { c.LimitChanged = true },
			func(e *Entry, c *ServerConfigured) { e.Broken, c.Relaunch = !e.Broken, true },
			func(e *Entry, _ *ServerConfigured) { e.Disabled = !e.Disabled },
			func(e *Entry, _ *ServerConfigured) { e.Eager = !e.Eager },
		} {
			c := ServerConfigured{Server: w.latest, Entry: w.entry, Cause: because("config")}
			change(&c.Entry, &c)
			add(fmt.Sprintf("configured %+v, relaunch %v", c.Entry, c.Relaunch), func(w *serverWorld) {
				w.changes--
				w.entry = c.Entry
				w.configured(seen, c)
			})
		}
	}
	return moves
}

// runMoves are what may happen to what runs of a server.
func (w *serverWorld) runMoves(i int, seen *coverage, add func(string, func(*serverWorld))) {
	over := func(name string, e StartOver, next runPhase) {
		add(name, func(w *serverWorld) {
			r := &w.runs[i]
			if e.Request = r.request; w.launch.p != 0 { // whoever asks learns first that the start is over
				w.apply(seen, AskerLeft{Request: w.launch.n, Prompt: w.launch.p,
					Leave: Leave{End: End{Cause: event.CauseParent}, Ends: nobodyWaits}})
				w.launch = asking{}
			}
			if r.phase = next; e.Failed && next == runClosed {
				w.runs = nil
			}
			sv := w.st.servers[r.server]
			again := e.Failure.NobodyAsked && sv.askable != w.st.askable && len(sv.waiters) > 0
			if w.apply(seen, e); again && sv.state != event.ServerConnecting {
				w.fault("somebody could be asked by now, and those who wait are not served")
			}
		})
	}
	ends := func(name string, fell, expired bool) {
		add(name, func(w *serverWorld) {
			r := w.runs[i]
			w.runs = nil
			w.apply(seen, ServerEnded{Server: r.server, Connection: r.number, Fell: fell, Expired: expired})
		})
	}
	switch w.runs[i].phase {
	case runStarts:
		switch {
		case w.rules.asks && w.runs[i].step != launchAgreed:
			w.launchMoves(i, seen, add)
			if w.runs[i].step == launchFailed {
				over("may not be launched", StartOver{Failed: true}, runClosed)
			}
		default:
			over("connects", StartOver{}, runUp)
			if w.rules.stale {
				over("connects, and less was declared than windows show", StartOver{Outgrown: true}, runUp)
			}
		}
		if w.rules.fails {
			over("fails", StartOver{Failed: true, Failure: Failure{Counts: true}}, runClosed)
			over("a person declines", StartOver{Failed: true}, runClosed)
		}
		if w.rules.hopeless {
			over("fails for good", StartOver{Failed: true, Failure: Failure{Counts: true, Hopeless: true}}, runClosed)
		}
		if w.rules.unasked {
			over("nobody can be asked", StartOver{Failed: true, Failure: Failure{NobodyAsked: true}}, runClosed)
		}
	case runStartStopped:
		over("the stopped start comes back", StartOver{Failed: true}, runCameBack)
	case runUp:
		if w.rules.falls {
			for _, stable := range []bool{false, true} {
				add(fmt.Sprint("falls, stable ", stable), func(w *serverWorld) {
					r := &w.runs[i]
					if r.phase = runFallen; stable {
						w.now = w.now.Add(stableAfter)
					}
					w.apply(seen, ConnectionEnded{Connection: r.number, Server: r.server})
				})
			}
		}
		if w.rules.stale && w.question.p == 0 {
			add("the server asks", func(w *serverWorld) {
				w.ask(seen, &w.question, Asked{Kind: event.PromptSampling, Server: w.runs[i].server, Prefix: "ask",
					By: w.runs[i].number})
			})
			add("the server needs the other era", func(w *serverWorld) { w.apply(seen, ServerStale{w.runs[i].server}) })
		}
	case runFallen:
		ends("all of the fallen connection has ended", true, false)
		ends("all of the fallen connection has ended, the session was forgotten", true, true)
	case runClosed, runCameBack:
		ends("all of it has ended", false, false)
	}
}

func (w *serverWorld) ask(seen *coverage, q *asking, e Asked) {
	*q = asking{p: w.st.asked + 1, n: w.st.begun + 1}
	w.apply(seen, e)
	if !w.st.Open(q.p) {
		*q = asking{} // the hub drains
	}
}

// personMoves are what somebody does who wants the server.
func (w *serverWorld) personMoves(i int, seen *coverage, add func(string, func(*serverWorld))) {
	at := func(name string, run func(w *serverWorld, p *person)) {
		add(fmt.Sprint(name, " ", i), func(w *serverWorld) { run(w, &w.people[i]) })
	}
	wants := func(w *serverWorld, p *person) {
		w.waited++
		p.phase, p.waiter, p.server = personWaits, w.waited, w.latest
		w.apply(seen, ServerWanted{Server: p.server, Waiter: p.waiter, Since: p.since})
	}
	switch p := w.people[i]; p.phase {
	case personOut:
		at("wants it", wants)
		if sv := w.st.servers[w.latest]; sv != nil && sv.state == event.ServerReady {
			at("joins", func(w *serverWorld, p *person) {
				p.phase, p.server = personUses, w.latest
				w.apply(seen, ServerWanted{Server: p.server})
			})
		}
		if w.rules.stops && i == 0 {
			at("restarts it", func(w *serverWorld, p *person) {
				p.phase, p.server = personRestarts, w.latest
				w.apply(seen, StopOrdered{w.latest, because("restart")})
				p.since = w.st.Server(p.server, w.now).Stops
			})
		}
	case personRestarts:
		if w.st.Server(p.server, w.now).State.Rests() {
			at("sees the end", func(w *serverWorld, p *person) {
				w.declined = never
				w.apply(seen, StartOrdered{p.server})
				wants(w, p)
			})
		}
	case personWaits:
		at("leaves", func(w *serverWorld, p *person) {
			e := WaiterLeft{Server: p.server, Waiter: p.waiter}
			*p = person{}
			w.apply(seen, e)
		})
	case personUses:
		at("uses it no longer", func(w *serverWorld, p *person) {
			e := ServerReleased{p.server}
			*p = person{}
			w.apply(seen, e)
		})
	}
}

// callMoves are what a call does.
func (w *serverWorld) callMoves(seen *coverage, add func(string, func(*serverWorld))) {
	c := w.call
	over := func(e CallOver) func(w *serverWorld) {
		return func(w *serverWorld) {
			e.Request, w.call.phase = w.call.n, 5
			w.apply(seen, e)
		}
	}
	leaves := func(w *serverWorld) {
		if c := &w.call; c.waiter != 0 {
			e := WaiterLeft{Server: w.latest, Waiter: c.waiter}
			c.waiter, c.phase = 0, 1
			w.apply(seen, e)
		}
	}
	switch c.phase {
	case 0:
		add("call", func(w *serverWorld) {
			w.call = serverCall{phase: 1, n: w.st.begun + 1}
			w.apply(seen, RequestMade{Prefix: "call", Server: w.latest, Name: "s", Call: true})
			if w.st.requests[w.call.n] == nil {
				w.call.phase = 5 // the hub drains
			}
		})
	case 1, 2, 3:
		if c.stopped {
			add("the call comes back", func(w *serverWorld) { leaves(w); over(CallOver{Failed: true})(w) })
			return
		}
		switch c.phase {
		case 1:
			add("the call wants the server", func(w *serverWorld) {
				w.waited++
				w.call.phase, w.call.waiter = 2, w.waited
				w.apply(seen, ServerWanted{Server: w.latest, Waiter: w.waited, Request: w.call.n})
			})
			add("the call fails", over(CallOver{Failed: true}))
		case 3:
			add("the call is sent", func(w *serverWorld) {
				w.call.phase = 4
				w.apply(seen, Looked{Request: w.call.n, Up: true})
			})
		}
	case 4:
		add("the call is over", over(CallOver{Failed: c.stopped}))
		if !c.task && !c.stopped {
			add("a task carries it out", func(w *serverWorld) {
				w.call.task = true
				w.apply(seen, TaskReported{w.call.n})
			})
		}
	}
}
