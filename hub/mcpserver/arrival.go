package mcpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Watch lets the handlers of a Server learn what becomes of a connection after the last byte of an answer was written:
// s must serve the listener that it returns.
//
// A modern client cancels by closing, and a round that it has not got is cancelled with its request. Before the last
// byte, net/http ends the request's context. After it, a reset says that the client had unread data when it closed, or
// had closed before the data came; a connection that is merely closed says nothing, since a client without keep-alive
// closes it after it has read everything. docs/gateway.md has the table, from experiments with several clients.
func Watch(s *http.Server, l net.Listener) net.Listener {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, watchedKey{}, c)
	}
	return watching{l}
}

type watchedKey struct{}

type watching struct{ net.Listener }

func (l watching) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watched{Conn: c}, nil
}

// watched is a connection over which one exchange follows the other.
type watched struct {
	net.Conn
	reset  moment // the client has reset it
	ended  moment // the client has closed it, or the server
	mu     sync.Mutex
	closed bool // Close was called
}

// moment is something that happens to a connection once.
type moment struct {
	mu     sync.Mutex
	passed bool
	then   func()
}

// do sets what is done when the moment comes, on a goroutine of the server, instead of what was set before. If it has
// come already, that is done now.
func (m *moment) do(then func()) {
	m.mu.Lock()
	passed := m.passed
	if !passed {
		m.then = then
	}
	m.mu.Unlock()
	if passed && then != nil {
		then()
	}
}

func (m *moment) come() {
	m.mu.Lock()
	then := m.then
	m.passed, m.then = true, nil
	m.mu.Unlock()
	if then != nil {
		then()
	}
}

// awaited reports whether something is to be done when the moment comes.
func (m *moment) awaited() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.then != nil
}

// resetTime is how long a connection over which a round was sent stays open after its close, for the reset that the
// last bytes may cause.
const resetTime = time.Second

// watchedIn returns the connection of a request, or nil if it is not watched or carries several requests at once.
func watchedIn(r *http.Request) *watched {
	c, _ := r.Context().Value(watchedKey{}).(*watched)
	if r.ProtoMajor != 1 {
		return nil
	}
	return c
}

// Read implements net.Conn.
func (c *watched) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.reset.come()
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // a server without a request to answer ends reads by that
		c.ended.come()
	}
	return n, err
}

// Write implements net.Conn. What the server could not write after the handler has returned, the client has not got.
func (c *watched) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.reset.come()
	}
	return n, err
}

// Close implements net.Conn. A client that closed before the last bytes came has answered them with a reset. The
// reader, which has seen the end of the stream by then, does not learn of it. If the client does not want to keep the
// connection, it is closed right behind the last bytes, and their reset is still on its way: the client is told of the
// end at once, and the socket is closed a moment later.
func (c *watched) Close() error {
	defer c.ended.come()
	if pendingError(c.Conn) {
		c.reset.come()
	}
	c.mu.Lock()
	wait := c.reset.awaited() && !c.closed
	c.closed = true
	c.mu.Unlock()
	half, can := c.Conn.(interface{ CloseWrite() error })
	if !wait || !can || half.CloseWrite() != nil {
		return c.Conn.Close()
	}
	time.AfterFunc(resetTime, func() {
		if pendingError(c.Conn) {
			c.reset.come()
		}
		_ = c.Conn.Close()
	})
	return c.SetReadDeadline(time.Unix(1, 0)) // ends a read that is on its way
}
