package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Call is one outgoing request. It needs no goroutine. Several goroutines may call Wait.
type Call struct {
	peer   *Peer
	entry  tracked
	frame  frame
	quiet  bool // the peer is not told when the call is cancelled
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
	c := &Call{peer: p, quiet: how.Quiet, keeper: how.Keep, done: make(chan struct{})}
	c.entry.id = IntID(p.lastID.Add(1))
	c.entry.method = method
	c.entry.handle = c
	c.entry.tag = how.Tag
	c.frame.about, c.frame.kind = &c.entry, KindRequest
	const around = len(`{"jsonrpc":"2.0","id":,"method":"","params":}` + "\n")
	c.frame.buf = appendRequest(make([]byte, 0, around+len(c.entry.id.raw)+len(method)+len(params)), c.entry.id, method,
		params)
	if _, err := p.tracker.add(Outgoing, &c.entry); err != nil {
		return nil, err
	}
	if err := p.out.push(&c.frame, bounded, OutgoingMessage{ID: c.entry.id, Method: method,
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
func (c *Call) ID() ID { return c.entry.id }

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
	g := cancelledCall{method: c.entry.method, quiet: c.quiet, tag: c.entry.tag}
	if c.quiet {
		g.settle = cancelled.settle
	}
	taken, forgotten := p.tracker.takeCancelled(&c.entry, g)
	if !taken {
		return false
	}
	written, cancellable := !p.out.remove(&c.frame), p.tracker.cancellable(c.entry.method)
	sent := written && cancellable && !c.quiet
	cancelled.Sent = sent
	reason := CancelReason(cause)
	switch abandoner, ok := p.opts.Route.(Abandoner); {
	case sent:
		p.count.add(&p.count.CancelsSent)
		p.opts.Route.Cancel(p, c.entry.id, reason, cancelled.settle)
	case written && c.quiet: // reported when the late response comes: see LateResponse.Settle
	case ok && written && !cancellable:
		abandoner.Abandon(p, c.entry.id)
		fallthrough
	default:
		cancelled.settle(ErrCancelNotNeeded)
	}
	if p.log.Enabled(context.Background(), slog.LevelDebug) {
		p.log.Debug("request cancelled", "direction", Outgoing.String(), "id", c.entry.id.String(), "method", c.entry.method,
			"reason", bounds.Printable(reason), "sent", sent)
	}
	c.err, c.known = cancelled, written
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
