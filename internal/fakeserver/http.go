package fakeserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	errExpired    = errors.New("fakeserver: the session expired")
	errDeleted    = errors.New("fakeserver: the client deleted the session")
	errHTTPClosed = errors.New("fakeserver: the HTTP server was closed")
	errExchanged  = errors.New("fakeserver: the exchange is over")
)

// The paths that [HTTP] serves. Any other path is answered with 404.
const (
	PathMCP      = "/mcp"      // Streamable HTTP, legacy and modern, as the Server's options allow
	PathSSE      = "/sse"      // legacy HTTP with SSE (2024-11-05): GET
	PathMessages = "/messages" // its endpoint: POST
)

// HTTPOptions are fixed after NewHTTP. The zero value answers with event streams that cannot be resumed.
type HTTPOptions struct {
	// JSON answers requests with one JSON body. Other messages of a call then go to the standalone stream.
	JSON bool
	// Resumable gives every event an id, begins every stream with an event that has an id and no data, and serves GET with
	// Last-Event-ID (2025-11-25 basic/transports "Resumability and Redelivery"). Modern streams are never resumable.
	Resumable bool
	// Retry is sent with the first event of a stream; 0 means no retry.
	Retry time.Duration
	// Sessionless sends no session id: one session serves all clients, until the next initialize.
	Sessionless bool
	// Endpoint is the data of the endpoint event of HTTP with SSE; "" means PathMessages with the session's id.
	Endpoint string
}

// HTTP serves a [Server] over HTTP: Streamable HTTP of both eras at [PathMCP], HTTP with SSE at [PathSSE]. It is as
// strict as real servers about Accept, Content-Type, session and version headers, and in the modern era about the
// headers that mirror the body (Mcp-Param-* are recorded, not checked). [HTTP.On] makes it do something wrong.
//
// When a client leaves, the behaviours of a legacy session go on, because that is no cancel there. The behaviours of
// the other two end. All methods are safe for concurrent use. Close must be called.
type HTTP struct {
	server *Server
	o      HTTPOptions

	ctx   context.Context // parent of all connections; ends with Close
	close context.CancelCauseFunc

	// mu guards all fields below, and the state of sessions and streams. It is never held while blocking.
	mu        sync.Mutex
	closed    bool
	busy      sync.WaitGroup      // handlers and servers; added to with mu held, and no more once closed
	sessions  map[string]*session // by id
	minted    int
	acts      []act
	exchanges []*exchange
	steps     []string      // see Steps
	changed   chan struct{} // closed and replaced when exchanges or steps grow
	servers   []*http.Server
}

// NewHTTP returns a handler for s.
func NewHTTP(s *Server, o HTTPOptions) *HTTP {
	h := &HTTP{server: s, o: o, sessions: make(map[string]*session), changed: make(chan struct{})}
	h.ctx, h.close = context.WithCancelCause(context.Background())
	return h
}

// Close ends every session, stream and in-memory listener and waits for everything that runs. Later requests are
// answered with 503. It may be called more than once.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	servers := h.servers
	h.servers = nil
	h.mu.Unlock()
	h.close(errHTTPClosed)
	for _, s := range servers {
		_ = s.Close()
	}
	h.busy.Wait()
}

// Expire ends every legacy session now, like a server that was restarted: their streams end, their calls are cancelled,
// and their ids are answered with 404.
func (h *HTTP) Expire() {
	h.mu.Lock()
	var all []*session
	for _, s := range h.sessions {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.end(errExpired)
	}
}

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	h.busy.Add(1)
	h.mu.Unlock()
	defer h.busy.Done()

	x, err := h.arrived(w, r)
	if err != nil {
		return // the client left while it was sending
	}
	defer x.over()
	if x.act.answers() && !x.act.Handle {
		x.actOut()
		return
	}
	switch {
	case r.URL.Path == PathMCP && r.Method == http.MethodPost:
		x.post()
	case r.URL.Path == PathMCP && r.Method == http.MethodGet:
		x.listen()
	case r.URL.Path == PathMCP && r.Method == http.MethodDelete:
		x.deleteSession()
	case r.URL.Path == PathSSE && r.Method == http.MethodGet:
		x.openSSE()
	case r.URL.Path == PathMessages && r.Method == http.MethodPost:
		x.postSSE()
	case r.URL.Path == PathMCP, r.URL.Path == PathSSE, r.URL.Path == PathMessages:
		x.refuse(http.StatusMethodNotAllowed, -32000, "Method not allowed.")
	default:
		x.plain(http.StatusNotFound, "text/plain", "not found\n")
	}
}

