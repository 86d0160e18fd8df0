package transport

import (
	"errors"
	"time"
)

// cancelDelay is how long a cancellation waits, from the last byte of its call on, for the headers of the answer. A
// server may read two connections in any order: a cancellation that arrives before its call names an unknown request,
// and the call runs on.
const cancelDelay = time.Second

// orderTime is how long a cancellation that went out before the headers of its call had come, and was acknowledged,
// waits for what becomes of its call. A server that reads the call only now mostly gives headers at once.
const orderTime = time.Second

var (
	errMayBeFirst = errors.New("the answer to the call began only after the cancellation had been sent: " +
		"the server may have read the cancellation first, and may work on")
	errCallCut = errors.New("the connection of the call was closed while the call was written: " +
		"it is not known whether the server has read it")
)

// cancelStage is the life of a cancellation in the legacy era.
type cancelStage uint8

const (
	cancelNone         cancelStage = iota
	cancelWaiting                  // accepted; its time has not come
	cancelPosted                   // on its way
	cancelAcknowledged             // acknowledged; what becomes of the call shows whether the server had read that before
	cancelSettled                  // told
)

// clock is evClock.
func (x *exchangeState) clock(do *exchangeOrders) {
	switch {
	case x.cancel == cancelAcknowledged:
		x.judge(do)
	case x.cancel != cancelWaiting:
	case x.stage == stageLeaving: // it hangs: the server, or what is between, takes no more; or this machine is slow
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

// posted is evPosted. The acknowledgement says that the server has read the cancellation. Whether it had read the call
// before is known when the headers of the call had come; else what becomes of the call tells.
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

// judge says of a cancellation that was acknowledged whether it is with the server. A server that says nothing of the
// call had it before: this is what one does that obeys, and has sent no headers. One that has ended the call had it,
// too.
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

// cancelled is evCancel.
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
		do.wait = cancelDelay // to be written; see evClock
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

// unsettled: a cancellation was accepted, and what becomes of it is not told yet.
func (x *exchangeState) unsettled() bool {
	return x.cancel == cancelWaiting || x.cancel == cancelPosted || x.cancel == cancelAcknowledged
}
