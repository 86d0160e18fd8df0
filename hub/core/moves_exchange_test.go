package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// wireExchange is the exchange of a call over HTTP: the goroutine that carries it, the HTTP client, and the POST of its
// cancel. Its state is the real one.
type wireExchange struct {
	state   transport.ExchangeState
	open    bool // Receive has not returned its end
	runs    bool // its goroutine
	cut     bool // its context has ended
	sealed  bool // its connection was closed
	conn    bool // the HTTP client has a connection
	handed  bool // and the whole body
	wrote   bool // and has reported that it was written
	headers bool
	refused bool // the HTTP client gets no other try
	again   bool // it was sent once more
	ends    bool // its answer has come, or it has failed
	finals  int  // 1: what ends it has arrived; 2: it was received
	clock   bool // a wait was ordered
	posting int  // the cancel: 1 is posted, 2 was read
	posts   int
}

// rests reports whether nothing of the exchange is under way.
func (x *wireExchange) rests() bool { return !x.runs && x.posting == 0 && !x.clock }

var errWireFailed = errors.New("the POST failed")

// step makes a transition of the exchange of a call, and plays what it orders, as exchanges.stepLocked does.
func (w *wireWorld) step(i int, e transport.ExchangeEvent) (refused bool) {
	c := &w.calls[i]
	x := &c.ex
	e.Now = start
	if e.What == transport.EvClock {
		x.clock = false
		x.sealed = x.sealed || !x.runs // it was closed long ago
	}
	do := x.state.Step(e)
	if do.Post && w.carrier == carrierOver {
		do = x.state.Step(transport.ExchangeEvent{What: transport.EvPosted, Err: transport.ErrHTTPClosed})
		do.Refuse = true
	}
	x.sealed = x.sealed || do.Seal
	if do.Cut {
		x.cut, x.open = true, false
	}
	x.clock = x.clock || do.Wait > 0
	if do.Post {
		x.posting = 1
		if w.saw("a cancel is posted"); !x.headers {
			w.saw("a cancel is posted before the headers of its call have come")
		}
		if x.posts++; x.posts > 1 || !c.sent {
			w.breaks("the cancel of call %d is posted %d times, sent %v", i, x.posts, c.sent)
		}
	}
	if do.Settled {
		x.clock = false
		err := do.Err
		if errors.Is(err, transport.ErrCancelNotNeeded) {
			err = jsonrpc.ErrCancelNotNeeded
		}
		w.settle(i, err)
	}
	return do.Refuse
}

// cancelExchange is exchangeRoute.Cancel.
func (w *wireWorld) cancelExchange(i int) {
	switch x := &w.calls[i].ex; {
	case w.carrier == carrierOver:
		w.settle(i, transport.ErrHTTPClosed)
	case w.rules.modern:
		if w.abort(i) {
			w.settle(i, nil)
		} else {
			w.settle(i, jsonrpc.ErrCancelNotNeeded)
		}
	case !x.open:
		w.settle(i, jsonrpc.ErrCancelNotNeeded)
	default:
		w.step(i, transport.ExchangeEvent{What: transport.EvCancel})
	}
}

// abort is exchanges.Abort.
func (w *wireWorld) abort(i int) (written bool) {
	x := &w.calls[i].ex
	if !x.open {
		return false
	}
	w.step(i, transport.ExchangeEvent{What: transport.EvAbort})
	return x.state.Reached()
}

