package fakeserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
)

var (
	errDisconnected = errors.New("fakeserver: disconnected by the server")
	errInputEnded   = errors.New("fakeserver: the client closed its end")
	errReturned     = errors.New("fakeserver: the behaviour returned")
	errServed       = errors.New("fakeserver: connection served to its end")
)

// era is the era of a connection, or eraNone if its handshake has not come so far.
type era int

const (
	eraNone era = iota
	eraLegacy
	eraModern
)

// conn is one connection: a pair of streams, or over HTTP a session or a single modern exchange. The goroutines of a
// pair of streams are the reader (the caller of Serve), the writer, the closer of the streams, and one for each open
// request; serve waits for all of them. Over HTTP there are only the goroutines of the requests, for which finish
// waits.
type conn struct {
	server  *Server
	ordinal int
	web     *session // nil for a pair of streams

	link    context.Context         // ends when the streams have to be closed, even if something is queued
	cut     context.CancelCauseFunc // ends link; the first cause wins
	ctx     context.Context         // parent of all calls: ends with link, and when the input ends
	hangUp  context.CancelCauseFunc // ends only ctx
	streams []io.Closer             // closing them unblocks reader and writer
	written chan struct{}           // closed by the writer
	closed  chan struct{}           // closed after the streams
	calling sync.WaitGroup          // running behaviours; added to with mu held, and not after asked has become nil

	// mu guards all fields below.
	mu     sync.Mutex
	queued sync.Cond // on mu: queue grew, or shut was set
	queue  [][]byte  // unbounded: a slow client must not block a behaviour
	shut   bool      // nothing more is queued; the writer ends when the queue is empty
	hs     era
	nextID int64
	calls  map[string]*CallContext // by the id's JSON text
	asked  map[string]*OutRequest  // likewise; nil if the connection has ended
}

// connect creates a connection and makes it the newest one.
func (s *Server) connect(ctx context.Context, web *session) *conn {
	c := &conn{
		server: s,
		web:    web,
		nextID: s.cfg.firstID,
		calls:  make(map[string]*CallContext),
		asked:  make(map[string]*OutRequest),
	}
	c.queued.L = &c.mu
	c.link, c.cut = context.WithCancelCause(ctx)
	c.ctx, c.hangUp = context.WithCancelCause(c.link)
	s.mu.Lock()
	s.conns++
	c.ordinal = s.conns
	s.open = append(s.open, c)
	s.announce()
	s.mu.Unlock()
	return c
}

// pipe creates a connection over a pair of streams.
func (s *Server) pipe(ctx context.Context, r io.Reader, w io.WriteCloser) *conn {
	c := s.connect(ctx, nil)
	c.streams = []io.Closer{w}
	c.written, c.closed = make(chan struct{}), make(chan struct{})
	if rc, ok := r.(io.Closer); ok {
		c.streams = append(c.streams, rc)
	}
	go func() {
		defer close(c.written)
		c.write(w)
	}()
	go func() {
		defer close(c.closed)
		<-c.link.Done()
		c.shutQueue(true)
		for _, s := range c.streams {
			_ = s.Close()
		}
	}()
	return c
}

// end breaks the connection at once.
func (c *conn) end(cause error) { c.cut(cause) }

// serve reads to the end of the input. Then it cancels the calls, waits for the behaviours, and flushes what they still
// wrote.
func (c *conn) serve(r io.Reader) error {
	cause := c.read(bufio.NewReader(r))
	switch {
	case c.link.Err() != nil:
		cause = context.Cause(c.link) // the streams were closed for it, which may be seen before c.ctx has ended
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrClosedPipe), errors.Is(cause, os.ErrClosed):
		cause = errInputEnded
	default:
		c.cut(cause)
	}
	c.hangUp(cause)
	c.finish()
	c.shutQueue(false)
	<-c.written
	c.cut(errServed)
	<-c.closed
	if errors.Is(cause, errInputEnded) || errors.Is(cause, errDisconnected) {
		return nil
	}
	return cause
}

// finish admits no new call and waits for the running ones. They end with ctx, which the caller must have ended.
func (c *conn) finish() {
	c.server.mu.Lock()
	if i := slices.Index(c.server.open, c); i >= 0 {
		c.server.open = slices.Delete(c.server.open, i, i+1)
	}
	c.server.mu.Unlock()
	c.mu.Lock()
	asked := c.asked
	c.asked = nil
	c.mu.Unlock()
	for _, o := range asked {
		close(o.response)
	}
	c.calling.Wait()
}

func (c *conn) read(r *bufio.Reader) error {
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if e := c.pause(); e != nil {
				return e
			}
			c.take(bytes.TrimRight(line, "\r\n"), nil)
		}
		if err != nil {
			return err
		}
	}
}

// pause blocks while reading is paused.
func (c *conn) pause() error {
	for {
		c.server.mu.Lock()
		gate := c.server.gate
		c.server.mu.Unlock()
		if gate == nil {
			return nil
		}
		select {
		case <-gate:
		case <-c.link.Done():
			return context.Cause(c.link)
		}
	}
}

