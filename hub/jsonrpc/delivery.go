package jsonrpc

import (
	"errors"
	"fmt"
)

// Delivery is what is known about the delivery of one cancel to the peer. It never means that the peer has stopped: the
// protocol has no message for that.
type Delivery uint8

const (
	// NotNeeded: nothing had to be sent. The request was never written, or is not open at the peer.
	NotNeeded Delivery = iota
	// Pending: the cancel is on its way. It becomes Delivered or Failed (or NotNeeded, if it turns out that the request
	// was not sent).
	Pending
	// Delivered: the bytes of the cancel are in the peer's pipe, the peer's HTTP end has acknowledged it, or the stream of
	// the request was closed.
	Delivered
	// Failed: as far as this side can know, the cancel did not reach the peer.
	Failed
)

// String returns the word for logs.
func (d Delivery) String() string {
	return [...]string{"not needed", "pending", "delivered", "failed"}[d]
}

// ErrCancelNotNeeded is what a CancelRoute passes to told if the request was never written to its end, so that no
// cancel was sent.
var ErrCancelNotNeeded = errors.New("jsonrpc: the request was never written, so no cancel was sent")

// errCancelForgotten is why the cancel of a quiet call failed if the peer had not responded when maxTombstones more
// calls had been cancelled. A response that comes after that is not recognized.
var errCancelForgotten = fmt.Errorf("jsonrpc: the peer had not responded to the cancelled request when %d more requests "+
	"had been cancelled, so no cancel was sent", maxTombstones)

// settle ends Pending: a nil err leads to Delivered, ErrCancelNotNeeded to NotNeeded, and any other error to Failed. A
// second call does nothing.
func (e *CancelledError) settle(err error) {
	e.mu.Lock()
	if e.delivery != Pending {
		e.mu.Unlock()
		return
	}
	switch {
	case err == nil:
		e.delivery = Delivered
	case errors.Is(err, ErrCancelNotNeeded):
		e.delivery = NotNeeded
	default:
		e.delivery, e.failure = Failed, err
	}
	hooks := e.hooks
	e.hooks = nil
	e.mu.Unlock()
	for _, f := range hooks {
		f(e.Delivery())
	}
}

// NewCancelledError returns the error of a call that is cancelled in another way than by the Peer, such as
// tasks/cancel. Its delivery is Pending until told is called: with nil when the peer has the cancel, with
// ErrCancelNotNeeded when there was nothing to send, else with the error. Only the first call has an effect.
func NewCancelledError(cause error) (e *CancelledError, told func(error)) {
	e = &CancelledError{Cause: cause, Sent: true, delivery: Pending}
	return e, e.settle
}

// Delivery returns what is known about the delivery of the cancel now. The error says why it failed.
func (e *CancelledError) Delivery() (Delivery, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.delivery, e.failure
}

// OnDelivery calls f once the delivery is no longer Pending: at once if it is not, else later, on any goroutine and
// with no lock of this package held. f must not block.
func (e *CancelledError) OnDelivery(f func(Delivery, error)) {
	e.mu.Lock()
	pending := e.delivery == Pending
	if pending {
		e.hooks = append(e.hooks, f)
	}
	e.mu.Unlock()
	if !pending {
		f(e.Delivery())
	}
}
