package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Peer is one side of a JSON-RPC connection. All methods are safe for concurrent use.
type Peer struct {
	conn    Conn
	opts    Options
	log     *slog.Logger
	tracker *RequestTracker
	out     *outbox
	in      *inbox
	count   counters
	lastID  atomic.Int64

	// Used by the reading goroutine only.
	late   bool         // the current message may be delivered late
	bad    bool         // the current message is a bad line, or has one
	direct Notification // the argument of Options.Direct

	serving atomic.Int64   // running request handlers, including those of withdrawn requests
	aside   atomic.Int64   // the same for requests that are Aside
	running sync.WaitGroup // every goroutine and timer of the peer
	done    chan struct{}  // closed by finish
	ending  chan struct{}  // closed by end

	mu       sync.Mutex // guards what follows
	err      *ClosedError
	closeErr error       // the error of conn.Close; set before done is closed
	grace    *time.Timer // runs between a failed write and the end
}

// writeErrorGrace is how long the reader goes on after a failed write. A server that exits closes both pipes, and its
// last messages may still be in the one that we read.
const writeErrorGrace = time.Second

// NewPeer returns a Peer on conn and starts its goroutines. The Peer owns conn. The caller must call Close.
func NewPeer(conn Conn, o Options) *Peer {
	p := PreparePeer(conn, o)
	p.Start()
	return p
}

// PreparePeer is NewPeer for a caller whose functions in o use the Peer: it reads nothing before Start.
func PreparePeer(conn Conn, o Options) *Peer {
	o = o.withDefaults()
	p := &Peer{
		conn:    conn,
		opts:    o,
		log:     o.Logger,
		tracker: &RequestTracker{server: o.Server, table: Table{Overtaken: o.Overtaken, uncancellable: o.Uncancellable}},
		done:    make(chan struct{}),
		ending:  make(chan struct{}),
	}
	p.in = newInbox(o, &p.count)
	p.out = newOutbox(conn, o, p.tracker.crowded, &p.running, p.stalled, p.writeFailed)
	return p
}

// Start starts the goroutines, unless the Peer was closed before. It must be called once.
func (p *Peer) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	if p.out.sender == nil {
		p.running.Go(p.out.run)
	}
	p.running.Go(p.in.run)
	p.running.Go(p.read)
}

// Notify queues a notification. params is as for Begin. The errors are those of Begin.
func (p *Peer) Notify(method string, params json.RawMessage) error {
	return p.NotifyAs(method, params, nil)
}

// NotifyAs is Notify with a tag, which is passed to Options.Tap.
func (p *Peer) NotifyAs(method string, params json.RawMessage, tag any) error {
	if len(params) > 0 && !jsontext.Valid(params) {
		return ErrInvalidJSON
	}
	f := newFrame(NotificationMessage(method, params))
	if tag != nil && p.opts.Tap != nil {
		f.about, f.kind = &Tracked{Method: method, tag: tag}, KindNotification
	}
	return p.out.push(f, bounded, OutgoingMessage{Method: method})
}

// Tracker returns the tracker that lists and cancels the open requests of both directions. The Peer owns its entries:
// others must not call Cleanup. Cancelling an incoming request ends the context of its handler; the handler's answer is
// then sent as usual.
func (p *Peer) Tracker() *RequestTracker { return p.tracker }

// Stats returns the counts so far.
func (p *Peer) Stats() Stats { return p.count.read() }

// Flush waits until everything that is queued now has been written, the connection has ended, or ctx has ended. Close
// drops what is queued, so a caller that wants the last messages to be sent, including the cancels of its calls, calls
// Flush with a deadline first.
func (p *Peer) Flush(ctx context.Context) {
	if flushed := p.out.flushed(); flushed != nil {
		select {
		case <-flushed:
		case <-ctx.Done():
		}
	}
}

// Close ends the connection and waits until every goroutine of the Peer has ended, so a handler must not call it (see
// Abort). Before it waits, it fails all calls whose response was not received with a *ClosedError that wraps cause,
// cancels all handlers with the same error, and drops what is queued for writing. It takes as long as Conn.Close and
// the slowest handler take. Every caller gets the result of Conn.Close.
func (p *Peer) Close(cause error) error {
	p.end(cause, false)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closeErr
}

// Abort is Close without the waiting.
func (p *Peer) Abort(cause error) { p.end(cause, false) }

// Ending returns a channel that is closed when the connection has begun to end: no call can begin any more, and every
// handler has been cancelled.
func (p *Peer) Ending() <-chan struct{} { return p.ending }

