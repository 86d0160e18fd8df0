//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// tap is a proxy between the hub and a server behind a URL, which records what the hub sends. The server can be
// exchanged for another.
type tap struct {
	t   *testing.T
	url string // without a path

	mu      sync.Mutex // guards all below
	target  *url.URL
	refused map[string]bool // sessions that are answered with 404
	sent    []posted
}

// posted is one HTTP request of the hub.
type posted struct {
	Verb, Session string
	Body          string
	ID            json.RawMessage
	Method        string
	Params        struct {
		RequestID json.RawMessage
		Reason    *string
		Name      string
		TaskID    string
	}
	Result json.RawMessage
	Error  *struct{ Code int64 }
}

func newTap(t *testing.T, address string) *tap {
	t.Helper()
	p := &tap{t: t, refused: map[string]bool{}}
	p.to(address)
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			r.SetURL(&url.URL{Scheme: p.target.Scheme, Host: p.target.Host})
		},
		// A request to a server that is gone breaks the connection to the hub.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     quiet,
		// Node closes a connection that is idle for 5 s: on a busy machine just as the next request is sent on it.
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !p.take(r, body) {
			http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`,
				http.StatusNotFound)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = quiet
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		proxy.Transport.(*http.Transport).CloseIdleConnections()
	})
	p.url = s.URL
	return p
}

// take records a request, and reports whether it is passed on.
func (p *tap) take(r *http.Request, body []byte) bool {
	m := posted{Verb: r.Method, Session: r.Header.Get("Mcp-Session-Id"), Body: string(body)}
	_ = json.Unmarshal(body, &m) // a body that is no message has no method
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	return !p.refused[m.Session]
}

// to sets the server to which all requests go from now on.
func (p *tap) to(address string) {
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = u
}

// forget drops what was recorded so far.
func (p *tap) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = nil
}

// expire makes the tap answer requests of every session so far with 404. The server is not told.
func (p *tap) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.sent {
		if m.Session != "" {
			p.refused[m.Session] = true
		}
	}
}

// all returns the requests that match.
func (p *tap) all(match func(posted) bool) []posted {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []posted
	for _, m := range p.sent {
		if match(m) {
			found = append(found, m)
		}
	}
	return found
}

// one returns the request that matches, and fails unless there is exactly one.
func (p *tap) one(what string, match func(posted) bool) posted {
	p.t.Helper()
	found := p.all(match)
	if len(found) != 1 {
		p.t.Fatalf("%d times sent, not once: %s\n%v", len(found), what, found)
	}
	return found[0]
}

// await waits until a request matches, and returns the first.
func (p *tap) await(what string, match func(posted) bool) posted {
	p.t.Helper()
	var found []posted
	until(p.t, what+" was sent", func() bool { found = p.all(match); return len(found) > 0 })
	return found[0]
}

func sent(method string) func(posted) bool {
	return func(m posted) bool { return m.Method == method }
}

// refusals matches the answers to questions of the server that are errors.
func refusals(m posted) bool { return m.Method == "" && m.ID != nil && m.Error != nil }
