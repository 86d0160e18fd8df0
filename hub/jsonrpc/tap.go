package jsonrpc

// Kind is the kind of a message.
type Kind uint8

// The kinds of messages. An error is a response that carries one.
const (
	KindRequest Kind = iota + 1
	KindResponse
	KindError
	KindNotification
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"", "request", "response", "error", "notification"}[k]
}

// Observed describes one message on the wire without its content.
type Observed struct {
	Sender Direction // the direction of the message; Outgoing: sent by this side
	Kind   Kind
	Method string // of a request or notification; for a response, that of its request
	ID     ID     // of the request, also in its response and its cancel; zero for any other notification
	Bytes  int    // of the whole message; 0 for an answer that was never encoded
	Code   int64  // of an error
	// Dropped: it came too late to be used, or it was not sent because the request had been withdrawn.
	Dropped bool
	// Unwritten cancels the last report of this message: the connection accepts nothing at the moment. The message is
	// reported again when it is written.
	Unwritten bool
}

// tapped reports a message that belongs to e to Options.Tap.
func (p *Peer) tapped(e *tracked, o Observed) {
	if p.opts.Tap == nil || e.tag == nil {
		return
	}
	o.ID = e.id
	if o.Method == "" {
		o.Method = e.method
	}
	p.opts.Tap(e.tag, o)
}

// ObserveCancel reports to Options.Tap a cancel that a CancelRoute sends by itself and not through the Peer.
func (p *Peer) ObserveCancel(id ID, size int) {
	if e := p.cancelEntry(id); e != nil {
		p.tapped(e, Observed{Sender: Outgoing, Kind: KindNotification, Bytes: size})
	}
}

// cancelEntry returns an entry for reporting the cancel of a call that was given up, or nil without Options.Tap.
func (p *Peer) cancelEntry(id ID) *tracked {
	if p.opts.Tap == nil {
		return nil
	}
	p.tracker.mu.Lock()
	defer p.tracker.mu.Unlock()
	g := p.tracker.late.known[id]
	return &tracked{id: id, method: "notifications/cancelled", tag: g.tag}
}
