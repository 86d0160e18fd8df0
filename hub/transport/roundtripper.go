package transport

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	dialTimeout = 30 * time.Second
	tlsTimeout  = 10 * time.Second
	// idleConnTimeout counts only for connections that carry no exchange.
	idleConnTimeout = 90 * time.Second
	// A dead network is detected by an unanswered ping, not by silence, since a tool that works may be silent.
	pingAfter   = 15 * time.Second
	pingTimeout = 15 * time.Second
)

// roundTripper is the HTTP client of one transport. It sets no limit on how long an answer may take, since a slow tool
// has slow headers. Like any http.RoundTripper, it follows no redirects.
//
// It keeps a set of all connections that it has opened, because http.Transport forgets those that are still busy when
// the idle ones are closed: an aborted HTTP/2 stream keeps its connection busy for a moment longer.
type roundTripper struct {
	*http.Transport
	fresh func() *http.Transport // returns a transport that opens a connection for each request

	mu     sync.Mutex
	closed bool                  // guarded by mu
	conns  map[*ownConn]struct{} // guarded by mu; nil once closed
}

// ownConn removes itself from the set of its roundTripper when it is closed.
type ownConn struct {
	net.Conn
	of *roundTripper
}

func newRoundTripper() *roundTripper {
	return roundTripperOver((&net.Dialer{Timeout: dialTimeout}).DialContext)
}

func roundTripperOver(dial func(ctx context.Context, network, address string) (net.Conn, error)) *roundTripper {
	r := &roundTripper{conns: map[*ownConn]struct{}{}}
	r.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return r.keep(c)
		},
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConnsPerHost:    128,
		MaxResponseHeaderBytes: bounds.HeaderBytes,
		ForceAttemptHTTP2:      true, // a DialContext would turn it off
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	r.fresh = sync.OnceValue(func() *http.Transport {
		t := r.Clone()
		t.DisableKeepAlives = true
		return t
	})
	return r
}

func (r *roundTripper) keep(c net.Conn) (net.Conn, error) {
	own := &ownConn{Conn: c, of: r}
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.conns[own] = struct{}{}
	}
	r.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	return own, nil
}

func (c *ownConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// close closes every connection, busy or not, including those that are still being dialled. No request succeeds after
// it.
func (r *roundTripper) close() {
	r.CloseIdleConnections()
	r.mu.Lock()
	conns := r.conns
	r.conns, r.closed = nil, true
	r.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}
