package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Call is one outgoing request. It needs no goroutine. Several goroutines may call Wait.
type Call struct {
	peer   *Peer
	entry  Tracked
	frame  frame
	keeper func(release func())
	known  bool // the call was cancelled after it was written, so the peer may know it; written as result and err are

	// Written by the goroutine that took the entry out of the tracker, and not after done is closed.
	result jsontext.Object
	err    error
	hold   *bounds.Hold // held until finish

	over atomic.Bool
	done chan struct{}

	waits, urgent bool // guarded by inbox.mu: the response is queued there; it need not keep its place in the queue
}

// Begin registers a request and queues it. When it returns, the id is known and the request will be written, unless it
// is cancelled first. params is the exact JSON text of the params and is not retained; nil omits the member. The errors
// are ErrInvalidJSON, *QueueFullError and *ClosedError. The caller must call Wait or cancel the request through the
// tracker; otherwise the call stays pending until it is answered or the connection ends.
func (p *Peer) Begin(method string, params json.RawMessage) (*Call, error) {
	return p.BeginAs(method, params, How{})
}

// BeginAs is Begin with options.
func (p *Peer) BeginAs(method string, params json.RawMessage, how How) (*Call, error) {
	if len(params) > 0 && !jsontext.Valid(params) {
		return nil, ErrInvalidJSON
	}
	c := &Call{peer: p, keeper: how.Keep, done: make(chan struct{})}
	c.entry.ID, c.entry.Method, c.entry.Quiet = IntID(p.lastID.Add(1)), method, how.Quiet
	c.entry.handle = c
	c.entry.tag = how.Tag
	c.frame.about, c.frame.kind = &c.entry, KindRequest
	const around = len(`{"jsonrpc":"2.0","id":,"method":"","params":}` + "\n")
	c.frame.buf = appendRequest(make([]byte, 0, around+len(c.entry.ID.raw)+len(method)+len(params)), c.entry.ID, method,
		params)
	if _, err := p.tracker.add(Outgoing, &c.entry); err != nil {
		return nil, err
	}
	if err := p.out.push(&c.frame, bounded, OutgoingMessage{ID: c.entry.ID, Method: method,
		Extra: how.Extra}); err != nil {
		if taken, _ := p.tracker.takeEntry(Outgoing, &c.entry); !taken {
			return c, nil // a cancel or the end of the connection settled it in between: Wait returns its error
		}
		return nil, err
	}
	return c, nil
}

// Call is Begin and Wait. If ctx has ended already, nothing is sent.
func (p *Peer) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.CallAs(ctx, method, params, How{})
}

// CallAs is BeginAs and Wait.
func (p *Peer) CallAs(ctx context.Context, method string, params json.RawMessage, how How) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, &CancelledError{Cause: context.Cause(ctx)}
	}
	c, err := p.BeginAs(method, params, how)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx)
}

// ID returns the wire id.
func (c *Call) ID() ID { return c.entry.ID }

// Done returns a channel that is closed when the call is over. Wait then returns at once.
func (c *Call) Done() <-chan struct{} { return c.done }

// Wait returns the result as the exact JSON text that came; all callers of Wait share it. If ctx ends first, the call
// is cancelled with the cause of ctx, and Wait returns a *CancelledError without waiting for anything; a response that
// comes later is dropped. If the response was received before ctx ended, Wait returns it, even if a notification that
// came before the response is still being handled. The other errors are *Error (the peer's answer), *ClosedError,
// *CancelledError after a cancel through the tracker, *ResultTooLargeError, *InvalidResponseError and *WithdrawnError.
func (c *Call) Wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-c.done:
		return c.result.Raw, c.err
	default:
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if !c.cancelWith(context.Cause(ctx)) {
			c.peer.in.expedite(c)
			<-c.done // the goroutine that took the entry closes done now; nothing blocks it any more
		}
	}
	return c.result.Raw, c.err
}

// Result returns the result with what was found while it was read, so that a large result need not be parsed again. It
// must not be called before Wait has returned the result.
func (c *Call) Result() jsontext.Object { return c.result }

// GivenUp reports whether the call was cancelled on this side after it was written, so that the peer may be processing
// it. It must not be called before the channel of Done is closed.
func (c *Call) GivenUp() bool { return c.known }

// cancelWith cancels the call, and reports whether it was still unsettled. The peer is told if the request was written
// and may be cancelled.
func (c *Call) cancelWith(cause error) bool {
	p := c.peer
	cancelled := &CancelledError{Cause: cause, delivery: Pending}
	var late func(error)
	if c.entry.Quiet {
		late = cancelled.settle
	}
	taken, forgotten := p.tracker.takeCancelled(&c.entry, late)
	if !taken {
		return false
	}
	c.known = !p.out.remove(&c.frame)
	reason := CancelReason(cause)
	switch p.tracker.table.Notice(&c.entry, c.known) {
	case NoticeCancel:
		cancelled.Sent = true
		p.count.add(&p.count.CancelsSent)
		p.opts.Route.Cancel(p, c.entry.ID, reason, cancelled.settle)
	case NoticeLate: // reported when the late response comes: see LateResponse.Settle
	case NoticeAbandon:
		if abandoner, ok := p.opts.Route.(Abandoner); ok {
			abandoner.Abandon(p, c.entry.ID)
		}
		fallthrough
	case NoticeNone:
		cancelled.settle(ErrCancelNotNeeded)
	}
	if p.log.Enabled(context.Background(), slog.LevelDebug) {
		p.log.Debug("request cancelled", "direction", Outgoing.String(), "id", c.entry.ID.String(), "method", c.entry.Method,
			"reason", bounds.Printable(reason), "sent", cancelled.Sent)
	}
	c.err = cancelled
	c.finish()
	if forgotten.settle != nil {
		forgotten.settle(errCancelForgotten)
	}
	return true
}

// keep passes the hold of the result to How.Keep, or keeps it until finish.
func (c *Call) keep(h *bounds.Hold) {
	switch {
	case h.Bytes() == 0:
	case c.keeper != nil:
		c.keeper(h.Release)
	default:
		c.hold = h
	}
}

// finish wakes the callers of Wait. It may be called twice for a response that was expedited.
func (c *Call) finish() {
	if c.over.CompareAndSwap(false, true) {
		c.hold.Release()
		close(c.done)
	}
}

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
