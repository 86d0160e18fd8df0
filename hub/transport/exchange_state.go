package transport

import "time"

// exchangeState is how far a request has gone, and how far its cancellation has. step is its one transition function.
// It is guarded by the lock of the transport.
type exchangeState struct {
	stage  exchangeStage
	cancel cancelStage
	told   func(error) // what CancelAndAbort was given; called once

	whole   bool      // the HTTP client gets the body in one piece, with the connection; it never changes
	traced  bool      // the RoundTripper tells how far it is
	owns    bool      // its connection carries nothing else
	sealed  bool      // aborted before a byte had left, and its connection was closed
	doubt   bool      // aborted while the HTTP client had the whole body in its hands: it may have written it
	noted   bool      // the notification was posted: there is never a second one
	blind   bool      // it was posted before the headers of the answer had come
	late    bool      // they came after that
	closing bool      // the transport is being closed
	written time.Time // when the last byte was written
	sent    int       // how often the whole request was written
}

type exchangeStage uint8

const (
	stageQueued   exchangeStage = iota // no byte has left, or what left did nothing at the server
	stageWriting                       // it has a connection; a part of the body is still here
	stageLeaving                       // the HTTP client has all of the body in its hands
	stageWritten                       // it was written to its end
	stageHeaders                       // the headers of the answer have come
	stageAnswered                      // the answer has come
	stageRefused                       // it failed, and the server has done nothing with it
	stageFailed                        // it failed, and may have run
	stageDropped                       // aborted: nothing comes in any more
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
	evBack     exchangeEventKind = iota // it will be sent once more: nothing was done with it
	evConn                              // the HTTP client has a connection for it
	evLast                              // the HTTP client wants the last bytes of the body
	evWrote                             // the HTTP client has written it
	evHeaders                           // the headers of an answer have come
	evAnswered                          // the answer has come
	evRefused                           // it failed, and the server has done nothing with it
	evFailed                            // it failed, and nothing is known of the server
	evCancel                            // CancelAndAbort, in the legacy era
	evAbort                             // Abort
	evClock                             // the time asked for is over
	evReturned                          // the HTTP client has let go of an exchange that was aborted
	evPosted                            // the notification was answered, or failed
	evFarewell                          // the transport is about to be closed
	evEnd                               // the transport has ended
)

// exchangeOrders is what has to be done after a step.
type exchangeOrders struct {
	refuse bool          // the HTTP client gets nothing more of the body
	seal   bool          // close the connection
	cut    bool          // end the exchange's context, and forget it
	post   bool          // post the notification; evPosted tells what came of it
	wait   time.Duration // > 0: evClock after this time, and not before
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
			x.wrote(&do, e.now) // nobody will tell
		}
	case evWrote:
		switch {
		case x.stage == stageDropped && x.doubt && x.cancel == cancelWaiting: // it slipped out, or is about to
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
				do.wait = orderTime // a server that cancels the call ends the answer that it has just begun
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
			do.wait = cancelDelay // its connection is closed, but who wrote to it may be yet to tell
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

// ended is the end of an exchange, unless it was aborted.
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
	default: // one that waits for its clock goes on doing so: the server may be working
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

// came counts a request that was answered before the HTTP client has said that it was written.
func (x *exchangeState) came() {
	if x.stage == stageLeaving || x.stage == stageWriting || x.stage == stageQueued && !x.traced {
		x.sent++
	}
}

func (x *exchangeState) drop(do *exchangeOrders) {
	if x.stage == stageLeaving {
		// net/http tells that it has written a short request when that is in the buffer of the connection, and flushes the
		// buffer after that. It was not told, so nothing has left, and a connection that is closed takes nothing.
		do.seal = x.whole && x.owns
		x.sealed = do.seal
		x.doubt = !do.seal
	}
	x.stage, do.cut = stageDropped, true
}

// reached tells whether the whole body has been in the hands of the HTTP client, so that the server may know the
// request.
func (x *exchangeState) reached() bool {
	switch x.stage {
	case stageQueued, stageWriting, stageRefused:
		return false
	case stageDropped:
		return x.doubt || !x.written.IsZero()
	}
	return true
}

// givenUp: nobody waits for the answer any more, so nothing is sent again and nothing is resumed.
func (x *exchangeState) givenUp() bool { return x.stage == stageDropped || x.cancel != cancelNone }

var exchangeEventNames = [...]string{"back", "conn", "last", "wrote", "headers", "answered", "refused", "failed",
	"cancel",
	"abort", "clock", "returned", "posted", "farewell", "end"}

func (k exchangeEventKind) String() string { return exchangeEventNames[k] }
