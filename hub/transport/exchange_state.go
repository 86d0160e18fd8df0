package transport

import "time"

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
