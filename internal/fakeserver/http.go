package fakeserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
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
	busy      sync.WaitGroup      // handlers; added to with mu held, and no more once closed
	sessions  map[string]*session // by id
	minted    int
	acts      []act
	exchanges []*exchange
}

// NewHTTP returns a handler for s.
func NewHTTP(s *Server, o HTTPOptions) *HTTP {
	h := &HTTP{server: s, o: o, sessions: make(map[string]*session)}
	h.ctx, h.close = context.WithCancelCause(context.Background())
	return h
}

// Close ends every session and stream, and waits for everything that runs. Later requests are answered with 503. It may
// be called more than once.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.close(errHTTPClosed)
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
	if x.act.Status != 0 {
		x.plain(x.act.Status, x.act.Header["Content-Type"], x.act.Body)
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

// Exchange is one HTTP request as it was received.
type Exchange struct {
	N       int    // from 1, in the order of arrival
	Verb    string // POST, GET, DELETE
	Header  http.Header
	Message Message // the zero value without one
	Ended   bool
}

// exchange is the internal state of an Exchange.
type exchange struct {
	http    *HTTP
	w       http.ResponseWriter
	r       *http.Request
	act     Act
	body    []byte
	seen    Exchange // guarded by HTTP.mu
	closed  bool     // likewise: the client closed it before the end of the answer
	session *session // of a POST with a request; guarded by HTTP.mu
	reply   *stream  // likewise
}

// arrived reads the request and records it.
func (h *HTTP) arrived(w http.ResponseWriter, r *http.Request) (*exchange, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	x := &exchange{http: h, w: w, r: r, body: body, seen: Exchange{Verb: r.Method, Header: r.Header.Clone()}}
	if len(body) > 0 {
		x.seen.Message = parse(body, 0)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	x.seen.N = len(h.exchanges) + 1
	h.exchanges = append(h.exchanges, x)
	x.act = h.actFor(x.what())
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

// left records that the client closed the exchange.
func (x *exchange) left() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.closed = true
}

// over records the end of the handler.
func (x *exchange) over() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.seen.Ended = true
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

// plain answers with a body. An empty contentType is left out.
func (x *exchange) plain(status int, contentType, body string) {
	if contentType != "" {
		x.w.Header().Set("Content-Type", contentType)
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if !x.hold() {
		return
	}
	x.w.WriteHeader(status)
	if err := x.shape().write(body); err != nil {
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
func (x *exchange) abort() { panic(http.ErrAbortHandler) } // net/http then breaks the connection, and logs nothing

// Memory is a [net.Listener] whose connections are in-memory pipes. All waits on them are durable, so it works in a
// testing/synctest bubble, where sockets do not.
type Memory struct {
	accepted chan net.Conn
	done     chan struct{}
	once     sync.Once
}

// NewMemory returns a listener that is not served.
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
