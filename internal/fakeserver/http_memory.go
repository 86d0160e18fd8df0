package fakeserver

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// Memory is a [net.Listener] whose connections are in-memory pipes. All waits on them are durable, so it works in a
// testing/synctest bubble, where sockets do not.
type Memory struct {
	accepted chan net.Conn
	done     chan struct{}
	once     sync.Once
}

// NewMemory returns a listener that is not served. [HTTP.Listen] returns one that is served.
func NewMemory() *Memory {
	return &Memory{accepted: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements [net.Listener].
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.accepted:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. Open connections are not closed.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.done) })
	return nil
}

// Addr implements [net.Listener].
func (m *Memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "127.0.0.1:1" } // it looks like a host with a port, for code that needs one

// Dial connects to m for any address. It has the signature that [http.Transport] needs.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.accepted <- far:
		return near, nil
	case <-m.done:
		return nil, errors.New("fakeserver: connection refused")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// URL returns an address with this path that RoundTripper can reach.
func (m *Memory) URL(path string) string { return "http://127.0.0.1:1" + path }

// RoundTripper returns a transport that dials only m. The caller closes its idle connections.
func (m *Memory) RoundTripper() *http.Transport { return &http.Transport{DialContext: m.Dial} }

// Listen serves h in memory until Close, and returns a transport to reach it. For real sockets use h with
// net/http/httptest.
func (h *HTTP) Listen() (*Memory, *http.Transport) {
	m := NewMemory()
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		_ = m.Close()
		return m, m.RoundTripper()
	}
	h.servers = append(h.servers, server)
	h.busy.Go(func() { _ = server.Serve(m) })
	return m, m.RoundTripper()
}