// session is the state of a connection over HTTP.
type session struct {
	http *HTTP
	conn *conn
	id   string  // "" for a modern exchange
	own  *stream // gets messages that belong to no call; nil for a modern exchange
	sse  bool    // legacy HTTP with SSE: everything goes to own
}

// open creates a session, from within a handler. mint gives it an id and a stream of its own.
func (h *HTTP) open(ctx context.Context, mint, sse bool) *session {
	s := &session{http: h, sse: sse}
	s.conn = h.server.connect(ctx, s)
	h.mu.Lock()
	if mint {
		h.minted++
		s.id = "session-" + strconv.Itoa(h.minted)
		s.own = h.newStream("g"+strconv.Itoa(h.minted), false)
		h.sessions[s.id] = s
	}
	h.busy.Add(1) // the handler is counted as well, so Close is still waiting
	h.mu.Unlock()
	context.AfterFunc(s.conn.link, func() {
		defer h.busy.Done()
		h.forget(s)
		s.conn.finish()
	})
	return s
}

func (h *HTTP) session(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

func (h *HTTP) forget(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s.id)
}

// end ends the session, unless it has ended. It cancels its calls but does not wait for them: only Close of the server
// waits for a call that ignores the cancel.
func (s *session) end(cause error) {
	s.http.forget(s)
	s.conn.cut(cause)
}

// endsCleanly reports whether streams end normally, or else with a broken connection.
func (s *session) endsCleanly() bool { return !errors.Is(context.Cause(s.conn.link), errDisconnected) }

// send puts a message on the stream to which it belongs: that of the call while it is open, else that of the session.
func (s *session) send(call *CallContext, line []byte, isAnswer bool) error {
	data := strings.TrimRight(string(line), "\r\n")
	s.http.mu.Lock()
	defer s.http.mu.Unlock()
	if s.conn.link.Err() != nil {
		return ErrNotConnected
	}
	to := s.own
	if call != nil && call.reply != nil && !s.sse && !call.reply.done() && (isAnswer || !call.reply.json) {
		to = call.reply
	}
	if to == nil {
		return ErrNotConnected
	}
	to.events = append(to.events, data)
	to.answered = to.answered || isAnswer
	to.announce()
	return nil
}

// siblingOf reports whether both are one connection, or exchanges with one stateless server.
func (c *conn) siblingOf(other *conn) bool {
	return c == other || c.web != nil && other.web != nil && c.web.http == other.web.http && c.modern() && other.modern()
}

// Exchange is one HTTP request as it was received, and its outcome.
type Exchange struct {
	N       int    // from 1, in the order of arrival
	Verb    string // POST, GET, DELETE
	Path    string
	Header  http.Header
	Body    string
	Message Message // of Body; the zero value without one
	Status  int     // of the answer; 0 while there is none
	Events  int     // events that were written so far, including those without data
	Ended   bool    // Closed and Cut say by whom
	Closed  bool    // the client closed it before the end of the answer
	Cut     bool    // the server broke the connection
}

// exchange is the internal state of an Exchange.
type exchange struct {
	http    *HTTP
	w       http.ResponseWriter
	r       *http.Request
	act     Act
	seen    Exchange // guarded by HTTP.mu
	session *session // of a POST with a request; guarded by HTTP.mu
	reply   *stream  // likewise
}

