package jsonrpc

// CancelRoute is how the cancel of an outgoing request travels; there is one for each binding of era and transport.
// Cancel is called at most once for an id, only for a request that was written and is unanswered, and never for one of
// Options.Uncancellable. It must not block and must not call the Peer back, except Notify.
//
// It calls told exactly once, from any goroutine and without a lock, in Cancel or later: with nil when the peer has got
// the cancel (its bytes are in the peer's pipe, the peer's HTTP end has acknowledged it, the request's stream was
// closed), with ErrCancelNotNeeded when the request was never written to its end and so nothing was sent, and with any
// other error when the cancel did not get there, at the latest when the connection ends.
type CancelRoute interface {
	Cancel(p *Peer, id ID, reason string, told func(error))
}

// Abandoner is an optional extra of a CancelRoute for connections that hold something for each request, such as an HTTP
// exchange. Abandon is called in place of Cancel for a written request of Options.Uncancellable that is given up: it
// lets go of what is held and tells the other side nothing. It is bound as Cancel is.
type Abandoner interface {
	Abandon(p *Peer, id ID)
}

// NotifyRoute sends notifications/cancelled with the request's id, and the reason when there is one. It is the route of
// stdio in both eras (2026-07-28 basic/transports/stdio "Cancellation"). Over HTTP, HTTP+SSE among it, each message is
// a POST of its own, and a cancel has to wait for that of its call: package mcp has a route for that.
type NotifyRoute struct{}

// Cancel queues the notification. It passes the bound of the write queue: there is at most one for each written
// request. It is delivered when its last byte is written: until then it may lie in the queue of a server that does not
// read, and be dropped with it. Over a Sender that is when it was handed over.
func (NotifyRoute) Cancel(p *Peer, id ID, reason string, told func(error)) {
	f := newFrame(CancelNotification(id, reason))
	f.about, f.kind = p.tracker.cancelled(id, p.opts.Tap != nil), KindNotification
	f.told = told
	if err := p.out.push(f, unbounded, OutgoingMessage{Method: "notifications/cancelled"}); err != nil {
		told(err)
	}
}

// CancelNotification is the complete notifications/cancelled for a request; an empty reason is left out.
func CancelNotification(id ID, reason string) []byte { return appendCancel(nil, id, reason) }
