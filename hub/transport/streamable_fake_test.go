package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// exchangeSeen is one HTTP request as the fake server saw it.
type exchangeSeen struct {
	Verb, Method, ID string // of HTTP and of JSON-RPC
	Body             string
	Header           http.Header
	At               time.Duration // since the world began

	w http.ResponseWriter
	r *http.Request
}

func (x *exchangeSeen) json(status int, body string) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
}

func (x *exchangeSeen) result(value string) { x.json(200, x.answer(value)) }

func (x *exchangeSeen) answer(value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, x.ID, value)
}

// events begins an event stream, or goes on with it, and writes text to it as it stands.
func (x *exchangeSeen) events(text string) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(x.w, text)
	_ = http.NewResponseController(x.w).Flush()
}

func (x *exchangeSeen) accepted() { x.w.WriteHeader(http.StatusAccepted) }

// left waits until the client has closed the exchange.
func (x *exchangeSeen) left() { <-x.r.Context().Done() }

// fakeWeb is an MCP server over HTTP. on has its behaviour by JSON-RPC method, or by HTTP verb for what is no POST;
// anything else it handles like a plain server without a standalone stream.
type fakeWeb struct {
	on      map[string]func(*exchangeSeen)
	session string
	began   time.Time
	upload  func(*http.Request) bool // takes requests before their bodies are read; nil: none

	working sync.WaitGroup // handlers

	mu    sync.Mutex
	seen  []*exchangeSeen
	notes []string
}

func (f *fakeWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.working.Add(1)
	defer f.working.Done()
	if f.upload != nil && f.upload(r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the request was aborted
	}
	x := &exchangeSeen{Verb: r.Method, Body: string(body), Header: r.Header.Clone(), At: time.Since(f.began), w: w, r: r}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(body, &m)
	x.ID, x.Method = string(m.ID), m.Method
	f.mu.Lock()
	f.seen = append(f.seen, x)
	f.mu.Unlock()
	key := m.Method
	if r.Method != http.MethodPost {
		key = r.Method
	}
	f.note(key)
	switch h := f.on[key]; {
	case h != nil:
		h(x)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case x.Method == "initialize":
		if f.session != "" {
			w.Header().Set("Mcp-Session-Id", f.session)
		}
		x.result(`{}`)
	case x.ID == "" || x.Method == "":
		x.accepted()
	default:
		x.result(`{}`)
	}
}

func (f *fakeWeb) note(text string) {
	f.mu.Lock()
	f.notes = append(f.notes, text)
	f.mu.Unlock()
}

func (f *fakeWeb) noted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notes)
}

// requests returns the requests that came with this JSON-RPC method, or with this HTTP verb and no method.
func (f *fakeWeb) requests(key string) (all []*exchangeSeen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.seen {
		if x.Method == key || x.Verb == key && x.Method == "" {
			all = append(all, x)
		}
	}
	return all
}

// pipeListener is a network of net.Pipe: it blocks durably, as synctest requires.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	dial   func(context.Context) error // may refuse or delay; nil for neither
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (l *pipeListener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if l.dial != nil {
		if err := l.dial(ctx); err != nil {
			return nil, err
		}
	}
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// webWorld is a fake server, a Streamable that speaks to it, and a goroutine that receives, all in one bubble. The end
// of the bubble proves that no goroutine was left.
type webWorld struct {
	*testing.T
	*fakeWeb
	s    *Streamable
	net  *pipeListener
	got  chan Received
	over chan error
}

// elapse lets fake time pass: handlers and the methods of webWorld run in a bubble.
func elapse(d time.Duration) { faketime.Pass(d) }

func inWebWorld(t *testing.T, on map[string]func(*exchangeSeen), play func(w *webWorld),
	change ...func(*webWorld, *HTTPOptions)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &webWorld{T: t, fakeWeb: &fakeWeb{on: on, session: "s-1", began: time.Now()}, net: newPipeListener(),
			got: make(chan Received, 10000), over: make(chan error, 1)}
		rt := &http.Transport{DialContext: w.net.DialContext, MaxIdleConnsPerHost: 100}
		o := HTTPOptions{URL: "http://server.test/mcp?key=secret", RoundTripper: rt}
		for _, c := range change {
			c(w, &o)
		}
		srv := &http.Server{Handler: w.fakeWeb}
		served := make(chan struct{})
		go func() { defer close(served); _ = srv.Serve(w.net) }()
		w.s = NewStreamable(o)
		go func() {
			for {
				r, err := w.s.Receive()
				if err != nil {
					w.over <- err
					return
				}
				w.got <- r
			}
		}()
		defer func() { // also when play gave up
			_ = w.s.Close()
			rt.CloseIdleConnections()
			_ = srv.Close()
			<-served
			synctest.Wait() // every handler that will begin has begun
			w.working.Wait()
		}()
		play(w)
	})
}

func (w *webWorld) send(id, method string) {
	w.s.Send(Message{ID: id, Method: method, Body: message(id, method)})
}

func message(id, method string) []byte {
	if id == "" {
		return []byte(`{"jsonrpc":"2.0","method":"` + method + `"}`)
	}
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`)
}

// legacy opens a session of the revision.
func (w *webWorld) legacy(revision string) {
	w.Helper()
	w.s.Speak(false, "")
	w.send("0", "initialize")
	if r := w.next(); r.FailedID != "" {
		w.Fatalf("initialize: %v", r.Err)
	}
	w.s.Speak(false, revision)
	w.send("", "notifications/initialized")
	synctest.Wait()
}

func (w *webWorld) modern() { w.s.Speak(true, "2026-07-28") }

// next returns what is received next; if nothing comes, the test fails by the bubble's deadlock.
func (w *webWorld) next() Received {
	w.Helper()
	select {
	case r := <-w.got:
		return r
	case err := <-w.over:
		w.over <- err
		if len(w.got) > 0 { // it came before the end
			return <-w.got
		}
		w.Fatalf("the transport ended: %v", err)
		return Received{}
	}
}

func (w *webWorld) wantBody(stream, body string) {
	w.Helper()
	if r := w.next(); string(r.Body) != body || r.Stream != stream || r.FailedID != "" {
		w.Errorf("received %s of %q (failed %q: %v), want %s of %q", r.Body, r.Stream, r.FailedID, r.Err, body, stream)
	}
}

// wantFailed returns the error with which the request fails.
func (w *webWorld) wantFailed(id string, d Delivery, texts ...string) *HTTPError {
	w.Helper()
	r := w.next()
	e, ok := r.Err.(*HTTPError)
	if r.FailedID != id || !ok || r.Body != nil {
		w.Fatalf("received %s, failed %q: %v; want %q failed", r.Body, r.FailedID, r.Err, id)
	}
	if e.Delivery != d {
		w.Errorf("%v: delivery %d, want %d", e, e.Delivery, d)
	}
	for _, text := range texts {
		if !strings.Contains(e.Error(), text) {
			w.Errorf("%q does not say %q", e, text)
		}
	}
	if strings.Contains(e.Error(), "secret") {
		w.Errorf("%q tells a secret", e)
	}
	return e
}

// wantNothing fails the test if anything (more) is received within an hour.
func (w *webWorld) wantNothing() {
	w.Helper()
	elapse(time.Hour)
	synctest.Wait()
	select {
	case r := <-w.got:
		w.Errorf("received %s of %q, failed %q: %v", r.Body, r.Stream, r.FailedID, r.Err)
	default:
	}
}

func (w *webWorld) wantOpen(n int) {
	w.Helper()
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if len(w.s.st.open) != n {
		w.Errorf("%d open exchanges, want %d", len(w.s.st.open), n)
	}
}
