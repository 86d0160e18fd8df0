package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// carrier carries out what a wire orders.
type carrier struct {
	all      *backlog
	client   share             // for which the wire counts in all
	overflow func(cause error) // called once, without the lock: the client is ended, since too much waits
	over     bool              // it counts no more; guarded by the lock of all

	mu    sync.Mutex
	wire  *wire
	wakes map[wake]chan struct{}
	asks  map[jsonrpc.ID]*asking
}

// asking is one question to the client, while somebody waits for its answer.
type asking struct {
	of  jsonrpc.ID
	ctx context.Context // of the asker
	end context.CancelCauseFunc
}

func newCarrier(rules wireRules, all *backlog, client share, overflow func(cause error)) *carrier {
	return &carrier{all: all, client: client, overflow: overflow, wire: newWire(rules), wakes: map[wake]chan struct{}{},
		asks: map[jsonrpc.ID]*asking{}}
}

// apply tells the wire what has happened and does what it orders. It returns the order that is for the caller, or nil.
func (c *carrier) apply(happened any) (own any) {
	c.mu.Lock()
	own, ended := c.carryOut(happened)
	over := c.count()
	c.mu.Unlock()
	if ended != nil {
		c.overflow(ended)
	}
	if over {
		c.all.makeRoom()
	}
	return own
}

// carryOut is apply with the lock held. ended says why the client is ended, nil if it is not.
func (c *carrier) carryOut(happened any) (own any, ended error) {
	for _, o := range c.wire.apply(happened) {
		switch o := o.(type) {
		case wake:
			select {
			case c.wakes[o] <- struct{}{}:
			default:
			}
		case endQuestion:
			if a := c.asks[o.id]; a != nil {
				a.end(ErrNotAskable)
			}
		case overflow:
			ended = o.cause
		default:
			own = o
		}
	}
	return own, ended
}

// count adds what the wire holds to the count of all clients, and reports whether too much waits there. Called with the
// lock held.
func (c *carrier) count() (over bool) {
	waiting, kept := c.wire.holds()
	over, full := c.all.set(c, waiting, kept)
	if full && kept > smallBacklog { // it is for streams that may never be resumed, and gives way at once
		_, _ = c.carryOut(keepLess{smallBacklog})
		waiting, kept = c.wire.holds()
		over, _ = c.all.set(c, waiting, kept)
	}
	return over
}

// reader is one HTTP exchange that has the events of a stream.
type reader struct {
	*carrier
	stream, number int
	after          int           // the number of the last event that the client has
	follower       int           // of the common stream
	wake           chan struct{} // capacity 1
}