// Done returns a channel that is closed when the Peer has ended, by Close or because the connection has ended, and all
// its goroutines have ended. Unless Close was called, notifications and responses that came before the end are still
// delivered.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns the *ClosedError with which the Peer has ended or is ending, or nil while the Peer is open.
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return p.err
}

// end is the one transition from open to ending. With drain, received messages are delivered first; a later call
// without drain stops that.
func (p *Peer) end(cause error, drain bool) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		if !drain {
			p.in.close(false)
		}
		return
	}
	err := &ClosedError{Cause: cause}
	p.err = err
	if p.grace != nil && p.grace.Stop() {
		p.running.Done()
	}
	p.running.Add(1) // for this function: finish must not end before this function has
	p.mu.Unlock()
	defer p.running.Done()

	p.out.close(err) // before finish closes the connection: a write that fails because of that gets err as its reason
	go p.finish()    // whoever waits for done waits for it
	outgoing, incoming, settle := p.tracker.close(err)
	for _, e := range incoming {
		e.handle.cancelWith(err)
	}
	for _, e := range outgoing {
		if c, ok := e.handle.(*Call); ok {
			c.err = err
			c.finish()
		} else {
			e.handle.cancelWith(err)
		}
	}
	for _, f := range settle {
		f(err)
	}
	p.in.close(drain)
	close(p.ending)
	p.log.Debug("connection ended", "cause", bounds.Printable(err.Error()), "calls", len(outgoing),
		"requests", len(incoming))
}

// finish closes the connection, which unblocks the reader and the writer, and waits for all goroutines.
func (p *Peer) finish() {
	closeErr := p.conn.Close()
	p.running.Wait()
	p.mu.Lock()
	p.closeErr = closeErr
	p.mu.Unlock()
	close(p.done)
}

// writeFailed lets the reader read on: it reaches the end of the stream itself, or the Peer ends after the grace.
func (p *Peer) writeFailed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil || p.grace != nil {
		return
	}
	p.running.Add(1)
	p.grace = time.AfterFunc(writeErrorGrace, func() {
		defer p.running.Done()
		p.end(err, true)
	})
}

// stalled runs on a goroutine that the Peer does not wait for, so that the owner may call Close in Options.Stalled.
func (p *Peer) stalled() {
	p.log.Warn("the peer has stopped reading", "limit", p.opts.StallLimit)
	if p.opts.Stalled != nil {
		p.opts.Stalled()
		return
	}
	p.end(ErrStalled, false)
}

// Stats are the counts of a Peer since it was started.
type Stats struct {
	BadLines               uint64 // messages that are not JSON-RPC messages; the connection went on
	OversizeLines          uint64 // messages longer than the limit, skipped
	PeerErrors             uint64 // error responses without an id, or with null
	LateResponses          uint64 // responses to calls that were cancelled here
	UnknownResponses       uint64 // responses that match no call, including second responses
	MalformedCancels       uint64 // notifications/cancelled without a usable requestId
	UnknownCancels         uint64 // notifications/cancelled for an id that is not pending
	WithdrawnRequests      uint64 // incoming requests that the peer cancelled
	SuppressedResponses    uint64 // answers of handlers to withdrawn requests, not written
	DuplicateIDs           uint64 // incoming requests with an id that was pending
	RefusedRequests        uint64 // incoming requests beyond MaxIncoming
	DroppedRequests        uint64 // incoming requests while Options.NoServerRequests allowed none
	DroppedResponses       uint64 // answers dropped because the write queue was full
	DroppedNotifications   uint64 // incoming notifications dropped because the handler was too slow
	CoalescedNotifications uint64 // incoming notifications replaced by a newer one
	CancelsSent            uint64 // outgoing cancels passed to the route
	UnknownFailures        uint64 // failures of a call that is neither pending nor was cancelled
}

// counters are the live counts behind Stats.
type counters struct {
	mu sync.Mutex // guards Stats
	Stats
}

// add adds 1 to a field of c, and returns its new value.
func (c *counters) add(field *uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	*field++
	return *field
}

func (c *counters) read() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Stats
}

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
func (p *Peer) tapped(e *Tracked, o Observed) {
	if p.opts.Tap == nil || e.tag == nil {
		return
	}
	o.ID = e.ID
	if o.Method == "" {
		o.Method = e.Method
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
func (p *Peer) cancelEntry(id ID) *Tracked {
	if p.opts.Tap == nil {
		return nil
	}
	return &Tracked{ID: id, Method: "notifications/cancelled", tag: p.tracker.tagOf(id)}
}
