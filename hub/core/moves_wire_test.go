package core

import (
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

type addMove func(name string, run func(w *wireWorld))

func (w *wireWorld) moves() (moves []move[*wireWorld]) {
	add := func(name string, run func(w *wireWorld)) { moves = append(moves, move[*wireWorld]{name, run}) }
	for i := range w.calls {
		w.callerMoves(i, add)
		w.wireCallMoves(i, add)
		w.exchangeMoves(i, add)
	}
	for j := range w.asks {
		w.askMoves(j, add)
	}
	w.serverMoves(add)
	w.pipeMoves(add)
	w.readerMoves(add)
	w.inboxMoves(add)
	w.endMoves(add)
	w.streamMoves(add)
	w.carrierMoves(add)
	return moves
}

// callerMoves are those of users, callers and clocks.
func (w *wireWorld) callerMoves(i int, add addMove) {
	c := w.calls[i]
	id := string(rune('a' + i))
	at := func(name string, run func(w *wireWorld, c *wireCall)) {
		add(fmt.Sprint(name, " ", i), func(w *wireWorld) { run(w, &w.calls[i]) })
	}
	starts := w.rules.first && i == 0
	if c.phase == wireUnmade {
		at("call", func(w *wireWorld, c *wireCall) {
			c.n, c.phase = w.st.begun+1, wirePassing
			made := RequestMade{ID: id, Server: 1, Call: true}
			if w.rules.times {
				made.Total = 3
			}
			if starts {
				made, c.phase = RequestMade{Prefix: "start", Server: 1, Start: true}, wireSends
			}
			if w.apply(made); w.rules.swift && c.n != 0 && !c.stopped {
				w.send(i)
			}
		})
	}
	r := w.st.requests[c.n]
	if starts && r != nil && !c.stopped && c.phase != wireOver {
		at("the start is stopped", func(_ *wireWorld, c *wireCall) { c.stopped = true })
	}
	if w.cancels > 0 && !starts && c.phase != wireUnmade {
		at("cancel by id", func(w *wireWorld, c *wireCall) {
			w.cancels--
			w.see(c.n)
			w.apply(CancelAsked{ID: id, Cause: &event.CancelCause{Origin: event.OriginUser, Reason: "enough"}})
		})
		if r != nil {
			at("its caller hangs up", func(w *wireWorld, c *wireCall) {
				w.cancels--
				w.see(c.n)
				w.apply(RequestGivenUp{c.n, &event.CancelCause{Origin: event.OriginHost, Reason: "gone"}})
			})
		}
	}
	if r != nil && !r.clock.due.IsZero() {
		at("timer", func(w *wireWorld, c *wireCall) { w.apply(RequestTimer{c.n}) })
	}
}

// wireCallMoves are those of the goroutine of a call.
func (w *wireWorld) wireCallMoves(i int, add addMove) {
	c := w.calls[i]
	at := func(name string, run func(w *wireWorld, c *wireCall)) {
		add(fmt.Sprint(name, " ", i), func(w *wireWorld) { run(w, &w.calls[i]) })
	}
	back := func(c *wireCall, outcome callOutcome) { c.outcome, c.phase = outcome, wireLeaves }
	switch c.phase {
	case wirePassing:
		at("looks", func(w *wireWorld, c *wireCall) {
			if c.phase = wireSends; refused(w.apply(Looked{Request: c.n, Up: true})) != 0 {
				back(c, outcomeUnsent)
			}
		})
	case wireSends:
		at("begins a round", func(w *wireWorld, c *wireCall) {
			if c.stopped {
				back(c, outcomeUnsent)
				return
			}
			c.onWire, c.phase = !w.rules.first, wireRegisters
		})
	case wireRegisters:
		at("registers", func(w *wireWorld, c *wireCall) {
			if c.phase = wirePushes; !w.play('c', i) {
				back(c, outcomeClosed)
			} else if !w.ending() { // nobody else can do anything with the call before it is queued
				w.push(i)
			}
		})
	case wirePushes:
		at("queues its request", func(w *wireWorld, _ *wireCall) { w.push(i) })
	case wireTellsID:
		at("tells its wire id", func(w *wireWorld, c *wireCall) {
			c.phase = wireWaits
			w.apply(Sent{c.n, fmt.Sprint(i + 1)})
		})
	case wireWaits:
		if c.done {
			at("wakes, and leaves the session", func(w *wireWorld, c *wireCall) { w.leave(c) })
		}
		if c.stopped {
			at("sees that its context has ended", func(w *wireWorld, c *wireCall) {
				if c.phase = wireTakesBack; !w.play('g', i) {
					c.urgent = true
					w.saw("a response is there when its call is given up")
					c.done, c.phase = c.done || c.queued, wireSettled
				}
			})
		}
	case wireSettled:
		if c.done {
			at("wakes, and leaves the session", func(w *wireWorld, c *wireCall) { w.leave(c) })
		}
	case wireTakesBack:
		at("takes its request back", func(w *wireWorld, c *wireCall) {
			if c.known = c.frame == frameTaken; !c.known {
				w.saw("a request is taken back")
				c.frame = frameDropped
				w.out = slices.DeleteFunc(w.out, func(m message) bool { return m == message{kind: callMessage, n: i} })
			}
			c.outcome, c.phase = outcomeCancelled, wireLingers
			switch w.table.real.Notice(w.table.calls[i], c.known) {
			case jsonrpc.NoticeCancel:
				c.sent, c.phase = true, wireSaysCancel
				w.saw("a cancel is written")
			case jsonrpc.NoticeAbandon:
				w.saw("a request that may not be cancelled is abandoned")
				if w.rules.http {
					w.abort(i)
				}
				w.settle(i, jsonrpc.ErrCancelNotNeeded)
			default:
				w.settle(i, jsonrpc.ErrCancelNotNeeded)
			}
		})
	case wireSaysCancel:
		at("tells the route to cancel", func(w *wireWorld, c *wireCall) {
			c.phase = wireLingers
			switch {
			case w.rules.http:
				w.cancelExchange(i)
			case w.failed:
				w.settle(i, errWireClosed)
			default:
				w.out = append(w.out, message{kind: cancelMessage, n: i})
			}
		})
	case wireLingers:
		at("lingers", func(w *wireWorld, c *wireCall) {
			c.done, c.given, c.phase = true, true, wireLeaves
			c.lingers = c.known && !w.rules.modern && w.table.real.Unanswered(w.table.calls[i].ID) &&
				(c.settled == 0 || c.err != jsonrpc.ErrCancelNotNeeded)
			if !w.rules.http { // on a pipe a call that was given up counts as little as one that has left
				w.leave(c)
			}
		})
	case wireLeaves:
		at("leaves the session", func(w *wireWorld, c *wireCall) { w.leave(c) })
	case wireConcludes:
		at("concludes", func(w *wireWorld, c *wireCall) { w.conclude(c) })
	}
}

// send is the way of a call to the wire.
func (w *wireWorld) send(i int) {
	c := &w.calls[i]
	w.apply(Looked{Request: c.n, Up: true})
	c.onWire = true
	w.play('c', i)
	w.push(i)
	w.apply(Sent{c.n, fmt.Sprint(i + 1)})
	c.phase = wireWaits
}

// leave takes a call out of those to which questions are ascribed.
func (w *wireWorld) leave(c *wireCall) {
	if c.onWire, c.phase = false, wireConcludes; w.rules.swift {
		w.conclude(c)
	}
}

// ending reports whether the connection may end in this world.
func (w *wireWorld) ending() bool { return w.rules.dies || w.rules.closes }

// push is outbox.push for a request.
func (w *wireWorld) push(i int) {
	c := &w.calls[i]
	switch c.phase = wireTellsID; {
	case w.failed && w.play('b', i):
		c.outcome, c.phase = outcomeClosed, wireLeaves
	case w.failed:
		c.phase = wireWaits
	case w.rules.http:
		c.frame, c.ex.open, c.ex.runs = frameTaken, true, true
	default:
		c.frame = frameQueued
		w.out = append(w.out, message{kind: callMessage, n: i})
	}
}

// conclude is that of package hub.
func (w *wireWorld) conclude(c *wireCall) {
	c.phase = wireOver
	if w.rules.first {
		w.apply(StartOver{Request: c.n, Failed: c.outcome != outcomeResult})
		return
	}
	w.see(c.n)
	over := CallOver{Request: c.n, Failed: c.outcome != outcomeResult}
	r := w.st.requests[c.n]
	switch {
	case !over.Failed || r == nil:
	case r.cause == nil:
		over.Lost = c.outcome == outcomeClosed
		if c.outcome == outcomeCancelled || c.outcome == outcomeUnsent {
			w.breaks("request %d comes back as cancelled, and was not", c.n)
		}
	case !r.handed:
	case c.outcome == outcomeCancelled:
		over.MayContinue = c.settled == 0 || c.err != jsonrpc.ErrCancelNotNeeded
	case c.outcome == outcomeFailed:
		over.MayContinue = !c.notSent
	case c.outcome == outcomeClosed:
		over.MayContinue = true
	}
	c.may = over.MayContinue
	w.apply(over)
}

// play tells the table what has happened to a call or a question.
func (w *wireWorld) play(what byte, n int) bool {
	ok, _ := w.table.play(what, n)
	return ok
}

// settle tells what became of the cancel of a call.
func (w *wireWorld) settle(i int, err error) {
	c := &w.calls[i]
	if c.settled, c.err = c.settled+1, err; err == jsonrpc.ErrCancelNotNeeded {
		c.lingers = false
	}
	switch {
	case err == nil:
		w.saw("a cancel is delivered")
	case err == jsonrpc.ErrCancelNotNeeded:
		w.saw("a cancel is not needed")
	default:
		w.saw("a cancel is not delivered")
	}
}

// askMoves are those of the goroutine that answers a question, and of people.
func (w *wireWorld) askMoves(j int, add addMove) {
	a := w.asks[j]
	at := func(name string, run func(w *wireWorld, a *wireAsk)) {
		add(fmt.Sprint(name, " of question ", j), func(w *wireWorld) { run(w, &w.asks[j]) })
	}
	switch a.phase {
	case askBegins:
		at("the handler begins", func(w *wireWorld, a *wireAsk) {
			if a.phase = askGrace; a.isOver {
				return
			}
			e := Asked{Kind: event.PromptSampling, WithTools: true, Server: 1, Prefix: "ask", By: 1, Human: 1}
			switch {
			case a.of > 0:
				e.Parent = w.calls[a.of-1].n
			case a.some:
				e.OfSome = true
			}
			a.n, a.p = w.st.begun+1, w.st.asked+1
			switch refused(w.apply(e)) {
			case 0:
				a.phase = askOpen
			case CallIsOver:
				a.n, a.p = 0, 0
			default:
				a.n, a.p, a.phase = 0, 0, askReplies
			}
		})
	case askOpen:
		if a.closed != nil {
			at("the handler reads the end", func(w *wireWorld, a *wireAsk) {
				e := AnswerRead{Request: a.n, End: *a.closed}
				if a.ctx != alive {
					leave := a.leave()
					e.Left = &leave
				}
				a.phase = askReplies
				if slices.ContainsFunc(w.apply(e), func(e Effect) bool { _, delayed := e.(ReplyDelayed); return delayed }) {
					a.phase = askGrace
					w.saw("an answer is delayed, since its call is over")
				}
			})
		} else {
			at("a person answers", func(w *wireWorld, a *wireAsk) {
				w.apply(Answered{a.p, End{Cause: event.CauseAnswered, Window: "w"}})
			})
			at("nobody answers in time the form", func(w *wireWorld, a *wireAsk) { w.apply(PromptTimer{a.p}) })
		}
		if a.ctx != alive {
			at("the handler sees the end of the context", func(w *wireWorld, a *wireAsk) {
				a.phase = askReplies
				w.apply(AskerLeft{Request: a.n, Leave: a.leave()})
			})
		}
	case askGrace:
		at("the grace is over", func(_ *wireWorld, a *wireAsk) { a.phase = askReplies })
	case askReplies:
		at("the handler returns", func(w *wireWorld, a *wireAsk) {
			a.phase = askOver
			if w.play('a', j) {
				if a.phase, a.replied = askWrites, true; a.taken {
					w.breaks("question %d was withdrawn, and is to be answered", j)
				}
			} else {
				w.saw("an answer is not written, since the question was withdrawn")
			}
		})
	case askWrites:
		at("the answer is queued", func(w *wireWorld, a *wireAsk) {
			if a.phase = askOver; !w.failed {
				w.out = append(w.out, message{kind: answerMessage, n: j})
			}
		})
	}
}
