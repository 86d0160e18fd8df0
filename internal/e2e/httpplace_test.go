//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// quiet is where net/http says what tests do on purpose.
var quiet = log.New(io.Discard, "", 0)

// remote is a server behind a URL.
func remote(kind, address string) entry {
	return entry{Type: kind, URL: address, Approvals: allowAll}
}

// way is one way to a server on somebody else's SDK that keeps a journal.
type way struct {
	name    string
	open    func(testing.TB) *peers.Server
	kind    string // of transport, as the config has it
	era     string
	reasons bool // the SDK tells the tool why it was cancelled
}

var ways = []way{
	{"TypeScript 1, HTTP", peers.TypeScript1, "http", "legacy", true},
	{"TypeScript 1, SSE", peers.TypeScript1, "sse", "legacy", true},
	{"TypeScript 2, HTTP legacy", peers.TypeScript2, "http", "legacy", true},
	{"TypeScript 2, HTTP modern", peers.TypeScript2, "http", "modern", false},
	{"Go, HTTP legacy", openGoSDK, "http", "legacy", false},
	{"Go, HTTP modern", openGoSDK, "http", "modern", false},
	{"Go, SSE", openGoSDK, "sse", "legacy", false},
}

func openGoSDK(t testing.TB) *peers.Server {
	t.Helper()
	if err := goSDK(); err != nil {
		t.Fatal(err)
	}
	return peers.GoSDK(t)
}

func (y way) modern() bool { return y.era == "modern" }

// address is where the way leads.
func (y way) address(s *peers.Server) string {
	if y.kind == "sse" {
		return s.SSEURL
	}
	return s.URL
}

func (y way) entry(s *peers.Server) entry {
	e := remote(y.kind, y.address(s))
	e.Era = y.era
	return e
}

// eachWay runs a test on every way that has what it needs. Each has a server and a hub of its own, with two windows; the server is "peer".
func eachWay(t *testing.T, fits func(way) bool, test func(t *testing.T, y way, s *peers.Server, d *door, w, panel *fakeeditor.Window)) {
	for _, y := range ways {
		if !fits(y) {
			continue
		}
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := y.open(t)
			p := newPlace(t)
			d := p.open(servers{"peer": y.entry(s)})
			test(t, y, s, d, d.window("side bar"), d.window("panel"))
		})
	}
}

func anyWay(way) bool       { return true }
func legacyWay(y way) bool  { return y.era == "legacy" }
func typescript(y way) bool { return y.reasons }

// works proves that a peer does its work, by a call that shows progress and ends.
func (d *door) works(server string) {
	d.t.Helper()
	if text := d.call(server, "slow", `{"ms":50,"steps":5}`).text(); text != "done" {
		d.t.Fatalf("the call of slow gave %q", text)
	}
}

// requests counts the HTTP requests of a journal that match.
func requests(s *peers.Server, match func(peers.Event) bool) (n int) {
	for _, e := range s.Events() {
		if e.Event == peers.EventRequest && match(e) {
			n++
		}
	}
	return n
}

func ofMethod(method string) func(peers.Event) bool {
	return func(e peers.Event) bool { return e.Method == method }
}

