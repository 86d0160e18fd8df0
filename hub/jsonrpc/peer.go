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
	sourced Sourced // nil when conn is none
	reading Reading // nil when conn is none
	counted Counted // nil when conn is none
	count   counters
	lastID  atomic.Int64

	// Of the reading goroutine.
	late   bool         // the message in hand may come late
	direct Notification // what Options.Direct is given

	serving atomic.Int64   // request handlers that run, those of withdrawn requests included
	aside   atomic.Int64   // the same of requests that take nobody's place
	running sync.WaitGroup // every goroutine and timer of the peer
	done    chan struct{}  // closed by finish
	ending  chan struct{}  // closed by end

	mu       sync.Mutex // guards what follows
	err      *ClosedError
	closeErr error       // of the connection; set before done is closed
	grace    *time.Timer // runs between a failed write and the end
}

// writeErrorGrace is how long reading goes on after a failed write. A server that exits closes both pipes, and what it
// said last is still in one of them.
const writeErrorGrace = time.Second

// NewPeer makes a Peer of a connection, which it owns from now on, and starts its goroutines. The caller must Close it.
func NewPeer(conn Conn, o Options) *Peer {
	o = o.withDefaults()
	p := &Peer{
		conn:    conn,
		opts:    o,
		log:     o.Logger,
		tracker: &RequestTracker{server: o.Server, uncancellable: o.Uncancellable},
		done:    make(chan struct{}),
		ending:  make(chan struct{}),
	}
	p.in = newInbox(o, &p.count)
	p.out = newOutbox(conn, o, p.tracker.crowded, &p.running, p.stalled, p.writeFailed)
	p.sourced, _ = conn.(Sourced)
	p.reading, _ = conn.(Reading)
	if p.counted, _ = conn.(Counted); p.counted != nil && o.Results != nil {
		p.counted.Count(o.Results)
	}
	if p.out.sender == nil {
		p.running.Go(p.out.run)
	}
	p.running.Go(p.in.run)
	p.running.Go(p.read)
	return p
}

// Notify queues a notification. params is as for Begin. The errors are those of Begin.
func (p *Peer) Notify(method string, params json.RawMessage) error {
	return p.NotifyAs(method, params, nil)
}

// NotifyAs is Notify with a tag, which Options.Tap is given with it.
func (p *Peer) NotifyAs(method string, params json.RawMessage, tag any) error {
	if len(params) > 0 && !jsontext.Valid(params) {
		return ErrInvalidJSON
	}
	f := newFrame(appendNotification(nil, method, params))
	if tag != nil && p.opts.Tap != nil {
		f.about, f.kind = &tracked{method: method, tag: tag}, KindNotification
	}
	return p.out.push(f, bounded, OutgoingMessage{Method: method})
}

// Tracker lists and cancels the open requests of both directions. Its entries are the Peer's: others must not call
// Cleanup. Cancelling an incoming request ends the context of its handler, whose answer is then sent as usual.
func (p *Peer) Tracker() *RequestTracker { return p.tracker }

// Stats counts what has happened so far.
func (p *Peer) Stats() Stats { return p.count.read() }

// Flush waits until everything that is queued has been written, the connection has ended, or ctx has. Close drops what
// is queued: who wants the last words of a connection to be heard, the cancels of its calls among them, flushes first,
// for a bounded time.
func (p *Peer) Flush(ctx context.Context) {
	if quiet := p.out.quiet(); quiet != nil {
		select {
		case <-quiet:
		case <-ctx.Done():
		}
	}
}

// Close ends the connection and waits until every goroutine of the Peer has ended, so it must not be called by a
// handler (see Abort). All calls fail with a *ClosedError of the cause, except those whose response is in hand, and all
// handlers are cancelled with it before anything is waited for; what is queued for writing is dropped. It takes as long
// as Conn.Close and the slowest handler take. The result is that of Conn.Close, for every caller.
func (p *Peer) Close(cause error) error {
	p.end(cause, false)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closeErr
}

// Abort is Close without the waiting.
func (p *Peer) Abort(cause error) { p.end(cause, false) }

// Ending is closed when the connection has begun to end: no call can begin, every handler has been cancelled.
func (p *Peer) Ending() <-chan struct{} { return p.ending }

// Done is closed when the Peer has ended entirely, by Close or because the connection has ended; no goroutine of it is
// left then. Unless Close was called, notifications and responses that came before the end are still delivered.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err is a *ClosedError that tells why the Peer has ended or is ending, nil before.
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return p.err
}

// end is the one transition from open to ending. drain lets what was received be delivered first; a later end without
// it stops that.
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
	p.running.Add(1) // for this function: finish must not be over before it is
	p.mu.Unlock()
	defer p.running.Done()

	p.out.close(err) // before finish closes the connection: a write that this breaks off fails for the reason of the end
	go p.finish()    // its owner is whoever waits for done
	outgoing, incoming, told := p.tracker.close(err)
	for _, e := range incoming {
		e.handle.cancelWith(err)
	}
	for _, e := range outgoing {
		if c, ok := e.handle.(*Call); ok {
			c.fail(err)
		} else {
			e.handle.cancelWith(err)
		}
	}
	for _, f := range told {
		f(err)
	}
	p.in.close(drain)
	close(p.ending)
	p.log.Debug("connection ended", "cause", bounds.Printable(err.Error()), "calls", len(outgoing),
		"requests", len(incoming))
}

// finish closes the connection, which unblocks the reader and the writer, and waits for everything.
func (p *Peer) finish() {
	closeErr := p.conn.Close()
	p.running.Wait()
	p.mu.Lock()
	p.closeErr = closeErr
	p.mu.Unlock()
	close(p.done)
}

// writeFailed lets the reader have the last word: it will meet the end by itself, or be ended after the grace.
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

// stalled runs on a goroutine that the Peer does not wait for, so that the owner may close it from there.
func (p *Peer) stalled() {
	p.log.Warn("the peer has stopped reading", "limit", p.opts.StallLimit)
	if p.opts.Stalled != nil {
		p.opts.Stalled()
		return
	}
	p.end(ErrStalled, false)
}
