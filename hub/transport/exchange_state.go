package transport

import (
	"errors"
	"time"
)

// ExchangeState is the progress of a request and of its cancellation. Step is its one transition function. It is plain
// data, and is guarded by the lock of the transport. The explorer of hub/core goes through all orders of what can
// happen with it (explore_wire_test.go).
type ExchangeState struct {
	stage  exchangeStage
	cancel cancelStage

	whole   bool      // the HTTP client gets the body in one piece (see onePiece); it never changes
	traced  bool      // the RoundTripper reports its progress
	owns    bool      // its connection carries nothing else
	sealed  bool      // aborted before a byte had left, and its connection was closed
	doubt   bool      // aborted while the HTTP client had the whole body, and may have written it
	noted   bool      // the notification was posted: there is never a second one
	blind   bool      // it was posted before the headers of the answer came
	late    bool      // they came after the notification was posted
	closing bool      // the transport is being closed
	written time.Time // when the last byte was written
	sent    int       // how often the whole request was written
}

type exchangeStage uint8

const (
	stageQueued   exchangeStage = iota // no byte was written, or the server has not acted on what was
	stageWriting                       // it has a connection; the HTTP client has only a part of the body
	stageLeaving                       // the HTTP client has the whole body
	stageWritten                       // it was written to its end
	stageHeaders                       // the headers of the answer have come
	stageAnswered                      // the answer has come
	stageRefused                       // it failed, and the server has not acted on it
	stageFailed                        // it failed, and may have run
	stageDropped                       // aborted: nothing is received any more
)

// NewExchangeState returns the state of a request of which no byte was written. whole says that the HTTP client gets
// the body in one piece (see onePiece).
func NewExchangeState(whole bool) ExchangeState { return ExchangeState{whole: whole} }

// ExchangeEvent is something that happened to an exchange.
type ExchangeEvent struct {
	What ExchangeEventKind
	Now  time.Time // of EvWrote, EvCancel, EvLast, EvFailed
	Err  error     // of EvPosted and EvEnd; nil: the server has acknowledged the notification
	Owns bool      // of EvConn
}

// ExchangeEventKind is what happened to an exchange.
type ExchangeEventKind uint8

// What can happen to an exchange.
const (
	EvBack     ExchangeEventKind = iota // it is sent once more: the server has not acted on it
	EvConn                              // the HTTP client has a connection for it
	EvLast                              // the HTTP client wants the last bytes of the body
	EvWrote                             // the HTTP client has written it
	EvHeaders                           // the headers of an answer have come
	EvAnswered                          // the answer has come
	EvRefused                           // it failed, and the server has not acted on it
	EvFailed                            // it failed, and the server may have acted on it
	EvCancel                            // CancelAndAbort, in the legacy era
	EvAbort                             // Abort
	EvClock                             // the time of ExchangeOrders.Wait is over
	EvReturned                          // the goroutine of the exchange returns
	EvPosted                            // the notification was answered, or failed
	EvClosing                           // Close has begun: see exchanges.lastWords
	EvEnd                               // the transport has ended
)

// ExchangeOrders is what has to be done after a step.
type ExchangeOrders struct {
	Refuse  bool          // the HTTP client gets nothing more of the body
	Seal    bool          // close the connection
	Cut     bool          // end the exchange's context, and forget it
	Post    bool          // post the notification; EvPosted follows
	Wait    time.Duration // if > 0, EvClock follows after this time, and not before
	Settled bool          // the outcome of the cancellation is known: Err, as for CancelAndAbort
	Err     error
}