// read makes the caller the reader of a stream: happened is a postRead or a readerCame. It returns nil and the order if
// that is refused.
func (c *carrier) read(happened any) (*reader, refused) {
	r := &reader{carrier: c, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o, _ := c.carryOut(happened); o := o.(type) {
	case opened:
		r.stream, r.number = o.stream, o.reader
	case follow:
		r.stream, r.number, r.after, r.follower = o.stream, o.reader, o.after, o.follower
	case refused:
		return nil, o
	}
	c.wakes[wake{r.stream, r.number}] = r.wake
	return r, refused{}
}

// next returns what the reader has to do: a write, finish, or nil for waiting.
func (r *reader) next() any { return r.apply(writerReady{r.stream, r.number}) }

// leave ends the reading. cut and ended are as in readerLeft. It reports whether the client has cancelled its call by
// leaving.
func (r *reader) leave(cut, ended bool) (cancelled bool) {
	r.mu.Lock()
	delete(r.wakes, wake{r.stream, r.number})
	r.mu.Unlock()
	_, cancelled = r.apply(readerLeft{r.stream, r.number, cut, ended}).(endCall)
	return cancelled
}

// webConn is the connection of one legacy session over HTTP. Posted messages are read from it, and each outgoing
// message is added to a stream.
type webConn struct {
	*carrier
	in    chan []byte
	done  chan struct{}
	cause error // set before done is closed
	once  sync.Once

	idling sync.Mutex
	idle   *time.Timer
	busy   int // the number of open exchanges
	use    *use
}

func newWebConn(b Bounds, all *backlog, client share, use *use) *webConn {
	c := &webConn{in: make(chan []byte), done: make(chan struct{}), use: use}
	c.carrier = newCarrier(wireRules{keepEvents: b.Events, keepBytes: b.EventBytes, queue: b.Queue,
		early: b.OpenPerSession}, all, client, c.end)
	return c
}

// ReadMessage implements jsonrpc.Conn.
func (c *webConn) ReadMessage(*bounds.Account) (jsonrpc.Message, error) {
	select {
	case message := <-c.in:
		return jsonrpc.Message{Text: message}, nil
	case <-c.done:
		return jsonrpc.Message{}, c.cause
	}
}

// Close implements jsonrpc.Conn.
func (c *webConn) Close() error {
	c.end(io.EOF)
	return nil
}

func (c *webConn) end(cause error) {
	c.once.Do(func() {
		c.cause = cause
		close(c.done)
		c.all.remove(c.carrier)
	})
}

// post passes on a message that the client has posted. It returns false if the session or ctx has ended.
func (c *webConn) post(ctx context.Context, message []byte) bool {
	select {
	case c.in <- message:
		return true
	case <-c.done:
	case <-ctx.Done():
	}
	return false
}

// requestRead is called when the peer reads a request. It reports whether the request was cancelled before.
func (c *webConn) requestRead(id jsonrpc.ID) (cancelled bool) {
	return c.apply(requestRead{id, time.Now().UnixMilli()}) != nil
}

// cancelRead is called when the peer reads a cancel of a request that is not open.
func (c *webConn) cancelRead(id jsonrpc.ID, reason string) {
	c.apply(cancelRead{id, reason, time.Now().UnixMilli()})
}

// Send implements jsonrpc.Sender: it sends responses and questions.
func (c *webConn) Send(m jsonrpc.OutgoingMessage) error {
	if a, question := m.Extra.(*asking); question {
		c.mu.Lock()
		c.asks[m.ID] = a
		c.mu.Unlock()
		if c.apply(questionReady{m.ID, a.of, m.Message}) == (refused{}) {
			a.end(ErrNotAskable)
		}
		return nil
	}
	id, err := jsonrpc.ParseID(jsontext.Get(m.Message, "id"))
	if err != nil {
		return nil // an error that belongs to no request: there is no stream for it
	}
	c.apply(answerReady{id, m.Message})
	return nil
}

// Cancel implements jsonrpc.CancelRoute.
func (c *webConn) Cancel(_ *jsonrpc.Peer, id jsonrpc.ID, reason string, told func(error)) {
	c.apply(questionWithdrawn{id, reason})
	told(nil)
}

// returned is called when the handler of a request has returned. It says which of the request's questions nobody waits
// for any more, also if that has not been done yet: the answer must not overtake their withdrawals.
func (c *webConn) returned(id jsonrpc.ID) {
	e := handlerReturned{id: id}
	c.mu.Lock()
	for asked, a := range c.asks {
		if a.of == id && a.ctx.Err() != nil {
			e.ended = append(e.ended, questionWithdrawn{asked, jsonrpc.CancelReason(context.Cause(a.ctx))})
		}
	}
	c.mu.Unlock()
	c.apply(e)
}

// enter and leave count exchanges: a session that has none for Bounds.Idle ends.
func (c *webConn) enter() {
	c.idling.Lock()
	defer c.idling.Unlock()
	c.busy++
	c.use.change(1)
	c.idle.Stop()
}

func (c *webConn) leave(after time.Duration) {
	c.idling.Lock()
	defer c.idling.Unlock()
	c.busy--
	c.use.change(-1)
	if c.busy == 0 {
		c.idle.Reset(after)
	}
}

// webLink is the link of a legacy session over HTTP.
type webLink struct {
	conn *webConn
	peer *jsonrpc.Peer
}

func (l webLink) tell(of jsonrpc.ID, method string, params json.RawMessage) error {
	l.conn.apply(noticeReady{of, jsonrpc.NotificationMessage(method, params)})
	return nil
}

func (l webLink) heard(of jsonrpc.ID) bool {
	l.conn.mu.Lock()
	defer l.conn.mu.Unlock()
	return l.conn.wire.heard(of)
}

func (l webLink) ask(ctx context.Context, of jsonrpc.ID, method string, params json.RawMessage) (json.RawMessage,
	error) {
	own, end := context.WithCancelCause(ctx)
	defer end(nil)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	call, err := l.peer.BeginAs(method, params, jsonrpc.How{Extra: &asking{of, ctx, end}})
	if err != nil {
		return nil, err
	}
	result, err := call.Wait(own)
	l.conn.apply(questionOver{call.ID()})
	l.conn.mu.Lock()
	delete(l.conn.asks, call.ID())
	l.conn.mu.Unlock()
	if errors.Is(err, ErrNotAskable) {
		return nil, ErrNotAskable
	}
	return result, err
}

// backlog counts what is held for all clients over HTTP together: the bytes that wait to be read, and those that are
// kept so that a stream can be resumed. Each wire has a bound of its own besides. One that holds less than smallBacklog
// does not count: the number of wires is bounded.
type backlog struct {
	waitingMost, keptMost int
	released              *bounds.Releases

	mu            sync.Mutex
	waiting, kept int
	of            map[*carrier]*held
}

// held is what one wire holds.
type held struct {
	waiting, kept int
	since         time.Time // when the client has last taken something, or when the first of it came
}

const (
	smallBacklog = 64 << 10
	// stalledAfter is how long a client takes nothing before it gives way to those that read.
	stalledAfter = time.Second
)

// errTooMuchWaits is the cause of the end of a session, or of a call of 2026-07-28, that has given way.
var errTooMuchWaits = errors.New("too much waits for clients that do not read, and most of it for this one")

func newBacklog(b Bounds, released *bounds.Releases) *backlog {
	return &backlog{waitingMost: b.QueueInAll, keptMost: b.EventBytesInAll, released: released,
		of: map[*carrier]*held{}}
}

// set records what the wire of a carrier holds now. over reports that too much waits; then the caller calls makeRoom
// when it holds no lock. full reports that too much is kept.
func (b *backlog) set(c *carrier, waiting, kept int) (over, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.over {
		return false, false
	}
	h := b.of[c]
	if h == nil {
		if waiting+kept < smallBacklog {
			return false, b.kept > b.keptMost
		}
		h = &held{}
		b.of[c] = h
	}
	if h.waiting == 0 || waiting < h.waiting {
		h.since = time.Now()
	}
	b.change(h, waiting, kept)
	if waiting+kept < smallBacklog {
		b.change(h, 0, 0)
		delete(b.of, c)
	}
	return b.waiting > b.waitingMost, b.kept > b.keptMost
}

// change counts what a wire holds now. Called with mu held.
func (b *backlog) change(h *held, waiting, kept int) {
	b.released.Note(h.waiting + h.kept - waiting - kept)
	b.waiting += waiting - h.waiting
	b.kept += kept - h.kept
	h.waiting, h.kept = waiting, kept
}

// remove forgets a carrier that is over.
func (b *backlog) remove(c *carrier) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.over = true
	if h := b.of[c]; h != nil {
		b.change(h, 0, 0)
		delete(b.of, c)
	}
}