// exchangeMoves are those of the goroutine of an exchange, of the HTTP client, and of the other end of it.
func (w *wireWorld) exchangeMoves(i int, add addMove) {
	if !w.rules.http {
		return
	}
	c := w.calls[i]
	x := c.ex
	at := func(name string, run func(w *wireWorld, c *wireCall, x *wireExchange)) {
		add(fmt.Sprint(name, " ", i), func(w *wireWorld) { run(w, &w.calls[i], &w.calls[i].ex) })
	}
	happens := func(what transport.ExchangeEventKind) transport.ExchangeEvent {
		return transport.ExchangeEvent{What: what}
	}
	returns := func(w *wireWorld, x *wireExchange) {
		x.runs = false
		w.in = slices.DeleteFunc(w.in, func(m message) bool { return m.source == i+1 })
		w.step(i, happens(transport.EvReturned))
	}
	if x.clock && (x.wrote || !c.read) { // what has left is reported long before the clock
		at("the clock of the exchange", func(w *wireWorld, _ *wireCall, _ *wireExchange) {
			w.step(i, happens(transport.EvClock))
		})
	}
	if x.posting == 1 {
		at("the server reads the cancel of call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.posting = 2
			w.readsCancel(i)
		})
	}
	posted := func(name string, err error) {
		at(name, func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.posting = 0
			w.step(i, transport.ExchangeEvent{What: transport.EvPosted, Err: err})
		})
	}
	if x.posting == 2 {
		posted("the server acknowledges the cancel of call", nil)
	}
	if x.posting > 0 {
		posted("the POST fails of the cancel of call", errWireFailed)
	}
	if x.handed && !x.wrote && !x.sealed && (x.runs || x.clock) { // the clock runs as long as it may still be reported
		at("the HTTP client has written call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.wrote = true
			w.step(i, happens(transport.EvWrote))
			w.calls[i].read = w.calls[i].read || !w.rules.pieces // what was given as a whole leaves when it was reported
		})
	}
	if x.handed && w.rules.pieces && !c.read && !x.sealed {
		at("the server reads call", func(_ *wireWorld, c *wireCall, _ *wireExchange) { c.read = true })
	}
	if !x.runs {
		return
	}
	if x.cut {
		at("the goroutine of the exchange returns", func(w *wireWorld, _ *wireCall, x *wireExchange) { returns(w, x) })
	}
	if !x.conn && !x.refused && w.carrier < carrierOver {
		at("the HTTP client has a connection for call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.conn = true
			w.step(i, transport.ExchangeEvent{What: transport.EvConn, Owns: !w.rules.shared})
			x.handed = !x.sealed && !w.rules.pieces
		})
	}
	if x.conn && !x.handed && !x.refused && !x.sealed {
		at("the HTTP client wants the last bytes of call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.refused = w.step(i, happens(transport.EvLast))
			x.handed = !x.refused
		})
	}
	if x.cut {
		return
	}
	if c.read && !x.headers {
		at("the headers come of call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
			x.headers = true
			w.step(i, happens(transport.EvHeaders))
		})
	}
	fails := func(w *wireWorld, c *wireCall, x *wireExchange, what transport.ExchangeEventKind) {
		w.step(i, happens(what))
		if x.ends, c.notSent = true, what == transport.EvRefused; x.state.GivenUp() {
			x.open = false
			returns(w, x)
			return
		}
		x.finals = 1
		w.arrived = append(w.arrived, message{kind: failedMessage, n: i, source: i + 1})
		returns(w, x)
	}
	if w.rules.breaks && x.handed && !x.ends {
		if !x.headers && !c.read {
			at("the server refuses call", func(w *wireWorld, c *wireCall, x *wireExchange) {
				fails(w, c, x, transport.EvRefused)
			})
			if !x.again {
				at("the connection was dead of call", func(w *wireWorld, _ *wireCall, x *wireExchange) {
					x.again, x.conn, x.handed, x.wrote = true, false, false, false
					x.refused = w.step(i, happens(transport.EvBack))
				})
			}
		}
		if x.wrote {
			at("the stream breaks of call", func(w *wireWorld, c *wireCall, x *wireExchange) {
				fails(w, c, x, transport.EvFailed)
			})
		}
	}
	if x.refused && !x.ends {
		at("the HTTP client gives up call", func(w *wireWorld, c *wireCall, x *wireExchange) {
			fails(w, c, x, transport.EvRefused)
		})
	}
	if x.ends {
		at("the stream ends of call", func(w *wireWorld, _ *wireCall, x *wireExchange) { returns(w, x) })
	}
}

// streamMoves are those of several streams: what is on one keeps its order, and any of them may be the first.
func (w *wireWorld) streamMoves(add addMove) {
	if !w.rules.http {
		return
	}
	for source := range len(w.calls) + 1 {
		k := slices.IndexFunc(w.in, func(m message) bool { return m.source == source })
		if k < 0 || source > 0 && w.calls[source-1].ex.cut || w.carrier == carrierOver {
			continue
		}
		add(fmt.Sprint("something comes on stream ", source), func(w *wireWorld) {
			m := w.in[k]
			w.in = slices.Delete(w.in, k, k+1)
			w.bring(m)
		})
	}
}

// bring is Streamable.bring: a message comes from the stream of an exchange, or from the one that belongs to no call.
func (w *wireWorld) bring(m message) {
	if m.kind == resultMessage && w.calls[m.n].ex.finals == 0 {
		x := &w.calls[m.n].ex
		x.ends, x.finals = true, 1
		w.step(m.n, transport.ExchangeEvent{What: transport.EvAnswered})
	}
	w.arrived = append(w.arrived, m)
}

// checkExchange looks at the exchange of a call.
func (w *wireWorld) checkExchange(i int) {
	c := &w.calls[i]
	switch x := &c.ex; {
	case x.posts > 0 && w.rules.modern:
		w.breaks("a cancel of call %d is posted in the modern era", i)
	case x.posts > 0 && !x.handed && !x.again:
		w.breaks("a cancel of call %d is posted, which was not written", i)
	case c.sent && c.settled > 0 && c.err == jsonrpc.ErrCancelNotNeeded && c.read && !x.ends && x.finals == 0:
		w.breaks("the cancel of call %d counts as not needed, and the server has the call", i)
	case w.quiet() && x.open:
		w.breaks("nothing is under way, and the exchange of call %d is left", i)
	}
}

// Stages of the end of the transport: exchanges.close.
const (
	carrierOpen = iota
	carrierClosing
	carrierOver
)

// carrierMoves are those of the end of the transport.
func (w *wireWorld) carrierMoves(add addMove) {
	if !w.rules.http {
		return
	}
	all := func(w *wireWorld, e transport.ExchangeEvent) {
		for i := range w.calls {
			if c := &w.calls[i]; c.sent && c.settled == 0 && c.phase > wireSaysCancel {
				w.step(i, e)
			}
		}
	}
	switch {
	case w.closing >= 2 && w.carrier == carrierOpen:
		add("the transport says its last words", func(w *wireWorld) {
			w.carrier = carrierClosing
			all(w, transport.ExchangeEvent{What: transport.EvClosing})
		})
	case w.carrier == carrierClosing:
		add("the transport ends", func(w *wireWorld) {
			w.carrier = carrierOver
			all(w, transport.ExchangeEvent{What: transport.EvEnd, Err: transport.ErrHTTPClosed})
			for i := range w.calls {
				w.calls[i].ex.cut, w.calls[i].ex.open = true, false
			}
			w.in, w.out, w.arrived = nil, nil, nil
		})
	}
}
