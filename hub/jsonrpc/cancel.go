package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// CancelRoute sends the cancel of an outgoing request. There is one for each binding of era and transport. Cancel is
// called at most once for an id, only for a request that was written and is unanswered, and never for a method in
// Options.Uncancellable. It must not block, and must not call the Peer except for Notify.
//
// Cancel calls settle exactly once, from any goroutine and without a lock, before it returns or later: with nil when
// the peer has the cancel (its bytes are in the peer's pipe, the peer's HTTP end has acknowledged it, or the request's
// stream was closed), with ErrCancelNotNeeded when the request was never written to its end and so nothing was sent,
// and with any other error when the cancel did not reach the peer, at the latest when the connection ends.
type CancelRoute interface {
	Cancel(p *Peer, id ID, reason string, settle func(error))
}

// Abandoner is an optional extension of a CancelRoute for connections that hold resources for each request, such as an
// HTTP exchange. Abandon is called in place of Cancel for a written request of Options.Uncancellable that is given up.
// It releases the resources and tells the other side nothing. The restrictions of Cancel apply to it.
type Abandoner interface {
	Abandon(p *Peer, id ID)
}

// NotifyRoute sends notifications/cancelled with the request's id, and with the reason if there is one. It is the route
// of stdio in both eras (2026-07-28 basic/transports/stdio "Cancellation"). Over HTTP, including HTTP+SSE, each message
// is a POST of its own, and a cancel has to wait for the POST of its call: package mcp has a route for that.
type NotifyRoute struct{}

// Cancel queues the notification. The bound of the write queue does not apply to it: there is at most one for each
// written request. The cancel counts as delivered when its last byte was written: until then it may wait in the queue
// for a server that does not read, and be dropped with the queue. With a Sender, it counts as delivered when it was
// passed to the Sender.
func (NotifyRoute) Cancel(p *Peer, id ID, reason string, settle func(error)) {
	f := newFrame(CancelNotification(id, reason))
	f.about, f.kind = p.cancelEntry(id), KindNotification
	f.onWritten = settle
	if err := p.out.push(f, unbounded, OutgoingMessage{Method: "notifications/cancelled"}); err != nil {
		settle(err)
	}
}

// CancelNotification returns the complete notifications/cancelled for a request. An empty reason is left out.
func CancelNotification(id ID, reason string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id.raw...)
	if reason != "" {
		b = append(b, `,"reason":`...)
		b = jsontext.AppendString(b, reason)
	}
	return append(b, "}}"...)
}

// Reasoner is a cancel cause with a text for the peer: the result of CancelReason becomes the reason of
// notifications/cancelled, and "" means that no reason is sent.
type Reasoner interface{ CancelReason() string }

// CancelReason returns the reason that a cancel with this cause carries to the peer. The text of context.Canceled is of
// no use to a peer.
func CancelReason(cause error) string {
	var r Reasoner
	switch {
	case cause == nil || cause == context.Canceled:
		return ""
	case errors.As(cause, &r):
		return r.CancelReason()
	}
	return cause.Error()
}

// CancelledError is the error of a call that was cancelled on this side. Delivery and OnDelivery report what became of
// the cancel on its way to the peer.
type CancelledError struct {
	Cause error // why: the cause of the context, or the cause passed to RequestTracker.Cancel
	Sent  bool  // the cancel route was used; whether the peer has the cancel, Delivery says

	mu       sync.Mutex // guards what follows
	delivery Delivery
	failure  error                   // why the delivery failed
	hooks    []func(Delivery, error) // to be called by settle
}

func (e *CancelledError) Error() string {
	if e.Cause == nil {
		return "jsonrpc: call cancelled"
	}
	return "jsonrpc: call cancelled: " + e.Cause.Error()
}

func (e *CancelledError) Unwrap() error { return e.Cause }

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

// ErrCancelNotNeeded is what a CancelRoute passes to settle if the request was never written to its end, so that no
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
// tasks/cancel. Its delivery is Pending until settle is called: with nil when the peer has the cancel, with
// ErrCancelNotNeeded when there was nothing to send, else with the error. Only the first call has an effect.
func NewCancelledError(cause error) (e *CancelledError, settle func(error)) {
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
