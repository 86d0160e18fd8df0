package fakeserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
)

// Handler is the behaviour of one method or tool. It runs on its own goroutine, for which Serve waits. If it does not
// answer, the request stays unanswered. The answers of concurrent handlers may come in any order.
type Handler func(c *CallContext)

// ErrNotConnected is returned if something is sent while no connection is served.
var ErrNotConnected = errors.New("fakeserver: no connection")

// Server is a scriptable MCP server. It can be served over several connections, in turn or at the same time. Behaviours
// and the record of received messages belong to the server; ids and the handshake belong to the connection. Over HTTP
// (see [HTTP]) a connection is a legacy session, or one exchange of 2026-07-28, which has no sessions. All methods are
// safe for concurrent use.
type Server struct {
	cfg config

	// mu guards all fields below. It is never held while blocking.
	mu       sync.Mutex
	received []Message
	changed  chan struct{} // closed and replaced when received or subs grow
	tools    []tool
	handlers map[string]Handler
	open     []*conn // the connections, the newest last
	conns    int
	gate     chan struct{} // non-nil while reading is paused; closed by resume
	level    string
	subs     []*Subscription
}

type tool struct {
	name       string
	definition json.RawMessage
	handler    Handler
}

// New returns a server; see [Option] for the defaults.
func New(opts ...Option) *Server {
	s := &Server{
		cfg:      defaultConfig(),
		changed:  make(chan struct{}),
		handlers: make(map[string]Handler),
	}
	for _, o := range opts {
		o(&s.cfg)
	}
	return s
}

// Tool registers a tool with an input schema that accepts any object, or replaces the tool of that name. It does not
// notify clients: see [Server.NotifyToolsChanged].
func (s *Server) Tool(name string, h Handler) {
	s.ToolWith(string(marshal(map[string]any{
		"name": name, "inputSchema": map[string]any{"type": "object"},
	})), h)
}

// ToolWith registers a tool by its complete definition as JSON text.
func (s *Server) ToolWith(definition string, h Handler) {
	t := tool{name: text(member(json.RawMessage(definition), "name")), definition: json.RawMessage(definition), handler: h}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.toolIndex(t.name); i >= 0 {
		s.tools[i] = t
		return
	}
	s.tools = append(s.tools, t)
}

// RemoveTool removes a tool. It does not notify clients.
func (s *Server) RemoveTool(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.toolIndex(name); i >= 0 {
		s.tools = slices.Delete(s.tools, i, i+1)
	}
}

func (s *Server) toolIndex(name string) int { // called with mu held
	return slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
}

// Handle replaces the server's behaviour for a request method, including built-in ones (initialize, tools/list, ...).
// An overridden initialize counts as done for the order of the handshake once it was received.
func (s *Server) Handle(method string, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[method] = h
}

// Serve serves one client until its input ends, ctx ends or the server disconnects. Then it waits for all handlers,
// writes what is queued (unless ctx ended), and closes w, and r if it can be closed. The error is nil at the end of the
// input and after a disconnect, else the cause of ctx's end or the read error.
//
// A handler that intentionally outlives its connection must return at some time, since Serve waits for it.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.WriteCloser) error {
	return s.pipe(ctx, r, w).serve(r)
}

// Send writes raw bytes on the newest connection, after what is queued. The caller supplies the newline. Over HTTP they
// are one event on the standalone stream.
func (s *Server) Send(raw string) error {
	c := s.connection()
	if c == nil {
		return ErrNotConnected
	}
	return c.send(nil, []byte(raw))
}

// SendLine is Send with a newline added.
func (s *Server) SendLine(raw string) error { return s.Send(raw + "\n") }

// Notify sends a notification on the newest connection. Empty params are left out.
func (s *Server) Notify(method, params string) error {
	c := s.connection()
	if c == nil {
		return ErrNotConnected
	}
	return c.notify(nil, method, json.RawMessage(params))
}

// Request sends a request to the client on the newest connection, outside any call.
func (s *Server) Request(method, params string) (*OutRequest, error) {
	c := s.connection()
	if c == nil {
		return nil, ErrNotConnected
	}
	return c.request(nil, nil, method, params)
}

// RequestWithID is Request with a chosen id (JSON text), which may be in use or malformed.
func (s *Server) RequestWithID(id, method, params string) (*OutRequest, error) {
	c := s.connection()
	if c == nil {
		return nil, ErrNotConnected
	}
	return c.request(nil, json.RawMessage(id), method, params)
}

// NotifyToolsChanged tells the client of the newest connection that the tool list has changed: by a plain notification
// on a legacy connection, or by one for each subscription that asked for it on a modern one.
func (s *Server) NotifyToolsChanged() error {
	c := s.connection()
	if c == nil {
		return ErrNotConnected
	}
	if !c.modern() {
		return c.notify(nil, methodToolsChanged, nil)
	}
	for _, sub := range s.Subscriptions() {
		if sub.call.conn.siblingOf(c) && string(member(sub.Filter, "toolsListChanged")) == "true" {
			if err := sub.Notify(methodToolsChanged, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// Disconnect ends the newest connection at once, like a crash: both streams are closed, and queued writes are lost.
func (s *Server) Disconnect() {
	if c := s.connection(); c != nil {
		c.end(errDisconnected)
	}
}

// PauseReading makes the server stop reading input, like a server that hangs. One message whose read was already in
// progress, and what a single read of at most 4096 bytes has read, may still be handled. The returned function resumes;
// further calls of it do nothing.
func (s *Server) PauseReading() (resume func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	if s.gate != nil {
		gate = s.gate
	} else {
		s.gate = gate
	}
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		if s.gate == gate {
			s.gate = nil
			close(gate)
		}
		s.mu.Unlock()
	}
}

// LogLevel returns the level that logging/setLevel has set last, or "".
func (s *Server) LogLevel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

func (s *Server) connection() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

func (s *Server) record(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
	s.announce()
}

func (s *Server) announce() { // called with mu held
	close(s.changed)
	s.changed = make(chan struct{})
}
