package jsonrpc

import (
	"errors"
	"sync"
)

// Delivery is what is known of the way of one cancel to the peer. It never says that the peer has stopped: nothing in
// the protocol tells that.
type Delivery uint8

const (
	// NotNeeded: nothing had to be told. The request was never written, or nothing of it is open at the peer.
	NotNeeded Delivery = iota
	// Pending: the cancel is on its way. It becomes Delivered or Failed (or NotNeeded, when the request turns out not to
	// have gone).
	Pending
	// Delivered: the bytes of the cancel are in the peer's pipe, its HTTP end has acknowledged it, or the stream that
	// stands for the request was closed.
	Delivered
	// Failed: the cancel did not get to the peer, as far as this side can know.
	Failed
)

// String is the word for logs.
func (d Delivery) String() string {
	switch d {
	case NotNeeded:
		return "not needed"
	case Pending:
		return "pending"
	case Delivered:
		return "delivered"
	case Failed:
		return "failed"
	}
	return "unknown"
}

// ErrCancelNotNeeded is what a CancelRoute calls told with when the request was never written to its end, so that no
// cancel went out.
var ErrCancelNotNeeded = errors.New("jsonrpc: the request was never written, so no cancel was sent")

// cancelWay is the state of one delivery. settle is its one transition out of Pending.
type cancelWay struct {
	mu    sync.Mutex // guards what follows
	state Delivery
	err   error                   // why it failed
	hooks []func(Delivery, error) // to be called by settle
}

// settle leaves Pending, as err says: nil is Delivered, ErrCancelNotNeeded is NotNeeded, anything else is Failed. A
// second call does nothing.
func (w *cancelWay) settle(err error) {
	w.mu.Lock()
	if w.state != Pending {
		w.mu.Unlock()
		return
	}
	switch {
	case err == nil:
		w.state = Delivered
	case errors.Is(err, ErrCancelNotNeeded):
		w.state = NotNeeded
	default:
		w.state, w.err = Failed, err
	}
	state, failure, hooks := w.state, w.err, w.hooks
	w.hooks = nil
	w.mu.Unlock()
	for _, f := range hooks {
		f(state, failure)
	}
}

// NewCancelledError makes the error of a call whose cancel travels in a way of its own, such as tasks/cancel. Its
// delivery is Pending until told is called: with nil when the peer has it, with ErrCancelNotNeeded when there was
// nothing to tell, else with what went wrong. The first call counts.
func NewCancelledError(cause error) (e *CancelledError, told func(error)) {
	e = &CancelledError{Cause: cause, Sent: true}
	e.way.state = Pending
	return e, e.way.settle
}

// Delivery tells what is known of the cancel now; the error says why it failed.
func (e *CancelledError) Delivery() (Delivery, error) {
	e.way.mu.Lock()
	defer e.way.mu.Unlock()
	return e.way.state, e.way.err
}

// OnDelivery calls f once the delivery is no longer Pending: at once when it is not, else later, on any goroutine and
// with no lock of this package held. f must not block.
func (e *CancelledError) OnDelivery(f func(Delivery, error)) {
	w := &e.way
	w.mu.Lock()
	if w.state == Pending {
		w.hooks = append(w.hooks, f)
		w.mu.Unlock()
		return
	}
	state, err := w.state, w.err
	w.mu.Unlock()
	f(state, err)
}