// tap stands between the hub and a server behind a URL, and writes down what the hub sends. The server can be exchanged for another.
type tap struct {
	t   *testing.T
	url string // without a path

	mu      sync.Mutex // guards all below
	target  *url.URL
	refused map[string]bool // sessions that are told to be over
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
		// A server that is gone is a connection that breaks.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     quiet,
		Transport:    &http.Transport{},
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !p.take(r, body) {
			http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`, http.StatusNotFound)
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

// take writes a request down, and tells whether it goes on.
func (p *tap) take(r *http.Request, body []byte) bool {
	m := posted{Verb: r.Method, Session: r.Header.Get("Mcp-Session-Id"), Body: string(body)}
	_ = json.Unmarshal(body, &m) // what is none has no method
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	return !p.refused[m.Session]
}

// to names the server that all requests go to from now on.
func (p *tap) to(address string) {
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = u
}

// expire tells the hub that every session so far is over. The server hears nothing of it.
func (p *tap) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.sent {
		if m.Session != "" {
			p.refused[m.Session] = true
		}
	}
}

// all gives what was sent and matches.
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

// one gives what was sent and matches, and fails unless it is exactly one.
func (p *tap) one(what string, match func(posted) bool) posted {
	p.t.Helper()
	found := p.all(match)
	if len(found) != 1 {
		p.t.Fatalf("%d times sent, not once: %s\n%v", len(found), what, found)
	}
	return found[0]
}

// await waits until something was sent that matches.
func (p *tap) await(what string, match func(posted) bool) posted {
	p.t.Helper()
	var found []posted
	until(p.t, what+" was sent", func() bool { found = p.all(match); return len(found) > 0 })
	return found[0]
}

func sent(method string) func(posted) bool {
	return func(m posted) bool { return m.Method == method }
}

// refusals matches what answers a question of the server with an error.
func refusals(m posted) bool { return m.Method == "" && m.ID != nil && m.Error != nil }

// web is a scriptable server behind a URL, in this process, and the connections that the hub holds to it.
type web struct {
	t *testing.T
	*fakeserver.Server
	http *fakeserver.HTTP
	url  string // without a path

	mu    sync.Mutex // guards conns
	conns map[net.Conn]http.ConnState
}

func newWeb(t *testing.T, o fakeserver.HTTPOptions, options ...fakeserver.Option) *web {
	t.Helper()
	return newWebWith(t, o, nil, options...)
}

// newWebWith puts a handler around the server.
func newWebWith(t *testing.T, o fakeserver.HTTPOptions, around func(http.Handler) http.Handler, options ...fakeserver.Option) *web {
	t.Helper()
	s := fakeserver.New(options...)
	addTools(s)
	s.Tool("slow", func(c *fakeserver.CallContext) {
		c.Progress(1, 2, "half")
		_ = c.Hang()
	})
	b := &web{t: t, Server: s, http: fakeserver.NewHTTP(s, o), conns: map[net.Conn]http.ConnState{}}
	var handler http.Handler = b.http
	if around != nil {
		handler = around(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	server.Config.ConnState = b.noteConn
	server.Start()
	b.url = server.URL
	t.Cleanup(func() {
		b.http.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return b
}

func (b *web) noteConn(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(b.conns, c)
	} else {
		b.conns[c] = state
	}
}

// busy counts the connections that have an exchange under way.
func (b *web) busy() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, state := range b.conns {
		if state == http.StateActive {
			n++
		}
	}
	return n
}

func (b *web) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

func (b *web) entry(era string) entry {
	e := remote("http", b.url+fakeserver.PathMCP)
	e.Era = era
	return e
}

// came waits for an exchange.
func (b *web) came(d *door, match func(fakeserver.Exchange) bool) fakeserver.Exchange {
	b.t.Helper()
	x, err := b.http.WaitExchange(d.ctx, match)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// exchanges counts those that match.
func (b *web) exchanges(match func(fakeserver.Exchange) bool) (n int) {
	for _, x := range b.http.Exchanges() {
		if match(x) {
			n++
		}
	}
	return n
}

// isPost matches the POST of a message; of a tool call also its tool.
func isPost(method, tool string) func(fakeserver.Exchange) bool {
	return func(x fakeserver.Exchange) bool {
		var name string
		if tool != "" {
			_ = json.Unmarshal(x.Message.Param("name"), &name)
		}
		return x.Verb == http.MethodPost && x.Message.Method == method && name == tool
	}
}

// openWeb opens a hub with a scriptable server behind a URL, a bystander over stdio, and a window. The function that it gives is to be
// deferred: it checks that the bystander was not disturbed.
func openWeb(t *testing.T, b *web, era string) (*door, *fakeeditor.Window, func()) {
	t.Helper()
	p := newPlace(t)
	d := p.open(servers{"web": b.entry(era), "bystander": p.fake()})
	w := d.window("side bar")
	d.echoes("bystander", "before")
	pid := d.server("bystander").GetProcessId()
	return d, w, func() {
		if t.Failed() {
			return
		}
		d.echoes("bystander", "after")
		if now := d.server("bystander").GetProcessId(); now != pid {
			t.Errorf("the bystander was disturbed: process %d became %d", pid, now)
		}
	}
}

// closedWith checks the end of a prompt in several windows.
func closedWith(t *testing.T, id string, causes []mcphubv1.PromptCause, windows ...*fakeeditor.Window) *mcphubv1.PromptClosed {
	t.Helper()
	var last *mcphubv1.PromptClosed
	for _, w := range windows {
		if last = w.WaitClosed(id); !slices.Contains(causes, last.GetCause()) {
			t.Errorf("%s: prompt %s closed with %v", w, id, last)
		}
	}
	return last
}
