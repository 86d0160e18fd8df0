package core

import (
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// serverMoves are what the server writes.
func (w *wireWorld) serverMoves(add addMove) {
	if w.dead {
		return
	}
	says := func(name string, m message, did func(w *wireWorld)) {
		for source := range len(w.calls) + 1 {
			open := source == 0 && (!w.rules.http || w.rules.apart && m.kind != resultMessage && w.carrier < carrierOver)
			if w.rules.http && source > 0 && (m.kind != resultMessage || source == m.n+1) {
				x := w.calls[source-1].ex
				open = x.runs && x.headers && !x.cut
			}
			if !open {
				continue
			}
			where := ""
			if w.rules.http {
				where = fmt.Sprint(" on stream ", source)
			}
			add(fmt.Sprint("the server ", name, " ", m.n, where), func(w *wireWorld) {
				did(w)
				said := m
				if said.source = source; w.rules.http && !w.rules.apart { // one stream: it is on its way for nobody but itself
					w.bring(said)
				} else {
					w.in = append(w.in, said)
				}
			})
		}
	}
	read := false
	for i, c := range w.calls {
		if read = read || c.read && c.phase != wireUnmade; c.read && c.responses < w.rules.results {
			says("answers call", message{kind: resultMessage, n: i}, func(w *wireWorld) { w.calls[i].responses++ })
		}
	}
	for j, a := range w.asks {
		before := j == 0 || w.asks[j-1].phase != askUnasked && (!w.rules.sameID || w.asks[j-1].unsaid > 0 ||
			w.asks[j-1].answers > 0)
		if a.phase == askUnasked && read && before && !w.rules.first {
			says("asks", message{kind: askMessage, n: j}, func(w *wireWorld) { w.asks[j].phase = askOnWire })
		}
		if a.phase != askUnasked && a.unsaid < w.rules.unsaid && (!w.rules.sameID || j == len(w.asks)-1 ||
			w.asks[j+1].phase == askUnasked) {
			says("withdraws", message{kind: withdrawMessage, n: j}, func(w *wireWorld) { w.asks[j].unsaid++ })
		}
	}
	if w.notes > 0 && read {
		says("sends a notification", message{kind: noteMessage}, func(w *wireWorld) { w.notes-- })
	}
	if w.rules.dies {
		add("the server ends", func(w *wireWorld) {
			w.dead = true
			w.in = append(w.in, message{kind: endMessage})
		})
	}
}

// pipeMoves are what the server reads. A frame is taken from the queue and read in one step: what the server does after
// that is a step of its own anyway.
func (w *wireWorld) pipeMoves(add addMove) {
	if w.failed || len(w.out) == 0 {
		return
	}
	for k, m := range w.out {
		if k > 0 && !w.rules.http {
			break
		}
		add(fmt.Sprint("the server reads ", [...]string{callMessage: "call", cancelMessage: "the cancel of call",
			answerMessage: "the answer to question"}[m.kind], " ", m.n), func(w *wireWorld) {
			w.out = slices.Delete(w.out, k, k+1)
			switch m.kind {
			case callMessage:
				w.calls[m.n].frame, w.calls[m.n].read = frameTaken, true
			case cancelMessage:
				w.readsCancel(m.n)
				w.settle(m.n, nil)
			case answerMessage:
				w.readsAnswer(m.n)
			}
		})
	}
}

func (w *wireWorld) readsCancel(i int) {
	c := &w.calls[i]
	switch c.told++; {
	case c.told > 1:
		w.breaks("the server reads %d cancels of call %d", c.told, i)
	case w.table.calls[i].Method == "initialize":
		w.breaks("the server reads a cancel of initialize")
	case !c.read && !w.rules.http:
		w.breaks("the server reads a cancel of call %d, which it does not know", i)
	case c.matched:
		w.breaks("the server reads a cancel of call %d, whose response was taken", i)
	}
}

func (w *wireWorld) readsAnswer(j int) {
	a := &w.asks[j]
	switch a.answers++; {
	case a.answers > 1:
		w.breaks("the server reads %d answers to question %d", a.answers, j)
	case a.taken, a.early:
		w.breaks("the server reads an answer to question %d, and its withdrawal was read before", j)
	}
}

// readerMoves are those of the reading goroutine.
func (w *wireWorld) readerMoves(add addMove) {
	m := w.reads
	switch m.kind {
	case noMessage:
		if w.over {
			return
		}
		from := &w.in
		if w.rules.http {
			from = &w.arrived
		}
		if len(*from) > 0 {
			add("the reader reads", func(w *wireWorld) { w.receive() })
		}
	case resultMessage, failedMessage:
		switch {
		case w.stage == 0:
			add(fmt.Sprint("the table takes the response to call ", m.n), func(w *wireWorld) { w.takeResponse(m) })
		case w.calls[m.n].late:
			add(fmt.Sprint("the session hears of the late response to call ", m.n), func(w *wireWorld) {
				w.read()
				w.calls[m.n].lingers = false
				w.apply(AnsweredLate{Server: 1, WireID: fmt.Sprint(m.n + 1), Request: w.calls[m.n].n})
			})
		default:
			add(fmt.Sprint("the response goes to call ", m.n), func(w *wireWorld) {
				w.read()
				w.deliver(m.n)
			})
		}
	case askMessage:
		w.askCame(m, add)
	case withdrawMessage:
		if w.stage == 0 {
			add(fmt.Sprint("the table takes the withdrawn question ", m.n), func(w *wireWorld) {
				if a := &w.asks[m.n]; !w.play('w', m.n) {
					w.saw("a withdrawal finds nothing")
					w.read()
					a.early = a.phase == askOnWire
					return
				}
				if a := w.asks[w.table.withdrawn]; a.closed != nil && a.closed.Cause == event.CauseAnswered {
					w.saw("a question is withdrawn that a person has answered")
				}
				w.reads.n = w.table.withdrawn
				w.stage = 1
				a := &w.asks[w.reads.n]
				if a.taken = true; a.replied {
					w.breaks("question %d is answered, and its withdrawal takes it", w.reads.n)
				}
			})
		} else {
			add(fmt.Sprint("the context ends of question ", m.n), func(w *wireWorld) {
				w.read()
				w.asks[m.n].ctx = withdrawn
			})
		}
	case noteMessage:
		add("the reader queues the notification", func(w *wireWorld) {
			w.read()
			w.inbox = append(w.inbox, m)
		})
	case endMessage:
		add("the connection begins to end", func(w *wireWorld) {
			w.read()
			w.over = true
			w.closing = max(w.closing, 1)
		})
	}
}

// receive takes what the pipe brings next or, over HTTP, what the transport received. What came of an exchange that was
// aborted is dropped there, and of two ends of one exchange, the second.
func (w *wireWorld) receive() {
	if !w.rules.http {
		w.reads, w.in = w.in[0], w.in[1:]
		return
	}
	m := w.arrived[0]
	w.arrived = w.arrived[1:]
	if m.source > 0 {
		x := &w.calls[m.source-1].ex
		final := (m.kind == resultMessage || m.kind == failedMessage) && x.finals < 2
		switch {
		case final:
			if x.finals = 2; !x.open {
				return
			}
			x.open = false
		case x.state.Dropped():
			return
		}
	}
	w.reads = m
}

// read ends the handling of a message.
func (w *wireWorld) read() { w.reads, w.stage = message{}, 0 }

// takeResponse is Peer.response up to the inbox.
func (w *wireWorld) takeResponse(m message) {
	c := &w.calls[m.n]
	switch ok, late := w.table.play('r', m.n); {
	case ok:
		if w.stage = 1; w.rules.notes == 0 { // nothing can wait in the inbox
			w.read()
			w.deliver(m.n)
		}
		if c.matched, c.outcome = true, outcomeResult; m.kind == failedMessage {
			c.matched, c.outcome = false, outcomeFailed
		}
		if c.sent {
			w.breaks("call %d was cancelled on the wire, and its response is taken", m.n)
		}
	case late && m.kind == resultMessage:
		w.saw("a response is late")
		w.stage, c.late = 1, true
	default:
		w.saw("a response is of no call")
		w.read()
	}
}

// deliver is inbox.settle.
func (w *wireWorld) deliver(i int) {
	c := &w.calls[i]
	if c.urgent || len(w.inbox) == 0 && !w.busy {
		c.done = true
		return
	}
	c.queued = true
	w.inbox = append(w.inbox, message{kind: resultMessage, n: i})
}

// askCame registers a question, and finds out whose it is. Over HTTP that waits for a call whose wire id is not known
// so far.
func (w *wireWorld) askCame(m message, add addMove) {
	if m.source > 0 && slices.ContainsFunc(w.calls, func(c wireCall) bool {
		return c.phase >= wireRegisters && c.phase <= wireTellsID
	}) {
		return
	}
	add(fmt.Sprint("registers question ", m.n), func(w *wireWorld) {
		a := &w.asks[m.n]
		w.read()
		if a.phase = askBegins; !w.play('q', m.n) {
			if a.phase, a.taken = askOver, a.early; a.early {
				w.saw("a withdrawal has overtaken its question")
			} else if w.closing == 0 {
				w.breaks("question %d is refused", m.n)
			}
			return
		}
		if m.source > 0 {
			c := &w.calls[m.source-1]
			if a.isOver = c.lingers || c.phase > wireLeaves; !a.isOver {
				a.of = m.source
			}
			return
		}
		live, lingering := 0, false
		for i, c := range w.calls {
			if lingering = lingering || c.lingers; c.onWire && !c.given {
				live++
				a.of = i + 1
			}
		}
		switch {
		case live == 0:
			a.isOver = lingering
		case live > 1 || lingering:
			a.of, a.some = 0, true
			w.saw("it is not known whose a question is")
		}
	})
}

// inboxMoves are those of the goroutine that delivers.
func (w *wireWorld) inboxMoves(add addMove) {
	if w.busy {
		add("it is delivered", func(w *wireWorld) {
			if w.busy = false; w.handles.kind == resultMessage {
				w.calls[w.handles.n].done = true
			}
			w.handles = message{}
		})
	} else if len(w.inbox) > 0 {
		add("the next is to be delivered", func(w *wireWorld) {
			w.busy, w.handles, w.inbox = true, w.inbox[0], w.inbox[1:]
		})
	}
}

// endMoves are the steps of Peer.end.
func (w *wireWorld) endMoves(add addMove) {
	switch w.closing {
	case 0:
		if w.rules.closes {
			add("the hub closes the connection", func(w *wireWorld) { w.closing = 1 })
		}
	case 1:
		add("the outbox closes", func(w *wireWorld) {
			if w.closing, w.failed = 2, true; w.rules.http {
				return
			}
			for _, m := range w.out {
				switch m.kind {
				case callMessage:
					w.calls[m.n].frame = frameDropped
				case cancelMessage:
					w.settle(m.n, errWireClosed)
				}
			}
			w.out = nil
		})
	case 2:
		add("the table ends", func(w *wireWorld) {
			w.closing = 3
			for i := range w.calls {
				if c := &w.calls[i]; w.table.real.Has(jsonrpc.Outgoing, w.table.calls[i].ID) {
					c.outcome = outcomeClosed
				}
			}
			w.play('e', 0)
		})
	case 3:
		add("the contexts of questions end", func(w *wireWorld) {
			w.closing = 4
			for j := range w.asks {
				if a := &w.asks[j]; a.phase >= askBegins && !a.replied && a.ctx == alive && !a.taken {
					a.ctx = connectionEnded
				}
			}
		})
	case 4:
		add("the calls are woken", func(w *wireWorld) {
			w.closing = 5
			for i := range w.calls {
				if c := &w.calls[i]; c.outcome == outcomeClosed && c.phase < wireLeaves {
					c.done = true
				}
			}
		})
	case 5:
		add("the inbox closes", func(w *wireWorld) { w.closing = 6 })
	case 6:
		if !w.heard {
			add("the hub hears that the connection has ended", func(w *wireWorld) {
				w.heard = true
				for i := range w.calls {
					w.calls[i].lingers = false
				}
				w.apply(ConnectionEnded{Connection: 1, Server: 1})
			})
		}
		if !w.over && (!w.rules.http || w.carrier == carrierOver) && w.reads.kind == noMessage {
			add("the reader ends", func(w *wireWorld) { w.over, w.dead, w.in = true, true, nil })
		}
	}
}