// Step is the transition function.
func (x *ExchangeState) Step(e ExchangeEvent) (do ExchangeOrders) {
	switch e.What {
	case EvBack:
		switch {
		case x.stage == stageDropped || x.noted && x.cancel != cancelAcknowledged:
			do.Refuse = true
		case x.cancel == cancelWaiting || x.cancel == cancelAcknowledged:
			x.stage = stageQueued
			x.drop(&do)
			x.settle(&do, ErrCancelNotNeeded)
			do.Refuse = true
		default:
			x.stage, x.written = stageQueued, time.Time{}
		}
	case EvConn:
		x.traced, x.owns = true, e.Owns
		switch {
		case x.stage == stageDropped && !x.doubt:
			x.sealed, do.Seal = true, true
		case x.stage == stageDropped:
		case x.whole:
			x.stage = stageLeaving
		default:
			x.stage = stageWriting
		}
	case EvLast:
		switch {
		case x.stage == stageDropped:
			do.Refuse = true
		case x.traced:
			x.stage = stageLeaving
		default:
			x.wrote(&do, e.Now) // there is no hook that reports it
		}
	case EvWrote:
		switch {
		case x.stage == stageDropped && x.doubt && x.cancel == cancelWaiting: // it was sent all the same, or will be
			x.written, do.Wait = e.Now, cancelDelay
			x.sent++
		case x.stage <= stageLeaving:
			x.wrote(&do, e.Now)
		}
	case EvHeaders:
		if x.stage <= stageWritten {
			x.came()
			x.stage, x.late = stageHeaders, x.noted
			switch x.cancel {
			case cancelWaiting:
				x.post(&do)
			case cancelAcknowledged:
				do.Wait = orderTime // if the server cancels the call, it ends the answer that it has just begun
			}
		}
	case EvAnswered, EvRefused, EvFailed:
		x.ended(&do, e)
	case EvCancel:
		x.cancelled(&do, e)
	case EvAbort:
		if x.stage != stageDropped {
			x.drop(&do)
		}
	case EvClock:
		x.clock(&do)
	case EvReturned:
		switch {
		case x.stage != stageDropped || x.cancel != cancelWaiting || !x.written.IsZero():
		case x.doubt:
			do.Wait = cancelDelay // its connection is closed, but wroteRequest may still be called
		default:
			x.settle(&do, ErrCancelNotNeeded)
		}
	case EvPosted:
		x.posted(&do, e.Err)
	case EvClosing:
		x.closing = true
		switch {
		case x.cancel == cancelAcknowledged:
			x.judge(&do)
		case x.cancel == cancelWaiting && x.Reached() && x.stage != stageLeaving:
			x.clock(&do)
		}
	case EvEnd:
		switch x.cancel {
		case cancelWaiting:
			x.settle(&do, e.Err)
		case cancelAcknowledged:
			x.judge(&do)
		}
	}
	return do
}

// ended handles the end of an exchange that was not aborted.
func (x *ExchangeState) ended(do *ExchangeOrders, e ExchangeEvent) {
	switch {
	case x.stage >= stageAnswered:
		return
	case e.What == EvAnswered:
		x.came()
		x.stage = stageAnswered
	case e.What == EvRefused || x.stage < stageLeaving:
		x.came()
		x.stage = stageRefused
	default: // a cancellation that waits goes on waiting: the server may be working
		if x.stage == stageLeaving {
			x.written = e.Now
		}
		x.stage = stageFailed
		if x.cancel == cancelAcknowledged {
			x.settle(do, nil)
		}
		return
	}
	switch {
	case x.cancel == cancelWaiting, x.cancel == cancelAcknowledged && x.stage == stageRefused:
		x.settle(do, ErrCancelNotNeeded)
	case x.cancel == cancelAcknowledged:
		x.settle(do, nil)
	}
}

func (x *ExchangeState) wrote(do *ExchangeOrders, now time.Time) {
	x.stage, x.written = stageWritten, now
	x.sent++
	if x.cancel == cancelWaiting {
		do.Wait = cancelDelay
	}
}

// came counts a request that was answered before the HTTP client reported that it was written.
func (x *ExchangeState) came() {
	if x.stage == stageLeaving || x.stage == stageWriting || x.stage == stageQueued && !x.traced {
		x.sent++
	}
}

func (x *ExchangeState) drop(do *ExchangeOrders) {
	if x.stage == stageLeaving {
		// net/http reports a short request as written once it is in the buffer of the connection, and flushes the buffer
		// after that. It has not reported this one, so nothing was sent, and a closed connection sends nothing.
		do.Seal = x.whole && x.owns
		x.sealed = do.Seal
		x.doubt = !do.Seal
	}
	x.stage, do.Cut = stageDropped, true
}

// Reached reports whether the server may know the request: the HTTP client has had the whole body.
func (x *ExchangeState) Reached() bool {
	switch x.stage {
	case stageQueued, stageWriting, stageRefused:
		return false
	case stageDropped:
		return x.doubt || !x.written.IsZero()
	}
	return true
}

// GivenUp reports whether nobody waits for the answer any more, so that nothing is sent again or resumed.
func (x *ExchangeState) GivenUp() bool { return x.stage == stageDropped || x.cancel != cancelNone }

// Dropped reports whether the exchange was aborted: nothing of it is received any more.
func (x *ExchangeState) Dropped() bool { return x.stage == stageDropped }

var exchangeEventNames = [...]string{"back", "conn", "last", "wrote", "headers", "answered", "refused", "failed",
	"cancel", "abort", "clock", "returned", "posted", "closing", "end"}

