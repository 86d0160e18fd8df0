package jsonrpc

import "github.com/mcphub-go/mcphub/hub/jsontext"

// CancelRoute sends the cancel of an outgoing request. There is one for each binding of era and transport. Cancel is
// called at most once for an id, only for a request that was written and is unanswered, and never for a method in
// Options.Uncancellable. It must not block, and must not call the Peer except for Notify.
//
// Cancel calls told exactly once, from any goroutine and without a lock, before it returns or later: with nil when the
// peer has the cancel (its bytes are in the peer's pipe, the peer's HTTP end has acknowledged it, or the request's
// stream was closed), with ErrCancelNotNeeded when the request was never written to its end and so nothing was sent,
// and with any other error when the cancel did not reach the peer, at the latest when the connection ends.
type CancelRoute interface {
	Cancel(p *Peer, id ID, reason string, told func(error))
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
func (NotifyRoute) Cancel(p *Peer, id ID, reason string, told func(error)) {
	f := newFrame(CancelNotification(id, reason))
	f.about, f.kind = p.tracker.cancelled(id, p.opts.Tap != nil), KindNotification
	f.onWritten = told
	if err := p.out.push(f, unbounded, OutgoingMessage{Method: "notifications/cancelled"}); err != nil {
		told(err)
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
