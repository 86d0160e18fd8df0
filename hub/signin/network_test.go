package signin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// network replaces sockets where time is fake: real ones would keep the bubble's clock from moving.
type network struct {
	mu    sync.Mutex
	open  map[string]*pipes
	taken map[string]bool // addresses of other programs
	next  int
}

func newNetwork() *network {
	return &network{open: map[string]*pipes{}, taken: map[string]bool{}, next: 40000}
}

func (n *network) listen(_ context.Context, address string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if address == "127.0.0.1:0" {
		n.next++
		address = fmt.Sprintf("127.0.0.1:%d", n.next)
	}
	if n.taken[address] || n.open[address] != nil {
		return nil, errors.New("address in use")
	}
	l := &pipes{net: n, address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	n.open[address] = l
	return l, nil
}

func (n *network) listeners() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// get requests an address on this computer, as a browser does.
func (n *network) get(ctx context.Context, address string) (*http.Response, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			n.mu.Lock()
			l := n.open[address]
			n.mu.Unlock()
			if l == nil {
				return nil, errors.New("connection refused")
			}
			ours, theirs := net.Pipe()
			select {
			case l.conns <- theirs:
				return ours, nil
			case <-l.closed:
				return nil, errors.New("connection refused")
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// pipes is a listener without sockets.
type pipes struct {
	net     *network
	address string
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.net.mu.Lock()
		defer l.net.mu.Unlock()
		delete(l.net.open, l.address)
	})
	return nil
}

func (l *pipes) Addr() net.Addr {
	a, err := net.ResolveTCPAddr("tcp", l.address)
	if err != nil {
		panic(err)
	}
	return a
}

// inProcess carries requests to a handler in the goroutine of the caller.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	server := req.Clone(req.Context())
	server.Host = req.URL.Host
	if server.Body == nil {
		server.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, server)
	server.Body.Close()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// A request to the server's own origin is signed however its port is written, and one to another origin is not. The two
// were once compared as text, so that a server whose address has ":443" in it got no token at an endpoint that it named
// without. Finding B15.
func TestSignComparesOrigins(t *testing.T) {
	for _, tt := range []struct {
		server, request string
		signed          bool
	}{
		{"https://mcp.example:443/mcp", "https://mcp.example/messages", true},
		{"https://mcp.example/mcp", "https://MCP.example:443/messages", true},
		{"http://mcp.example:80/mcp", "http://mcp.example/messages", true},
		{"http://[::1]/mcp", "http://[::1]:80/messages", true},
		{"https://mcp.example:443/mcp", "http://mcp.example:443/messages", false},
		{"https://mcp.example/mcp", "https://mcp.example:8443/messages", false},
		{"https://mcp.example/mcp", "https://mcp.example.evil/messages", false},
	} {
		s, err := New(Options{Server: "files", ServerURL: tt.server})
		if err != nil {
			t.Fatal(err)
		}
		s.entry, s.loaded = &Entry{AccessToken: "access-token"}, true
		req, err := http.NewRequest(http.MethodPost, tt.request, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Sign(t.Context(), req)
		if signed := err == nil && req.Header.Get("Authorization") != ""; signed != tt.signed {
			t.Errorf("%s for %s: signed %v, %v", tt.request, tt.server, signed, err)
		}
		s.Close()
	}
}
