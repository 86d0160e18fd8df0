package core

import (
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// worldMove is a move that applies its events by do.
type worldMove struct {
	name string
	run  func(w *world, do func(Event) []Effect)
}

func (w *world) moves() (moves []worldMove) {
	add := func(name string, run func(w *world, do func(Event) []Effect)) {
		moves = append(moves, worldMove{name, run})
	}
	for i := range w.calls {
		w.callMoves(i, add)
	}
	for i := range w.questions {
		w.questionMoves(i, add)
	}
	for i := range w.rules.windows {
		w.windowMoves(i, add)
	}
	if w.rules.drains && !w.drained {
		add("drain", func(w *world, do func(Event) []Effect) {
			w.drained = true
			do(Drained{})
			w.seeIn(Scope{All: true}, do)
			do(ScopeCancelled{Scope{All: true}, &event.CancelCause{Origin: event.OriginShutdown, Reason: "shutdown"}})
		})
	}
	if w.rules.turns {
		w.turnMoves(add)
	}
	if !w.lost && slices.ContainsFunc(w.calls, func(c call) bool { return c.phase == callRunning }) {
		add("connection lost", func(w *world, do func(Event) []Effect) {
			w.lost = true
			for i := range w.questions {
				if q := &w.questions[i]; q.phase == 1 && q.left == nil && !w.ownQuestion(i) {
					q.left = &Leave{End: End{Cause: event.CauseServerGone, Origin: event.OriginTransport},
						Ends: &event.CancelCause{Origin: event.OriginTransport}}
				}
			}
			for i := range w.calls {
				w.calls[i].lingers = false
			}
		})
	}
	if w.lost && !w.heard {
		add("the hub hears that the connection is lost", func(w *world, do func(Event) []Effect) {
			w.heard = true
			do(ConnectionEnded{Connection: 1, Server: 1})
		})
	}
	return moves
}

func windowID(i int) string { return string(rune('w' + i)) }

func (w *world) attach(i int, do func(Event) []Effect) {
	w.windows[i] = attached
	do(WindowShows{windowID(i), allKinds()})
}

// canShow reports whether a question can be shown, perhaps once a window has come back.
func (w *world) canShow() bool { return w.windows != [2]place{} }

func (w *world) windowMoves(i int, add func(string, func(*world, func(Event) []Effect))) {
	at := func(name string, run func(w *world, do func(Event) []Effect)) { add(fmt.Sprint(name, " ", i), run) }
	leaves := func(final bool) func(w *world, do func(Event) []Effect) {
		return func(w *world, do func(Event) []Effect) {
			if w.windows[i] = mayComeBack; final {
				w.windows[i] = away
			}
			w.seeIn(Scope{Owner: windowID(i)}, do)
			do(WindowDetached{Window: windowID(i), Final: final, Return: 7})
		}
	}
	switch w.windows[i] {
	case attached:
		at("stream ends of window", leaves(false))
		at("closed for good: window", leaves(true))
	case mayComeBack:
		at("not back in time: window", func(w *world, do func(Event) []Effect) {
			w.windows[i] = away
			w.seeIn(Scope{Owner: windowID(i)}, do)
			do(WindowTimer{windowID(i)})
		})
	}
	if w.windows[i] != attached {
		at("attached: window", func(w *world, do func(Event) []Effect) { w.attach(i, do) })
	}
}

func (w *world) seeIn(scope Scope, do func(Event) []Effect) {
	for _, n := range w.st.Within(scope) {
		w.see(n, do)
	}
}

// turnMoves are what is between calls of different clients to one server.
func (w *world) turnMoves(add func(string, func(*world, func(Event) []Effect))) {
	if !w.gone && w.calls[0].phase == callOver {
		add("the client of call 0 is gone", func(w *world, do func(Event) []Effect) {
			w.gone = true
			do(ClientGone{w.client(0)})
		})
	}
	if w.rules.taken && !w.removed {
		add("the server is removed", func(w *world, do func(Event) []Effect) {
			w.removed = true
			do(ServerRemoved{Server: 1})
		})
	}
	for i, c := range w.calls {
		if c.lingers || c.stopped && c.sent && c.phase == callRunning {
			add(fmt.Sprint("answers late ", i), func(w *world, do func(Event) []Effect) {
				w.calls[i].lingers, w.calls[i].sent = false, false
				w.said[w.calls[i].n].late = true
				do(AnsweredLate{Server: 1, WireID: w.id(i), Request: w.calls[i].n})
			})
		}
	}
	if t := w.st.turns[1]; t != nil && !t.due.IsZero() {
		add("turn timer", func(w *world, do func(Event) []Effect) {
			passed := w.st.turns[1].due.Sub(start)
			do(TurnTimer{1})
			for i := range w.calls { // the server has had its time
				if passed >= mayAskAfter || passed >= cancelReadTime && w.gone && w.client(i) == w.client(0) {
					w.calls[i].lingers = false
				}
			}
		})
	}
}

// client returns who makes a call: the last two calls are of one client.
func (w *world) client(i int) string {
	if w.rules.turns {
		return string(rune('m' + min(i, 1)))
	}
	if w.rules.client {
		return "m"
	}
	return ""
}

// among returns the calls in which the server may have asked, and the clients of those that it may go on with.
func (w *world) among() (among []MayAsk, past []PastClient) {
	for i, c := range w.calls {
		switch {
		case c.phase == callRunning && !c.stopped:
			among = append(among, MayAsk{Request: c.n, Client: w.client(i), Heard: true})
		case c.lingers || c.phase == callRunning && c.sent:
			past = append(past, PastClient{w.client(i), start})
		}
	}
	return among, past
}

func (w *world) id(i int) string {
	if w.rules.idsReused {
		return "a"
	}
	return string(rune('a' + i))
}

// server returns which server a call is to: where a question is about one server, the first call is to another one that
// may wait for the answer, too.
func (w *world) server(i int) ServerNumber {
	if w.rules.starts && i == 0 {
		return 2
	}
	return 1
}

func (w *world) isStart(i int) bool     { return w.rules.starts && i == len(w.calls)-1 }
func (w *world) ownQuestion(i int) bool { return w.rules.launch && i == len(w.questions)-1 }

func (w *world) callMoves(i int, add func(string, func(*world, func(Event) []Effect))) {
	c, id := w.calls[i], w.id(i)
	at := func(name string, run func(w *world, c *call, do func(Event) []Effect)) {
		add(fmt.Sprintf("%s %d", name, i), func(w *world, do func(Event) []Effect) { run(w, &w.calls[i], do) })
	}
	if w.cancels > 0 && !w.isStart(i) {
		at("cancel by id", func(w *world, c *call, do func(Event) []Effect) {
			w.cancels--
			w.see(c.n, do)
			w.early[id[0]-'a'] = w.early[id[0]-'a'] || w.st.byID[id] == 0
			do(CancelAsked{ID: id, Cause: &event.CancelCause{Origin: event.OriginUser, Reason: "enough"}})
		})
	}
	if w.cancels > 0 && w.isStart(i) && c.phase == callRunning {
		at("cancel the start", func(w *world, c *call, do func(Event) []Effect) {
			w.cancels--
			r := w.st.requests[c.n]
			if r != nil {
				do(CancelAsked{ID: r.id, Server: "s", Cause: &event.CancelCause{}})
			}
		})
	}
	if w.cancels > 0 && c.n != 0 && c.ended == 0 && !w.isStart(i) {
		at("its caller hangs up", func(w *world, c *call, do func(Event) []Effect) {
			w.cancels--
			w.giveUp(c.n, do, &event.CancelCause{Origin: event.OriginHost, Reason: "gone"})
		})
	}
	over := func(e CallOver) func(w *world, c *call, do func(Event) []Effect) {
		return func(w *world, c *call, do func(Event) []Effect) {
			w.see(c.n, do)
			e.Request = c.n
			c.phase, c.result, c.server = callOver, !e.Failed, e.ByServer != nil && c.cancels == 0
			do(e)
		}
	}
	switch c.phase {
	case callUnmade:
		if w.isStart(i) {
			at("start", func(w *world, c *call, do func(Event) []Effect) {
				c.phase = callRunning
				do(RequestMade{Prefix: "start", Server: 1, Name: "s", Start: true, Total: 1})
			})
			return
		}
		at("call", func(w *world, c *call, do func(Event) []Effect) {
			e := RequestMade{ID: id, Server: w.server(i), Call: true, Idle: 2, Total: 3, Client: w.client(i),
				Answers: allKinds()}
			if w.rules.turns {
				e.Idle, e.Total = 0, 0
			}
			if w.rules.owners {
				e.Owner = windowID(0)
			}
			c.phase = callPassing
			if refused(do(e)) != 0 {
				c.phase, c.ended = callOver, 1
				return
			}
			early := &w.early[id[0]-'a']
			c.missed = (c.cancels == 1) != (*early || w.rules.owners && w.windows[0] == away)
			*early = false
		})
	case callPassing, callAgreed:
		switch {
		case c.stopped:
			at("comes back", over(CallOver{Failed: true}))
			at("is about to send", func(w *world, c *call, do func(Event) []Effect) { w.look(c, do) })
		case w.rules.approval && c.phase == callPassing:
			at("ask for approval", func(w *world, c *call, do func(Event) []Effect) {
				c.phase, c.asked = callAsking, c.asked+1
				c.prompt = w.st.asked + 1
				w.look(c, do) // it needs the approvals on the disk
				if w.look(c, do) != 0 || refused(do(Asked{Kind: event.PromptToolApproval, Server: 1, Of: c.n, Approval: true,
					Terms: approvalTerms})) != 0 {
					c.prompt = 0
					c.closed = &End{Cause: event.CauseDismissed}
				}
			})
		default:
			if c.waits {
				break
			}
			at("send", func(w *world, c *call, do func(Event) []Effect) {
				if w.look(c, do) == 0 && !c.waits {
					c.phase = callRunning
				}
			})
		}
	case callAsking:
		if c.prompt != 0 && c.closed == nil {
			for _, cause := range []event.PromptCause{event.CauseAnswered, event.CauseDeclined, event.CauseSuperseded} {
				if cause != event.CauseSuperseded && !slices.Contains(w.windows[:], attached) {
					continue
				}
				at("approve "+cause.String(), func(w *world, c *call, do func(Event) []Effect) {
					do(Answered{c.prompt, End{Cause: cause}})
				})
			}
			at("nobody approves", func(w *world, c *call, do func(Event) []Effect) { do(PromptTimer{c.prompt}) })
		}
		if c.closed != nil {
			switch {
			case !c.stopped && (c.closed.Cause == event.CauseAnswered ||
				c.closed.Cause == event.CauseSuperseded && c.asked < 3):
				at("reads the approval", func(w *world, c *call, do func(Event) []Effect) {
					c.phase = callPassing
					if c.closed.Cause == event.CauseAnswered {
						c.phase = callAgreed
					}
					c.prompt, c.closed = 0, nil
				})
			case c.stopped || c.asked >= 3 || c.closed.Cause == event.CauseDeclined ||
				c.closed.Cause == event.CauseDismissed:
				at("comes back", over(CallOver{Failed: true}))
			}
		}
	case callRunning:
		if w.isStart(i) {
			for _, failed := range []bool{false, true} {
				at(fmt.Sprint("started, failed ", failed), func(w *world, c *call, do func(Event) []Effect) {
					c.phase = callOver
					do(StartOver{Request: c.n, Failed: failed, Lost: failed && w.lost})
				})
			}
			break
		}
		if w.rules.turns && !c.sent && !c.stopped {
			at("sent", func(w *world, c *call, do func(Event) []Effect) {
				c.sent = true
				do(Sent{c.n, id})
			})
		}
		if w.rules.turns && c.sent && c.stopped {
			at("comes back, and may go on", func(w *world, c *call, do func(Event) []Effect) {
				c.lingers = !w.lost
				over(CallOver{Failed: true, MayContinue: true})(w, c, do)
			})
		}
		at("result", over(CallOver{}))
		at("failure", over(CallOver{Failed: true}))
		if w.lost {
			at("lost", over(CallOver{Failed: true, Lost: true}))
		}
		if w.rules.tasks {
			at("cancelled by the server", over(CallOver{Failed: true, ByServer: &event.CancelCause{Origin: event.OriginServer}}))
			if c.task < 2 {
				at("task", func(w *world, c *call, do func(Event) []Effect) {
					c.task++
					do(TaskReported{c.n})
				})
			}
		}
	}
	if w.progress > 0 && c.phase == callRunning {
		at("progress", func(w *world, c *call, do func(Event) []Effect) {
			w.progress--
			do(Progressed{Request: c.n, Shown: true})
		})
	}
	if r := w.st.requests[c.n]; r != nil && !r.clock.due.IsZero() {
		at("timer", func(w *world, c *call, do func(Event) []Effect) { do(RequestTimer{c.n}) })
	}
}

// approvalTerms are those that a person is asked about.
var approvalTerms = Terms{Definition: "d", Policy: event.PolicyAsk}

// look lets the goroutine of a call look, and plays what it is told. The way through the gate is explored elsewhere
// (explore_gate_test.go).
func (w *world) look(c *call, do func(Event) []Effect) Refusal {
	e := Looked{Request: c.n, Step: c.step, Up: true}
	if w.rules.approval {
		e.Tool = ToolSeen{Called: true, Terms: approvalTerms}
	}
	effects := do(e)
	for _, effect := range effects {
		if e, ok := effect.(Needed); ok {
			c.step, c.waits = e.Step, e.Need == NeedTurn
		}
	}
	return refused(effects)
}

func (w *world) questionMoves(i int, add func(string, func(*world, func(Event) []Effect))) {
	q := w.questions[i]
	at := func(name string, run func(w *world, q *question, do func(Event) []Effect)) {
		add(fmt.Sprintf("%s %d", name, i), func(w *world, do func(Event) []Effect) { run(w, &w.questions[i], do) })
	}
	running := slices.IndexFunc(w.calls, func(c call) bool { return c.phase == callRunning && c.ended == 0 })
	switch q.phase {
	case 0:
		if w.ownQuestion(i) {
			at("launch", func(w *world, q *question, do func(Event) []Effect) {
				if !w.st.shows.Has(event.PromptServerLaunch, false) || w.st.draining {
					return
				}
				w.ask(q, do, Asked{Kind: event.PromptServerLaunch, Server: 1, Name: "s", Prefix: "launch",
					About: []ServerNumber{1}, Human: 1})
			})
		} else if running >= 0 && !w.lost && !w.isStart(running) {
			at("ask", func(w *world, q *question, do func(Event) []Effect) {
				e := Asked{Kind: event.PromptSampling, WithTools: true, Server: 1, Prefix: "ask", By: 1, Human: 1}
				switch {
				case w.rules.turns:
					e.OfSome = true
					e.Among, e.Past = w.among()
				case w.rules.rounds:
					e.Of = w.calls[running].n
				case w.rules.among:
					e.OfSome = true
				default:
					e.Parent = w.calls[running].n
				}
				w.ask(q, do, e)
				if e.Of != 0 {
					q.n = 0 // it is no request of its own
				}
			})
		}
		return
	case 2:
		return
	}
	if q.left == nil {
		at("withdraw", func(w *world, q *question, do func(Event) []Effect) {
			q.left = &Leave{End: End{Cause: event.CauseWithdrawn, Origin: event.OriginServer, Reason: "found it"},
				Ends: &event.CancelCause{Origin: event.OriginServer, Reason: "found it"}}
			if w.ownQuestion(i) {
				q.left.Done = w.cancels%2 == 1 // the browser has come back, say
			}
		})
	} else {
		at("asker sees that it is withdrawn", func(w *world, q *question, do func(Event) []Effect) {
			q.phase = 2
			do(AskerLeft{Request: q.n, Prompt: q.p, Leave: *q.left})
		})
	}
	if q.closed != nil {
		at("asker reads the answer", func(w *world, q *question, do func(Event) []Effect) {
			if q.phase = 2; q.n == 0 {
				q.written = q.left == nil
				return
			}
			w.following++
			defer func() { w.following-- }()
			for _, effect := range do(AnswerRead{Request: q.n, End: *q.closed, Left: q.left}) {
				if _, ok := effect.(ReplyDelayed); ok {
					q.delayed = true
				}
			}
			q.written = q.left == nil && !q.delayed
		})
	}
	if slices.Contains(w.windows[:], attached) && (q.opened > 0 || w.ownQuestion(i)) {
		for _, cause := range []event.PromptCause{event.CauseAnswered, event.CauseDeclined, event.CauseDismissed} {
			switch {
			case w.rules.compares && cause == event.CauseAnswered && q.compare == 0:
				at("compare", func(w *world, q *question, do func(Event) []Effect) {
					q.compare = 1
					do(Comparing{Prompt: q.p})
				})
			case w.rules.compares && cause == event.CauseAnswered:
			default:
				at("answer "+cause.String(), func(w *world, q *question, do func(Event) []Effect) {
					do(Answered{q.p, End{Cause: cause, Window: "w"}})
				})
			}
		}
	}
	if q.compare == 1 {
		for _, fits := range []bool{false, true} {
			at(fmt.Sprint("compared, fits ", fits), func(w *world, q *question, do func(Event) []Effect) {
				q.compare = 2
				w.following++
				do(Comparing{Prompt: q.p, Over: true, Fits: fits})
				if w.following--; fits {
					do(Answered{q.p, End{Cause: event.CauseAnswered, Window: "w"}})
				}
			})
		}
	}
	if q.client && w.st.prompts[q.p] != nil {
		at("client answers", func(w *world, q *question, do func(Event) []Effect) {
			do(Answered{q.p, End{Cause: event.CauseAnswered}})
		})
		at("client cannot be asked", func(w *world, q *question, do func(Event) []Effect) {
			q.client = false
			among, _ := w.among()
			do(ClientUnreachable{q.p, among})
		})
	}
	if w.ownQuestion(i) {
		at("another server follows, or leaves", func(w *world, q *question, do func(Event) []Effect) {
			q.follows = !q.follows
			do(Followed{Prompt: q.p, Server: 2, Left: !q.follows})
		})
		if r := w.st.requests[q.n]; r != nil && w.cancels > 0 {
			at("cancel the question", func(w *world, q *question, do func(Event) []Effect) {
				w.cancels--
				do(CancelAsked{ID: r.id, Server: "s", Cause: &event.CancelCause{Origin: event.OriginUser}})
			})
		}
	}
	at("nobody answers", func(w *world, q *question, do func(Event) []Effect) { do(PromptTimer{q.p}) })
}

func (w *world) ask(q *question, do func(Event) []Effect, e Asked) {
	q.p, q.n = w.st.asked+1, w.st.begun+1
	w.following++
	defer func() { w.following-- }()
	if refused(do(e)) == 0 {
		q.phase = 1
	} else {
		q.phase, q.p, q.n = 2, 0, 0
	}
}
