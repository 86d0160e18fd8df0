package jsonrpc

// Kind tells what a message is.
type Kind uint8

// The kinds of messages. An error is a response that carries one.
const (
	KindRequest Kind = iota + 1
	KindResponse
	KindError
	KindNotification
)

// String is the kind's word.
func (k Kind) String() string {
	return [...]string{"", "request", "response", "error", "notification"}[k]
}

// Observed is one message on the wire without what it says.
type Observed struct {
	Sender Direction // Outgoing: this side
	Kind   Kind
	Method string // of a request or notification; for a response, that of its request
	ID     ID     // of the request, also in its response and its cancel; zero for any other notification
	Bytes  int    // of the whole message; 0 for an answer that was never made into one
	Code   int64  // of an error
	// Dropped: it came and nobody wanted it any more, or it was not sent because the request had been withdrawn.
	Dropped bool
	// Unwritten takes back what was told last of this message: the connection takes nothing at the moment. It is told once
	// more when it is written.
	Unwritten bool
}

// How says how a request is begun beside what it says. The zero value is what Begin does.
type How struct {
	// Extra is for the connection alone: it goes to its Sender untouched, and nowhere else.
	Extra any
	// Quiet is for a request that the protocol cancels in another way than by its id, or not at all: when it is given up
	// after it was written, the route is not used, and the peer hears nothing. Its late answer comes to
	// Options.OnLateResponse marked as such, and whoever takes it there tells what becomes of the cancel; until then its
	// delivery is Pending, unless the request had not been written. It has failed when the connection ends first.
	Quiet bool
	// Tag is given to Options.Tap with every message that belongs to the request; nil: those are not told.
	Tag any
	// Keep is given what ends the counting of a large result on Options.Results, which is then its: the result is held
	// until it calls release. It is called by the reading goroutine before Wait can return the result; it must not
	// block. nil: the result counts until the caller of Wait is woken.
	Keep func(release func())
}

// tapped tells the tap of a message that belongs to e.
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

// TellCancel tells the tap of a cancel that a CancelRoute sends in a way of its own, and not through the Peer.
func (p *Peer) TellCancel(id ID, size int) {
	if e := p.tracker.cancelled(id, p.opts.Tap != nil); e != nil {
		p.tapped(e, Observed{Sender: Outgoing, Kind: KindNotification, Bytes: size})
	}
}

// cancelled is what the cancel of a call that was given up is told as; nil when nobody wants to hear of it.
func (t *RequestTracker) cancelled(id ID, wanted bool) *tracked {
	if !wanted {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g, known := t.late.known[id]
	if !known || g.tag == nil {
		return nil
	}
	return &tracked{id: id, method: "notifications/cancelled", tag: g.tag}
}

// tell tells the tap that a frame is being written. It comes before the write, because an answer can be there before
// the write has returned.
func (b *outbox) tell(f *frame, unwritten bool) {
	if b.tap == nil || f.about == nil || f.about.tag == nil {
		return
	}
	o := Observed{Sender: Outgoing, Kind: f.kind, Method: f.about.method, ID: f.about.id, Bytes: len(f.buf), Code: f.code,
		Unwritten: unwritten}
	b.tap(f.about.tag, o)
}