// makeRoom has wires give way until what waits is within the bound. Called without any lock.
func (b *backlog) makeRoom() {
	for {
		c := b.surplus()
		if c == nil {
			return
		}
		c.apply(gaveWay{})
	}
}

// surplus takes the carrier that gives way off the count, and returns it; nil if there is room. It is one of the client
// for which most waits, and of these the one that has been read longest ago. Clients that read give way last.
func (b *backlog) surplus() *carrier {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting <= b.waitingMost {
		return nil
	}
	now := time.Now()
	type sum struct{ stalled, bytes int }
	sums := map[share]sum{}
	var some []*carrier
	for c, h := range b.of {
		if h.waiting == 0 {
			continue
		}
		s := sums[c.client]
		s.bytes += h.waiting
		s.stalled |= truth(now.Sub(h.since) >= stalledAfter)
		sums[c.client] = s
		some = append(some, c)
	}
	victim := slices.MaxFunc(some, func(x, y *carrier) int {
		a, c := sums[x.client], sums[y.client]
		return cmp.Or(a.stalled-c.stalled, cmp.Compare(a.bytes, c.bytes), b.of[y].since.Compare(b.of[x].since))
	})
	b.change(b.of[victim], 0, 0)
	delete(b.of, victim)
	victim.over = true
	return victim
}