// arrived reads the request and records it.
func (h *HTTP) arrived(w http.ResponseWriter, r *http.Request) (*exchange, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	x := &exchange{http: h, w: w, r: r}
	x.seen = Exchange{Verb: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	if len(body) > 0 {
		x.seen.Message = parse(body, 0)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	x.seen.N = len(h.exchanges) + 1
	h.exchanges = append(h.exchanges, x)
	what := x.what()
	x.act = h.actFor(what)
	h.step("%d %s", x.seen.N, what)
	return x, nil
}

// what returns the kind of a request: its verb, and the method of its message.
func (x *exchange) what() string {
	switch m := x.seen.Message; {
	case m.Method != "":
		return x.seen.Verb + " " + m.Method
	case m.IsResponse():
		return x.seen.Verb + " response"
	}
	return x.seen.Verb
}

func (h *HTTP) step(format string, args ...any) { // called with mu held
	h.steps = append(h.steps, fmt.Sprintf(format, args...))
	close(h.changed)
	h.changed = make(chan struct{})
}

// answered records the status.
func (x *exchange) answered(status int) {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.seen.Status = status
	x.http.step("%d status %d", x.seen.N, status)
}

// left records that the client closed the exchange.
func (x *exchange) left() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	if !x.seen.Closed {
		x.seen.Closed = true
		x.http.step("%d closed by the client", x.seen.N)
	}
}

// over records the end of the handler.
func (x *exchange) over() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.seen.Ended = true
	if x.seen.Closed || x.seen.Cut {
		close(x.http.changed)
		x.http.changed = make(chan struct{})
		return
	}
	x.http.step("%d end", x.seen.N)
}

// Exchanges returns a copy of all exchanges so far, in the order of arrival.
func (h *HTTP) Exchanges() []Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Exchange, len(h.exchanges))
	for i, x := range h.exchanges {
		all[i] = x.seen
	}
	return all
}

// Steps returns everything that happened so far, in order, one line each: "3 POST tools/call" or "3 GET" or "3 POST
// response" when the third request came, "3 status 200" when its headers were sent, and one of "3 closed by the
// client", "3 cut" and "3 end". A client can have a complete answer before its end is recorded, so wait until nothing
// runs before you compare.
func (h *HTTP) Steps() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.steps)
}

// WaitExchange returns the first exchange that matches, now or later. The error is the cause of ctx's end.
func (h *HTTP) WaitExchange(ctx context.Context, match func(Exchange) bool) (Exchange, error) {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		for _, x := range h.Exchanges() {
			if match(x) {
				return x, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Exchange{}, context.Cause(ctx)
		}
	}
}

// plain answers with a body. An empty contentType is left out.
func (x *exchange) plain(status int, contentType, body string) {
	if contentType != "" {
		x.w.Header().Set("Content-Type", contentType)
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if !x.hold() {
		return
	}
	x.answered(status)
	x.w.WriteHeader(status)
	if _, err := x.shape().write(body); err != nil {
		x.gone(err)
	}
}

// refuse answers with a JSON-RPC error that has no id.
func (x *exchange) refuse(status int, code int64, message string) {
	x.plain(status, "application/json", string(marshal(map[string]any{
		"jsonrpc": "2.0", "error": Error{Code: code, Message: message}, "id": nil,
	})))
}

// gone ends an exchange whose body could not be written, or has to be cut off.
func (x *exchange) gone(err error) {
	if errors.Is(err, errCut) {
		x.abort()
	}
	x.left()
}

// abort breaks the connection, or resets the stream of HTTP/2. It does not return.
func (x *exchange) abort() {
	x.http.mu.Lock()
	x.seen.Cut = true
	x.http.step("%d cut", x.seen.N)
	x.http.mu.Unlock()
	panic(http.ErrAbortHandler) // net/http then breaks the connection, and logs nothing
}

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
