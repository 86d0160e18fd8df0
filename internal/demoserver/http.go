package demoserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The paths of the HTTP server.
const (
	PathMCP = "/mcp" // Streamable HTTP: sessions for legacy clients, single exchanges for modern ones
	PathSSE = "/sse" // HTTP with SSE (2024-11-05)
)

// AddressError is the error for an address that is no address of this machine alone.
type AddressError struct{ message string }

// Error says what is wrong, and what to do.
func (e *AddressError) Error() string { return e.message }

// HTTPOptions configures [RunHTTP]. In and Out of Options are not used.
type HTTPOptions struct {
	Options
	// Addr is the address to listen on, HOST:PORT; "" means a free port of 127.0.0.1.
	Addr string
	// Ready is called once the server listens, with the URL of the server without a path. It may be nil.
	Ready func(url string)
}

// headerTime limits the time in which a client must send its headers. Bodies of answers have no time limit.
const headerTime = 10 * time.Second

// RunHTTP serves all clients until ctx ends. Then it ends all their sessions, and waits for the running tools as Run
// does. It returns nil if ctx ended it.
func RunHTTP(ctx context.Context, o HTTPOptions) (err error) {
	o.Options = o.withDefaults()
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if err := checkAddress(o.Addr); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("demo server: %w", err)
	}
	j, err := OpenJournal(o.Log, o.Record)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if o.Ready != nil {
		o.Ready("http://" + listener.Addr().String())
	}
	return serveHTTP(ctx, listener, o, j)
}

// serveHTTP serves as RunHTTP does, on a listener that it closes.
func serveHTTP(ctx context.Context, listener net.Listener, o HTTPOptions, j *Journal) error {
	h := NewHandler(o.Options, j)
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	j.note(Event{Event: EventReady})
	select {
	case <-ctx.Done():
	case err := <-served:
		served <- err
	}
	// The tools are cancelled before the connections close. Otherwise a client could see only the broken connection, and
	// resume.
	h.stop(context.Cause(ctx))
	_ = server.Close()
	h.Close()
	err := <-served
	j.note(Event{Event: EventClosed})
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("demo server: %w", err)
	}
	return nil
}

// checkAddress refuses an address that may not be loopback. It looks no names up, because the answer may change later.
func checkAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &AddressError{fmt.Sprintf("%q is not HOST:PORT, 127.0.0.1:8080 say", addr)}
	}
	if !loopbackHost(host) {
		return &AddressError{fmt.Sprintf("will not listen on %q: other machines could reach it, call its tools, and end it; "+
			"use 127.0.0.1", addr)}
	}
	return nil
}

var errStopped = errors.New("the demo server was stopped")

const (
	modernRevision = "2026-07-28"
	maxBody        = 32 << 20 // the SDK's own limit
)

// Handler serves the demo server over HTTP. The SDK does the work. The handler chooses between the SDK's two ways to
// serve Streamable HTTP, checks where requests come from, and records what the SDK does not report. It is safe for
// concurrent use.
type Handler struct {
	journal *Journal
	server  *mcp.Server
	legacy  *mcp.StreamableHTTPHandler // with sessions
	modern  *mcp.StreamableHTTPHandler // without sessions
	sse     *sseHandler

	ctx    context.Context // the context of all tools
	cancel context.CancelCauseFunc

	// mu guards closed, and additions to busy.
	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup // requests that are being served
}

// NewHandler returns a handler. The caller must close it, and keeps ownership of the journal.
func NewHandler(o Options, j *Journal) *Handler {
	h := &Handler{journal: j}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.server = build(h.ctx, o, j)
	get := func(*http.Request) *mcp.Server { return h.server }
	h.legacy = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true})
	// In a modern exchange, a close is the cancel (basic/patterns/cancellation). In the SDK this is an option.
	h.modern = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	h.sse = &sseHandler{ctx: h.ctx, server: h.server, sessions: make(map[string]*mcp.SSEServerTransport)}
	return h
}

// stop ends the tools and refuses further requests.
func (h *Handler) stop(cause error) {
	if cause == nil {
		cause = errStopped
	}
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel(cause)
}