// take records one message and acts on it. It runs in the reader, so a cancel takes effect before the next message is
// read; over HTTP it runs in the handler of the message's POST. reply is the stream for the answer over HTTP, else nil.
// take returns the call of a request, else nil.
func (c *conn) take(line []byte, reply *stream) *CallContext {
	m := parse(line, c.ordinal)
	switch {
	case m.IsRequest():
		call, start := c.admitCall(m, reply)
		c.server.record(m)
		start()
		return call
	case m.Method == methodCancelled:
		c.mu.Lock()
		call := c.calls[string(m.Param("requestId"))]
		c.mu.Unlock()
		if call != nil {
			call.cancelBy(&CancelledError{Reason: text(m.Param("reason"))})
		}
		c.server.record(m)
	case m.IsResponse():
		c.mu.Lock()
		o := c.asked[string(m.ID)]
		delete(c.asked, string(m.ID))
		c.mu.Unlock()
		c.server.record(m)
		if o != nil {
			o.response <- m
			close(o.response)
		}
	default:
		c.server.record(m)
	}
	return nil
}

// admitCall registers the call before it is recorded, so that a test that sees the record can rely on it. start runs
// it.
func (c *conn) admitCall(m Message, reply *stream) (call *CallContext, start func()) {
	call = &CallContext{ID: m.ID, Method: m.Method, Params: m.Params, conn: c, reply: reply,
		cancelled: make(chan string, 1)}
	call.ctx, call.cancel = context.WithCancelCause(c.ctx)
	c.mu.Lock()
	_, taken := c.calls[string(m.ID)]
	if !taken {
		c.calls[string(m.ID)] = call
	}
	c.mu.Unlock()
	if taken {
		return call, func() {
			call.Error(codeInvalidRequest, "the id is in use")
			call.cancel(errReturned)
			reply.returned()
		}
	}
	h, quick := c.behaviour(m)
	run := func() {
		defer func() {
			c.mu.Lock()
			delete(c.calls, string(m.ID))
			c.mu.Unlock()
			call.cancel(errReturned)
			reply.returned()
		}()
		h(call)
	}
	if quick {
		return call, run
	}
	return call, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.asked != nil {
			c.calling.Go(run)
		}
	}
}

func (c *conn) handshake(e era) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hs = e
}

func (c *conn) era() era {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hs
}

func (c *conn) modern() bool { return c.era() == eraModern }

// write is the only writer. A failed write ends writing; the reader detects the end by itself.
func (c *conn) write(w io.Writer) {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.shut {
			c.queued.Wait()
		}
		batch := c.queue
		c.queue = nil
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, b := range batch {
			if _, err := w.Write(b); err != nil {
				c.shutQueue(true)
				return
			}
		}
	}
}

// shutQueue admits nothing more to the queue. drop also drops what is queued.
func (c *conn) shutQueue(drop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	if drop {
		c.queue = nil
	}
	c.queued.Signal()
}

// answer sends the answer of a call. line is a whole line.
func (c *conn) answer(call *CallContext, line []byte) error {
	if c.web != nil {
		return c.web.send(call, line, true)
	}
	return c.enqueue(line)
}

// send sends any other message: of a call, or of the server itself if call is nil.
func (c *conn) send(call *CallContext, line []byte) error {
	if c.web != nil {
		return c.web.send(call, line, false)
	}
	return c.enqueue(line)
}

func (c *conn) enqueue(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return ErrNotConnected
	}
	c.queue = append(c.queue, b)
	c.queued.Signal()
	return nil
}

func (c *conn) notify(call *CallContext, method string, params json.RawMessage) error {
	if len(params) == 0 {
		return c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`+"\n", method))
	}
	return c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params))
}

// request sends a request with the next id, or the given one. The OutRequest is never nil.
func (c *conn) request(call *CallContext, id json.RawMessage, method, params string) (*OutRequest, error) {
	o := &OutRequest{conn: c, call: call, response: make(chan Message, 1)}
	c.mu.Lock()
	if id == nil {
		id = strconv.AppendInt(nil, c.nextID, 10)
		c.nextID++
	}
	o.ID = id
	_, taken := c.asked[string(id)]
	ended := c.asked == nil
	if !taken && !ended {
		c.asked[string(id)] = o
	}
	c.mu.Unlock()
	if taken || ended {
		close(o.response) // the first owner of the id gets the answer; an ended connection delivers none
	}
	if ended {
		return o, ErrNotConnected
	}
	if len(params) == 0 {
		return o, c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q}`+"\n", id, method))
	}
	return o, c.send(call, around(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":`, id, method), params))
}

// around returns a line with this beginning and a last member that may be large. It copies the member only once, since
// under the race detector a copy of many MiB takes long.
func around(begin, last string) []byte {
	const end = "}\n"
	line := make([]byte, 0, len(begin)+len(last)+len(end))
	return append(append(append(line, begin...), last...), end...)
}

// OutRequest is one request from the server to the client.
type OutRequest struct {
	ID json.RawMessage // exact JSON text, as sent

	conn     *conn
	call     *CallContext // the call that asked, which over HTTP has the stream; nil for the server itself
	response chan Message // the first response, then closed; closed without one if the connection ends
}

// Response returns a channel that gets the first response and is then closed. It is closed without one if the
// connection ends first. Further responses can be seen by [Server.Count] with [ResponseTo].
func (o *OutRequest) Response() <-chan Message { return o.response }

// Cancel withdraws the request with notifications/cancelled. An empty reason is left out. It may be called repeatedly,
// and after the response: nothing is checked.
func (o *OutRequest) Cancel(reason string) {
	params := map[string]any{"requestId": o.ID}
	if reason != "" {
		params["reason"] = reason
	}
	_ = o.conn.notify(o.call, methodCancelled, marshal(params))
}
