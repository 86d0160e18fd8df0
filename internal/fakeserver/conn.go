package fakeserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

var (
	errDisconnected = errors.New("fakeserver: disconnected by the server")
	errInputEnded   = errors.New("fakeserver: the client closed its end")
	errReturned     = errors.New("fakeserver: the behaviour returned")
	errServed       = errors.New("fakeserver: connection served to its end")
)

// era is how far, and in which era, the handshake of a connection has come.
type era int

const (
	eraNone era = iota
	eraLegacy
	eraModern
)

// conn is one connection. Its goroutines are the reader (the caller of Serve), the writer, the closer of the streams and one
// for each open request; serve waits for all of them.
type conn struct {
	server  *Server
	ordinal int

	link    context.Context         // ends when the streams are to be closed, whatever is queued
	cut     context.CancelCauseFunc // ends link; the first cause wins
	ctx     context.Context         // parent of all calls: ends with link, and when the input ends
	hangUp  context.CancelCauseFunc // ends ctx alone
	streams []io.Closer             // closing them unblocks reader and writer
	written chan struct{}           // closed by the writer
	closed  chan struct{}           // closed when the streams are
	calling sync.WaitGroup          // the behaviours that run; added to by the reader alone

	// mu guards all below.
	mu     sync.Mutex
	queued sync.Cond // on mu: queue grew, or shut was set
	queue  [][]byte  // unbounded: a slow client must not block a behaviour
	shut   bool      // nothing more is queued; the writer ends when the queue is empty
	hs     era
	nextID int64
	calls  map[string]*CallContext // by the id's JSON text
	asked  map[string]*OutRequest  // likewise; nil when the connection has ended
}

func (s *Server) open(ctx context.Context, r io.Reader, w io.WriteCloser) *conn {
	c := &conn{
		server:  s,
		streams: []io.Closer{w},
		written: make(chan struct{}),
		closed:  make(chan struct{}),
		nextID:  s.cfg.firstID,
		calls:   make(map[string]*CallContext),
		asked:   make(map[string]*OutRequest),
	}
	c.queued.L = &c.mu
	c.link, c.cut = context.WithCancelCause(ctx)
	c.ctx, c.hangUp = context.WithCancelCause(c.link)
	if rc, ok := r.(io.Closer); ok {
		c.streams = append(c.streams, rc)
	}
	s.mu.Lock()
	s.conns++
	c.ordinal = s.conns
	s.current = c
	s.announce()
	s.mu.Unlock()
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

// serve reads to the end, then winds down: calls are told, behaviours waited for, what they still wrote is flushed.
func (c *conn) serve(r io.Reader) error {
	switch err := c.read(bufio.NewReader(r)); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, os.ErrClosed):
		c.hangUp(errInputEnded)
	default:
		c.cut(err)
	}
	c.server.mu.Lock()
	if c.server.current == c {
		c.server.current = nil
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
	c.shutQueue(false)
	<-c.written
	cause := context.Cause(c.ctx)
	c.cut(errServed)
	<-c.closed
	if errors.Is(cause, errInputEnded) || errors.Is(cause, errDisconnected) {
		return nil
	}
	return cause
}

func (c *conn) read(r *bufio.Reader) error {
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if e := c.pause(); e != nil {
				return e
			}
			c.take(bytes.TrimRight(line, "\r\n"))
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

// take records one message and acts on it. It runs in the reader, so a cancel is acted on before the next message is read.
func (c *conn) take(line []byte) {
	m := parse(line, c.ordinal)
	switch {
	case m.IsRequest():
		start := c.admitCall(m)
		c.server.record(m)
		start()
	case m.Method == methodCancelled:
		c.mu.Lock()
		call := c.calls[string(m.Param("requestId"))]
		c.mu.Unlock()
		if call != nil {
			call.cancelBy(text(m.Param("reason")))
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
}

// admitCall registers the call, so that whoever sees it recorded can rely on its being known, and returns its start.
func (c *conn) admitCall(m Message) (start func()) {
	call := &CallContext{ID: m.ID, Method: m.Method, Params: m.Params, conn: c, cancelled: make(chan string, 1)}
	call.ctx, call.cancel = context.WithCancelCause(c.ctx)
	c.mu.Lock()
	_, taken := c.calls[string(m.ID)]
	if !taken {
		c.calls[string(m.ID)] = call
	}
	c.mu.Unlock()
	if taken {
		return func() {
			call.Error(codeInvalidRequest, "the id is in use")
			call.cancel(errReturned)
		}
	}
	h, quick := c.behaviour(m)
	run := func() {
		defer func() {
			c.mu.Lock()
			delete(c.calls, string(m.ID))
			c.mu.Unlock()
			call.cancel(errReturned)
		}()
		h(call)
	}
	if quick {
		return run
	}
	return func() { c.calling.Go(run) }
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
