// Package fakeserver is a scriptable MCP server for tests of the hub's engine, session and counter.
//
// It uses only encoding/json to speak raw JSON-RPC, over newline-framed streams or through [HTTP] in all three ways
// that the protocol has for HTTP. So a fault of the hub's engine or of an SDK cannot be hidden by the same fault here.
// A test registers a behaviour for each tool or method. A behaviour may answer never, late, twice or wrongly, may ask
// the client something and may withdraw its question. Everything that was received is recorded, in order.
//
// Over HTTP, a test can choose what the server does wrong with which request, and can read the requests and the order
// of events.
//
// It blocks only on channels, on the given streams and on a sync.Cond, so it works inside a testing/synctest bubble
// with net.Pipe or io.Pipe; see [HTTP.Listen].
//
// What must not live here: assertions, knowledge of the hub, and any import of this module's packages or of an MCP SDK
// (except in a test that checks the fake against a client of another author).
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

// Protocol revisions. The legacy ones are those with an initialize handshake.
const (
	RevisionLatestLegacy = "2025-11-25"
	RevisionModern       = "2026-07-28"
)

var legacyRevisions = map[string]bool{
	"2024-11-05": true, "2025-03-26": true, "2025-06-18": true, RevisionLatestLegacy: true,
}

// probeMode is how the server answers server/discover.
type probeMode int

const (
	probeRefuse probeMode = iota // -32601, like a legacy server
	probeAnswer                  // a DiscoverResult, like a modern server
	probeSilent                  // no answer
	probeExit                    // both streams are closed, as by a server that exits
)

// config is fixed after New.
type config struct {
	name         string
	version      string
	revision     string // in the answer to initialize; "" echoes a known offer
	legacy       bool   // initialize is answered
	probe        probeMode
	capabilities json.RawMessage
	instructions string
	pageSize     int // number of tools on a page; 0 means no paging
	lenient      bool
	firstID      int64
}

func defaultConfig() config {
	return config{
		name:         "fakeserver",
		version:      "1.0.0",
		legacy:       true,
		capabilities: json.RawMessage(`{"tools":{"listChanged":true},"logging":{}}`),
	}
}

// Option sets one property of a [Server]. Without options the server is a legacy one: it echoes the offered revision if
// that is a legacy revision (else it answers 2025-11-25) and refuses server/discover with -32601.
type Option func(*config)

// WithRevision makes initialize answer with this revision for any offer. After [WithModern] it makes a server of both
// eras.
func WithRevision(rev string) Option {
	return func(c *config) { c.revision, c.legacy = rev, true }
}

// WithModern makes the server speak only 2026-07-28: it answers server/discover, requires the protocol version and the
// client's capabilities in the _meta of each request (else -32602), and refuses initialize, ping and logging/setLevel
// with -32601.
func WithModern() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, false }
}

// WithBothEras makes the server answer server/discover and initialize.
func WithBothEras() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, true }
}

// WithSilentProbe makes the server ignore server/discover: it never answers it.
func WithSilentProbe() Option {
	return func(c *config) { c.probe = probeSilent }
}

// WithExitOnProbe makes the server close both streams when server/discover comes, like a server that exits on an
// unknown first message. The same Server may be served again over new streams and then answers initialize.
func WithExitOnProbe() Option {
	return func(c *config) { c.probe = probeExit }
}

// WithCapabilities sets the JSON text of the declared capabilities. The default declares tools (listChanged) and
// logging.
func WithCapabilities(raw string) Option {
	return func(c *config) { c.capabilities = json.RawMessage(raw) }
}

// WithInstructions sets the text of the field instructions.
func WithInstructions(text string) Option {
	return func(c *config) { c.instructions = text }
}

// WithName sets the server's self-reported name and version.
func WithName(name, version string) Option {
	return func(c *config) { c.name, c.version = name, version }
}

// WithPageSize makes tools/list answer with n tools on a page. Zero, the default, means one page.
func WithPageSize(n int) Option {
	return func(c *config) { c.pageSize = n }
}

// WithLenientOrder admits requests that come before initialize. Otherwise they are refused with -32600.
func WithLenientOrder() Option {
	return func(c *config) { c.lenient = true }
}

// WithFirstID sets the id of the server's first own request on each connection; it counts up from there. The default is
// 0, as with TypeScript servers.
func WithFirstID(n int64) Option {
	return func(c *config) { c.firstID = n }
}

// ErrKilled is the cause with which [Process.Kill] ends the connection.
var ErrKilled = errors.New("fakeserver: killed")

// Process is a served connection over two in-memory pipes. To the client, they look like the pipes of a child process.
type Process struct {
	Stdin  io.WriteCloser // the client writes here; closing it ends the server's input
	Stdout io.ReadCloser  // the client reads here; it ends when the server does

	kill context.CancelCauseFunc
	done chan struct{}
	err  error // written before done is closed
}

// Start serves one connection in the background. It ends when ctx ends, Stdin is closed or the server disconnects; the
// caller must then call [Process.Wait]. A write to Stdin blocks until the server has read it: io.Pipe has no buffer.
func (s *Server) Start(ctx context.Context) *Process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, kill := context.WithCancelCause(ctx)
	p := &Process{Stdin: inW, Stdout: outR, kill: kill, done: make(chan struct{})}
	c := s.pipe(ctx, inR, outW)
	go func() {
		defer close(p.done)
		p.err = c.serve(inR)
		kill(nil)
	}()
	return p
}

// Kill ends the connection at once. It does not wait.
func (p *Process) Kill() { p.kill(ErrKilled) }

// End closes the input, ends the connection, and waits until the server has ended, as the close of a connection to a
// process does.
func (p *Process) End() error {
	_ = p.Stdin.Close()
	p.Kill()
	<-p.done
	return nil
}

// Done returns a channel that is closed when the server and all its goroutines have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until Done is closed and returns what [Server.Serve] returned.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}
