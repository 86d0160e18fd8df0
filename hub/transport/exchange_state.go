package transport

import (
	"errors"
	"time"
)

// exchangeState is the progress of a request and of its cancellation. step is its one transition function. It is
// guarded by the lock of the transport.
type exchangeState struct {
	stage  exchangeStage
	cancel cancelStage
	told   func(error) // the callback of CancelAndAbort; called once, with the outcome

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

// exchangeEvent is something that happened to an exchange.
type exchangeEvent struct {
	what exchangeEventKind
	now  time.Time   // of evWrote, evCancel, evLast, evFailed
	told func(error) // of evCancel
	err  error       // of evPosted and evEnd; nil: the server has acknowledged the notification
	owns bool        // of evConn
}

type exchangeEventKind uint8

const (
	evBack     exchangeEventKind = iota // it is sent once more: the server has not acted on it
	evConn                              // the HTTP client has a connection for it
	evLast                              // the HTTP client wants the last bytes of the body
	evWrote                             // the HTTP client has written it
	evHeaders                           // the headers of an answer have come
	evAnswered                          // the answer has come
	evRefused                           // it failed, and the server has not acted on it
	evFailed                            // it failed, and the server may have acted on it
	evCancel                            // CancelAndAbort, in the legacy era
	evAbort                             // Abort
	evClock                             // the time of exchangeOrders.wait is over
	evReturned                          // the goroutine of the exchange returns
	evPosted                            // the notification was answered, or failed
	evFarewell                          // Close has begun: see lastWords
	evEnd                               // the transport has ended
)

// exchangeOrders is what has to be done after a step.
type exchangeOrders struct {
	refuse bool          // the HTTP client gets nothing more of the body
	seal   bool          // close the connection
	cut    bool          // end the exchange's context, and forget it
	post   bool          // post the notification; evPosted follows
	wait   time.Duration // if > 0, evClock follows after this time, and not before
	tell   func(error)   // to be called without the lock, with err
	err    error
}

// step is the transition function.
func (x *exchangeState) step(e exchangeEvent) (do exchangeOrders) {
	switch e.what {
	case evBack:
		switch {
		case x.stage == stageDropped || x.noted && x.cancel != cancelAcknowledged:
			do.refuse = true
		case x.cancel == cancelWaiting || x.cancel == cancelAcknowledged:
			x.stage = stageQueued
			x.drop(&do)
			x.settle(&do, ErrCancelNotNeeded)
			do.refuse = true
		default:
			x.stage, x.written = stageQueued, time.Time{}
		}
	case evConn:
		x.traced, x.owns = true, e.owns
		switch {
		case x.stage == stageDropped && !x.doubt:
			x.sealed, do.seal = true, true
		case x.stage == stageDropped:
		case x.whole:
			x.stage = stageLeaving
		default:
			x.stage = stageWriting
		}
	case evLast:
		switch {
		case x.stage == stageDropped:
			do.refuse = true
		case x.traced:
			x.stage = stageLeaving
		default:
			x.wrote(&do, e.now) // there is no hook that reports it
		}
	case evWrote:
		switch {
		case x.stage == stageDropped && x.doubt && x.cancel == cancelWaiting: // it was sent all the same, or will be
			x.written, do.wait = e.now, cancelDelay
			x.sent++
		case x.stage <= stageLeaving:
			x.wrote(&do, e.now)
		}
	case evHeaders:
		if x.stage <= stageWritten {
			x.came()
			x.stage, x.late = stageHeaders, x.noted
			switch x.cancel {
			case cancelWaiting:
				x.post(&do)
			case cancelAcknowledged:
				do.wait = orderTime // if the server cancels the call, it ends the answer that it has just begun
			}
		}
	case evAnswered, evRefused, evFailed:
		x.ended(&do, e)
	case evCancel:
		x.cancelled(&do, e)
	case evAbort:
		if x.stage != stageDropped {
			x.drop(&do)
		}
	case evClock:
		x.clock(&do)
	case evReturned:
		switch {
		case x.stage != stageDropped || x.cancel != cancelWaiting || !x.written.IsZero():
		case x.doubt:
			do.wait = cancelDelay // its connection is closed, but wroteRequest may still be called
		default:
			x.settle(&do, ErrCancelNotNeeded)
		}
	case evPosted:
		x.posted(&do, e.err)
	case evFarewell:
		x.closing = true
		switch {
		case x.cancel == cancelAcknowledged:
			x.judge(&do)
		case x.cancel == cancelWaiting && x.reached() && x.stage != stageLeaving:
			x.clock(&do)
		}
	case evEnd:
		switch x.cancel {
		case cancelWaiting:
			x.settle(&do, e.err)
		case cancelAcknowledged:
			x.judge(&do)
		}
	}
	return do
}

// ended handles the end of an exchange that was not aborted.
func (x *exchangeState) ended(do *exchangeOrders, e exchangeEvent) {
	switch {
	case x.stage >= stageAnswered:
		return
	case e.what == evAnswered:
		x.came()
		x.stage = stageAnswered
	case e.what == evRefused || x.stage < stageLeaving:
		x.came()
		x.stage = stageRefused
	default: // a cancellation that waits goes on waiting: the server may be working
		if x.stage == stageLeaving {
			x.written = e.now
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

func (x *exchangeState) wrote(do *exchangeOrders, now time.Time) {
	x.stage, x.written = stageWritten, now
	x.sent++
	if x.cancel == cancelWaiting {
		do.wait = cancelDelay
	}
}

// came counts a request that was answered before the HTTP client reported that it was written.
func (x *exchangeState) came() {
	if x.stage == stageLeaving || x.stage == stageWriting || x.stage == stageQueued && !x.traced {
		x.sent++
	}
}

func (x *exchangeState) drop(do *exchangeOrders) {
	if x.stage == stageLeaving {
		// net/http reports a short request as written once it is in the buffer of the connection, and flushes the buffer
		// after that. It has not reported this one, so nothing was sent, and a closed connection sends nothing.
		do.seal = x.whole && x.owns
		x.sealed = do.seal
		x.doubt = !do.seal
	}
	x.stage, do.cut = stageDropped, true
}

// reached reports whether the server may know the request: the HTTP client has had the whole body.
func (x *exchangeState) reached() bool {
	switch x.stage {
	case stageQueued, stageWriting, stageRefused:
		return false
	case stageDropped:
		return x.doubt || !x.written.IsZero()
	}
	return true
}

// givenUp reports whether nobody waits for the answer any more, so that nothing is sent again or resumed.
func (x *exchangeState) givenUp() bool { return x.stage == stageDropped || x.cancel != cancelNone }

var exchangeEventNames = [...]string{"back", "conn", "last", "wrote", "headers", "answered", "refused", "failed",
	"cancel",
	"abort", "clock", "returned", "posted", "farewell", "end"}

func (k exchangeEventKind) String() string { return exchangeEventNames[k] }

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

// clock handles evClock.
func (x *exchangeState) clock(do *exchangeOrders) {
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

// posted handles evPosted. The acknowledgement means that the server has read the cancellation. If the headers of the
// call came before, it had read the call first. Otherwise what becomes of the call shows that (see judge).
func (x *exchangeState) posted(do *exchangeOrders, err error) {
	switch {
	case x.cancel != cancelPosted:
		x.drop(do)
	case err == nil && x.blind && (x.stage == stageWritten || x.stage == stageHeaders) && !x.closing:
		x.cancel, do.wait = cancelAcknowledged, orderTime
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
func (x *exchangeState) judge(do *exchangeOrders) {
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

// cancelled handles evCancel.
func (x *exchangeState) cancelled(do *exchangeOrders, e exchangeEvent) {
	if x.cancel != cancelNone {
		do.tell, do.err = e.told, errCancelledTwice
		return
	}
	x.cancel, x.told = cancelWaiting, e.told
	switch x.stage {
	case stageQueued, stageWriting:
		x.drop(do)
		x.settle(do, ErrCancelNotNeeded)
	case stageAnswered, stageRefused, stageDropped:
		x.settle(do, ErrCancelNotNeeded)
	case stageLeaving:
		do.wait = cancelDelay // until it is written; see clock
	case stageWritten, stageFailed:
		if do.wait = cancelDelay - e.now.Sub(x.written); do.wait <= 0 {
			x.post(do)
		}
	case stageHeaders:
		x.post(do)
	}
}

func (x *exchangeState) post(do *exchangeOrders) {
	x.noted, x.blind, do.post, do.wait = true, x.stage != stageHeaders, true, 0
	if x.cancel == cancelWaiting {
		x.cancel = cancelPosted
	}
}

func (x *exchangeState) settle(do *exchangeOrders, err error) {
	if x.cancel == cancelSettled || x.told == nil {
		return
	}
	x.cancel = cancelSettled
	do.tell, do.err = x.told, err
	x.told = nil
}

// unsettled reports whether a cancellation was accepted and its outcome has not been reported yet.
func (x *exchangeState) unsettled() bool {
	return x.cancel == cancelWaiting || x.cancel == cancelPosted || x.cancel == cancelAcknowledged
}