// Close ends all sessions, and waits for their tools and for all requests. Further calls do nothing.
func (h *Handler) Close() {
	h.stop(nil)
	for s := range h.server.Sessions() {
		_ = s.Close()
	}
	h.busy.Wait()
	for s := range h.server.Sessions() { // begun by a request that was still being served
		_ = s.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		http.Error(w, "the server is ending", http.StatusServiceUnavailable)
		return
	}
	h.busy.Add(1)
	h.mu.Unlock()
	defer h.busy.Done()

	if why := forbidden(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	m, ok := h.posted(w, r)
	if !ok {
		return
	}
	switch r.URL.Path {
	case PathMCP:
		h.streamable(w, r, m)
	case PathSSE:
		h.sse.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// posted holds the members of a message that the handler reads.
type posted struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		cancelled
		Name      string `json:"name"`
		Arguments struct {
			Reason string `json:"reason"`
		} `json:"arguments"`
	} `json:"params"`
}

// posted reads a message, records a cancel, and leaves the body to be read again. It returns false if it has refused.
func (h *Handler) posted(w http.ResponseWriter, r *http.Request) (m posted, ok bool) {
	if r.Method != http.MethodPost {
		return m, true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return m, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_ = json.Unmarshal(body, &m) // the SDK refuses what is not a message
	if m.Method == methodCancelled {
		h.journal.noteCancel(m.Params.cancelled)
	}
	return m, true
}

func (h *Handler) streamable(w http.ResponseWriter, r *http.Request, m posted) {
	if m.Method != "" && m.ID != nil {
		answer := &answerWriter{ResponseWriter: w, id: m.ID}
		if withdraws(m.Params.Name) {
			answer.reason = m.Params.Arguments.Reason
		}
		w = answer
		// Before the response, the request's context ends only if the client leaves or the server ends.
		defer watch(r.Context(), func() {
			if h.ctx.Err() == nil && !answer.answered.Load() {
				h.journal.note(Event{Event: EventDisconnected, Tool: m.Params.Name, ID: m.ID})
			}
		})()
	}
	if r.Header.Get("Mcp-Protocol-Version") >= modernRevision {
		h.modern.ServeHTTP(w, r)
		return
	}
	h.legacy.ServeHTTP(w, r)
}

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// forbidden returns why a request is refused, or "" if it is allowed. A web page must not reach a server on this
// machine, neither from its own origin (the Origin header shows that) nor through a domain name of its own that
// resolves to this machine (the Host header shows that). See 2025-11-25 basic/transports "Security Warning", and
// 2026-07-28 likewise.
func forbidden(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" && !goodOrigin(origin) {
		return "Forbidden: the Origin is not this machine"
	}
	if !goodHost(r.Host, r.Context().Value(http.LocalAddrContextKey)) {
		return "Forbidden: the Host is not this server; use localhost, 127.0.0.1 or [::1] with its port"
	}
	return ""
}

func goodOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopbackHost(u.Hostname())
}