func (k ExchangeEventKind) String() string { return exchangeEventNames[k] }

// cancelDelay is how long a cancellation waits for the headers of the answer, after the last byte of its call was
// written. A server may read two connections in any order: a cancellation that arrives before its call names an unknown
// request, and the call runs on.
const cancelDelay = time.Second

// orderTime is how long a cancellation that was posted before the headers came, and was acknowledged, waits for news of
// its call. A server that reads the call only after the cancellation mostly sends headers at once.
const orderTime = time.Second

var (
	errMayBeFirst = errors.New("the answer to the call began only after the cancellation had been sent: " +
		"the server may have read the cancellation first, and may work on")
	errCallCut = errors.New("the connection of the call was closed while the call was written: " +
		"it is not known whether the server has read it")
)

// cancelStage is the progress of a cancellation in the legacy era.
type cancelStage uint8

const (
	cancelNone         cancelStage = iota
	cancelWaiting                  // accepted, and not posted yet
	cancelPosted                   // being posted
	cancelAcknowledged             // acknowledged; whether the server had read the call before is still open
	cancelSettled                  // its outcome was reported
)

// clock handles EvClock.
func (x *ExchangeState) clock(do *ExchangeOrders) {
	switch {
	case x.cancel == cancelAcknowledged:
		x.judge(do)
	case x.cancel != cancelWaiting:
	case x.stage == stageLeaving: // it hangs: the server or a proxy reads no more, or this machine is slow
		x.drop(do)
		if !x.doubt {
			x.settle(do, ErrCancelNotNeeded)
		}
	case x.stage == stageDropped && x.written.IsZero():
		x.settle(do, ErrCancelNotNeeded)
	case x.stage >= stageWritten:
		x.post(do)
	}
}

// posted handles EvPosted. The acknowledgement means that the server has read the cancellation. If the headers of the
// call came before, it had read the call first. Otherwise what becomes of the call shows that (see judge).
func (x *ExchangeState) posted(do *ExchangeOrders, err error) {
	switch {
	case x.cancel != cancelPosted:
		x.drop(do)
	case err == nil && x.blind && (x.stage == stageWritten || x.stage == stageHeaders) && !x.closing:
		x.cancel, do.Wait = cancelAcknowledged, orderTime
	case err == nil:
		x.judge(do)
	default:
		x.settle(do, err)
		x.drop(do)
	}
}

// judge decides the outcome of an acknowledged cancellation. If the server sends nothing about the call, it had read
// the call first, and obeys. If it has ended the call, it had read the call too. If it begins to answer only now, it
// may have read the cancellation first, in vain.
func (x *ExchangeState) judge(do *ExchangeOrders) {
	switch {
	case x.late && (x.stage == stageHeaders || x.stage == stageDropped):
		x.settle(do, errMayBeFirst)
	case x.blind && x.stage == stageDropped && x.doubt:
		x.settle(do, errCallCut)
	default:
		x.settle(do, nil)
	}
	x.drop(do)
}

// cancelled handles EvCancel.
func (x *ExchangeState) cancelled(do *ExchangeOrders, e ExchangeEvent) {
	if x.cancel != cancelNone {
		return
	}
	x.cancel = cancelWaiting
	switch x.stage {
	case stageQueued, stageWriting:
		x.drop(do)
		x.settle(do, ErrCancelNotNeeded)
	case stageAnswered, stageRefused, stageDropped:
		x.settle(do, ErrCancelNotNeeded)
	case stageLeaving:
		do.Wait = cancelDelay // until it is written; see clock
	case stageWritten, stageFailed:
		if do.Wait = cancelDelay - e.Now.Sub(x.written); do.Wait <= 0 {
			x.post(do)
		}
	case stageHeaders:
		x.post(do)
	}
}

func (x *ExchangeState) post(do *ExchangeOrders) {
	x.noted, x.blind, do.Post, do.Wait = true, x.stage != stageHeaders, true, 0
	if x.cancel == cancelWaiting {
		x.cancel = cancelPosted
	}
}

func (x *ExchangeState) settle(do *ExchangeOrders, err error) {
	if x.unsettled() {
		x.cancel, do.Settled, do.Err = cancelSettled, true, err
	}
}

// unsettled reports whether a cancellation was accepted and its outcome has not been reported yet.
func (x *ExchangeState) unsettled() bool {
	return x.cancel == cancelWaiting || x.cancel == cancelPosted || x.cancel == cancelAcknowledged
}
