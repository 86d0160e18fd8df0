package transport

import (
	"errors"
	"time"
)

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