// goodHost also checks the port, if local is a TCP address: local is the server's end of the connection.
func goodHost(hostport string, local any) bool {
	u, err := url.Parse("http://" + hostport)
	if err != nil || u.Host != hostport {
		return false
	}
	if host := u.Hostname(); !strings.EqualFold(host, "localhost") && host != "127.0.0.1" && host != "::1" {
		return false
	}
	addr, ok := local.(*net.TCPAddr)
	if !ok {
		return true
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	_, own, err := net.SplitHostPort(addr.String())
	return err == nil && port == own
}

// withdraws reports whether a tool withdraws its question.
func withdraws(tool string) bool {
	return tool == "ask_then_withdraw" || tool == "sample_then_withdraw"
}

// answerWriter writes the answer to one request over Streamable HTTP, with two additions. It notes when the response
// was written: a client that leaves later cancels nothing. And it puts the tool's reason into the cancel of a withdrawn
// question. The SDK sends the question and its cancel on the stream of the call, each event in one write, and always
// with a reason of its own. (conn does the same for the other transports, but this transport cannot be wrapped.)
type answerWriter struct {
	http.ResponseWriter
	id       json.RawMessage // of the request
	reason   string          // "" keeps the SDK's reason
	answered atomic.Bool
}

// Unwrap lets [http.ResponseController] find the flusher.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answers reports whether b begins the response, as the SDK writes it: id first, then result or error.
func (w *answerWriter) answers(b []byte) bool {
	_, after, ok := bytes.Cut(b[:min(len(b), 64+len(w.id))], append([]byte(`"id":`), w.id...))
	return ok && (bytes.HasPrefix(after, []byte(`,"result":`)) || bytes.HasPrefix(after, []byte(`,"error":`)))
}

func (w *answerWriter) Write(b []byte) (int, error) {
	if w.answers(b) {
		w.answered.Store(true)
	}
	if w.reason == "" {
		return w.ResponseWriter.Write(b)
	}
	before, data, ok := bytes.Cut(b, []byte("data: "))
	var msg map[string]json.RawMessage
	if !ok || !bytes.Contains(data, []byte(`"notifications/cancelled"`)) || json.Unmarshal(data, &msg) != nil ||
		string(msg["method"]) != `"notifications/cancelled"` {
		return w.ResponseWriter.Write(b)
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(msg["params"], &params); err != nil {
		return w.ResponseWriter.Write(b)
	}
	reason, err := json.Marshal(w.reason)
	if err != nil {
		return 0, err
	}
	params["reason"] = reason
	if msg["params"], err = json.Marshal(params); err != nil {
		return 0, err
	}
	text, err := json.Marshal(msg)
	if err != nil {
		return 0, err
	}
	event := append(append(bytes.Clone(before), "data: "...), text...)
	if _, err := w.ResponseWriter.Write(append(event, "\n\n"...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// transport is the SDK's stdio transport, or its HTTP with SSE, with three additions. Reading ends with ctx, which
// cancels the running tools. Cancels are recorded. The cancellation of the server's own question has the reason that
// the tool chose.
type transport struct {
	ctx     context.Context
	journal *Journal // nil if cancels are recorded elsewhere
	base    mcp.Transport
}

// SupportsProtocolVersion implements [mcp.ProtocolVersionSupporter] with the answer of the base.
func (t *transport) SupportsProtocolVersion(version string) bool {
	base, ok := t.base.(mcp.ProtocolVersionSupporter)
	return !ok || base.SupportsProtocolVersion(version)
}

// Connect implements [mcp.Transport].
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.base.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Connection: c, ctx: t.ctx, journal: t.journal}, nil
}

type conn struct {
	mcp.Connection
	ctx     context.Context
	journal *Journal
}

// Read reads with Run's context: the SDK passes one that never ends.
func (c *conn) Read(context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(c.ctx)
	if n, ok := msg.(*jsonrpc.Request); ok && err == nil && n.Method == methodCancelled && c.journal != nil {
		var params cancelled
		if json.Unmarshal(n.Params, &params) == nil {
			c.journal.noteCancel(params)
		}
	}
	return msg, err
}

// withdrawal is passed in the context of a question to the notification that withdraws the question.
type withdrawal struct {
	reason string // "" keeps the SDK's own text ("context canceled")
	once   sync.Once
	sent   chan struct{} // closed when the notification was written, or failed
}

type withdrawalKey struct{}

func withWithdrawal(ctx context.Context, reason string) (context.Context, *withdrawal) {
	w := &withdrawal{reason: reason, sent: make(chan struct{})}
	return context.WithValue(ctx, withdrawalKey{}, w), w
}

// Write puts the reason into notifications/cancelled. The SDK sends the notification with the values of the question's
// context.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || req.Method != methodCancelled {
		return c.Connection.Write(ctx, msg)
	}
	w, ok := ctx.Value(withdrawalKey{}).(*withdrawal)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	defer w.once.Do(func() { close(w.sent) })
	if w.reason != "" {
		var params map[string]json.RawMessage
		if err := json.Unmarshal(req.Params, &params); err != nil {
			return err
		}
		reason, err := json.Marshal(w.reason)
		if err != nil {
			return err
		}
		params["reason"] = reason
		changed := *req
		if changed.Params, err = json.Marshal(params); err != nil {
			return err
		}
		msg = &changed
	}
	return c.Connection.Write(ctx, msg)
}

// sseHandler does what the SDK's SSEHandler does, but its transport can be wrapped: so tools end with the stream, and
// withdrawals have their reasons.
type sseHandler struct {
	ctx    context.Context // ends all sessions
	server *mcp.Server

	// mu guards sessions.
	mu       sync.Mutex
	sessions map[string]*mcp.SSEServerTransport // by id
}

func (h *sseHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		h.open(w, r)
	case http.MethodPost:
		h.post(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// open opens a session that lives as long as the request (2024-11-05 basic/transports "HTTP with SSE").
func (h *sseHandler) open(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })()

	id := rand.Text()
	base := &mcp.SSEServerTransport{Endpoint: PathSSE + "?sessionid=" + id, Response: w}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	h.mu.Lock()
	h.sessions[id] = base
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.sessions, id)
		h.mu.Unlock()
	}()
	session, err := h.server.Connect(ctx, &transport{ctx: ctx, base: base}, nil)
	if err != nil {
		return // the client has gone
	}
	_ = session.Wait()
}

func (h *sseHandler) post(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	h.mu.Lock()
	session := h.sessions[r.URL.Query().Get("sessionid")]
	h.mu.Unlock()
	if session == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	session.ServeHTTP(w, r)
}
