package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Client is how a client describes itself: in initialize, or with each request since 2026-07-28.
type Client struct {
	Revision     string // as negotiated; "" before
	Modern       bool
	Info         json.RawMessage // clientInfo, an object; nil if the client sent none
	Capabilities json.RawMessage // an object; nil if the client sent none
}

// Name returns the name that the client has sent, untrusted, or "" if it sent none.
func (c Client) Name() string { return jsontext.String(jsontext.Get(c.Info, "name")) }

// Declares reports whether the client has declared that it answers the method: one of elicitation/create,
// sampling/createMessage and roots/list.
func (c Client) Declares(method string) bool { return c.declares(method) != nil }

// answers reports whether the client answers this question: opening a URL must be declared explicitly, and an empty
// elicitation capability means forms (client/elicitation, 2025-11-25).
func (c Client) answers(method string, params json.RawMessage) bool {
	declared := c.declares(method)
	if declared == nil || method != protocol.MethodElicitation {
		return declared != nil
	}
	if jsontext.String(jsontext.Get(params, "mode")) == "url" {
		return jsontext.IsObject(jsontext.Get(declared, "url"))
	}
	return jsontext.Get(declared, "form") != nil || jsontext.Get(declared, "url") == nil
}

func (c Client) declares(method string) json.RawMessage {
	name := map[string]string{protocol.MethodElicitation: "elicitation", protocol.MethodSampling: "sampling",
		protocol.MethodRoots: "roots"}[method]
	if name == "" {
		return nil
	}
	return object(jsontext.Get(c.Capabilities, name))
}

// Session is the connection of one client.
type Session struct {
	id      string
	server  *Server
	lasting bool            // it lasts for more than one call
	ctx     context.Context // ends with *SessionEndedError
	cancel  context.CancelCauseFunc
	peer    *jsonrpc.Peer
	link    link
	share   *share         // for a legacy session over HTTP: its client
	use     use            // for a legacy session over HTTP
	web     *webConn       // for a legacy session over HTTP
	rounds  sync.WaitGroup // handlers of modern requests, which outlive the exchange that started them

	displaced bool // it has given way, and counts no more; guarded by the server's lock

	mu         sync.Mutex
	client     Client
	level      string
	subscribed map[string]struct{}
	listening  map[jsonrpc.ID]*listening
}

// link sends messages to the client. There is one for each binding.
type link interface {
	// tell sends a notification. of is the id of the client's request to which it belongs, or zero.
	tell(of jsonrpc.ID, method string, params json.RawMessage) error
	// ask sends a request and waits for the answer. of is as for tell. The end of ctx withdraws the request.
	ask(ctx context.Context, of jsonrpc.ID, method string, params json.RawMessage) (json.RawMessage, error)
	// heard reports whether the client receives questions that belong to its request. It does not block.
	heard(of jsonrpc.ID) bool
}

// ID returns the id of the session, which is unguessable and unique.
func (s *Session) ID() string { return s.id }

// Client returns what a legacy client has declared, or a modern one with its last request. For the declaration of a
// particular request see Call.Client.
func (s *Session) Client() Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// Lasting reports whether the session is that of a client, and not of a single call of 2026-07-28 over HTTP.
func (s *Session) Lasting() bool { return s.lasting }

// Done returns a channel that is closed when the session has begun to end.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err returns a *SessionEndedError that says why the session has ended, or nil before.
func (s *Session) Err() error { return context.Cause(s.ctx) }

// Ask asks a legacy client a question that belongs to none of its requests, else like Call.Ask.
func (s *Session) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	client := s.Client()
	switch {
	case client.Modern || client.Revision == "":
		return nil, ErrNotAskable
	case !client.answers(method, params):
		return nil, ErrUndeclared
	}
	return s.link.ask(ctx, jsonrpc.ID{}, method, params)
}

// Ping asks a legacy client whether it is alive, and waits for the answer or the end of ctx. A client of 2026-07-28
// cannot be asked.
func (s *Session) Ping(ctx context.Context) error {
	if client := s.Client(); client.Modern || client.Revision == "" {
		return ErrNotAskable
	}
	_, err := s.link.ask(ctx, jsonrpc.ID{}, protocol.MethodPing, nil)
	return err
}

// End ends the session with a cause and does not wait.
func (s *Session) End(cause error) {
	if cause == nil {
		cause = ErrServerClosed
	}
	if s.peer != nil { // first: a handler that returns because of the session's end must not send an answer
		s.peer.Abort(cause)
	}
	s.cancel(&SessionEndedError{Cause: cause})
}

// over waits for the rest of the session and removes it.
func (s *Session) over() {
	s.rounds.Wait()
	s.server.o.Handler.Ended(s, errors.Unwrap(s.Err()))
	s.server.mu.Lock()
	delete(s.server.sessions, s)
	if s.lasting && !s.displaced {
		s.server.lasting--
	}
	delete(s.server.byID, s.id)
	s.server.mu.Unlock()
	if s.ctx.Err() != nil { // otherwise its client may still fetch the answer
		s.server.leaveParked(func(r *rounds) bool { return r.call.Session == s })
	}
	s.server.running.Done()
}

// peerOptions returns the options of the peer to the client.
func (s *Session) peerOptions() jsonrpc.Options {
	b := s.server.o.Bounds
	return jsonrpc.Options{
		Server: "client", Logger: s.server.log, MaxIncoming: b.OpenPerSession, WriteQueueBytes: b.Queue,
		StallLimit: b.Stall,
		OnRequest: func(r *jsonrpc.Request) {
			r.Behind = s.route(r.Method, r.Params)
			if s.web != nil {
				r.Withdrawn = s.web.requestRead(r.ID)
			}
		},
		HandleRequest: func(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
			return s.serve(ctx, r.ID, r.Method, r.Params, r.Behind.(routed), s.link)
		},
		HandleNotification: s.notified,
		OnOutgoingCancelled: func(id jsonrpc.ID, reason string) bool {
			s.giveUp(id, &jsonrpc.WithdrawnError{Reason: reason})
			if s.web != nil { // on a pipe nothing overtakes
				s.web.cancelRead(id, reason)
			}
			return false // the id is not that of a request of ours
		},
		Batches: func() bool { return s.Client().Revision == protocol.Revision20250326 },
	}
}

func (s *Session) notified(n *jsonrpc.Notification) {
	s.server.o.Handler.Notified(s, n.Method, n.Params)
}

// peerLink is the link over one stream of bytes. There, a message to the client does not say to which request it
// belongs.
type peerLink struct{ peer *jsonrpc.Peer }

func (l peerLink) tell(_ jsonrpc.ID, method string, params json.RawMessage) error {
	return l.peer.Notify(method, params)
}

func (l peerLink) ask(ctx context.Context, _ jsonrpc.ID, method string, params json.RawMessage) (json.RawMessage,
	error) {
	return l.peer.Call(ctx, method, params)
}

func (peerLink) heard(jsonrpc.ID) bool { return true }

func passes(level, least string) bool {
	i, j := slices.Index(protocol.LogLevels, level), slices.Index(protocol.LogLevels, least)
	return i >= 0 && j >= 0 && i >= j
}

// Call is one request of a client, from its arrival to its answer: for a modern one through all rounds.
type Call struct {
	Session *Session
	Method  string
	Params  json.RawMessage // the exact text that came; nil if there was none
	Meta    json.RawMessage // _meta of Params, including the progress token; nil if there was none
	Client  Client          // as declared for this request
	// HeaderParams are the arguments that a modern client over HTTP repeats in headers, by their names in lower case. nil
	// for all other requests.
	HeaderParams map[string]string

	level string // of a modern request: the lowest level of the log messages that it wants
	via   atomic.Pointer[exchange]
	asked *rounds // for a modern request
}

// exchange is the client's request on the wire that belongs to a call. A call has none while it is parked.
type exchange struct {
	id    jsonrpc.ID
	link  link
	token json.RawMessage
}

// ID returns the wire id of the client's request that the call is on now: its first one, or its last retry. It is the
// zero ID while the call is parked.
func (c *Call) ID() jsonrpc.ID {
	if x := c.via.Load(); x != nil {
		return x.id
	}
	return jsonrpc.ID{}
}

// Progress sends progress of the call to the client. params are those of notifications/progress; their token is
// replaced by the client's. Nothing is sent if the client sent no token or if none of its requests is on the wire.
func (c *Call) Progress(params json.RawMessage) {
	x := c.via.Load()
	if x == nil || x.token == nil {
		return
	}
	b, object := appendOthers(append([]byte(`{"progressToken":`), x.token...), params, protocol.MetaProgressToken)
	if object { // a client that has gone needs no progress
		_ = x.link.tell(x.id, protocol.MethodProgress, append(b, '}'))
	}
}

// Log sends a log message that belongs to the call, if the client wants messages of the level. params are those of
// notifications/message.
func (c *Call) Log(level string, params json.RawMessage) {
	if !c.Client.Modern {
		c.Session.Log(level, params)
		return
	}
	if x := c.via.Load(); x != nil && passes(level, c.level) {
		_ = x.link.tell(x.id, protocol.MethodMessage, params) // logs may be lost
	}
}

// LogLevel returns the lowest level of the log messages that a client of 2026-07-28 wants during the call; "": none.
func (c *Call) LogLevel() string {
	if c.level == "" || !passes(c.level, c.level) { // no such level
		return ""
	}
	return c.level
}

// Heard reports whether a question that belongs to the call would reach the client now. A legacy client over HTTP may
// have closed its stream, which is no cancel; a modern client that has a round gets further questions at its retry.
// Heard does not block.
func (c *Call) Heard() bool {
	x := c.via.Load()
	return x != nil && x.link.heard(x.id)
}

// Ask asks the client a question that belongs to the call: elicitation/create, sampling/createMessage or roots/list.
// params and result are passed unchanged. ctx must be the call's or derived from it. Its end withdraws the question
// with the cause's reason (jsonrpc.Reasoner); the error is or wraps the cause then. A *jsonrpc.Error is the client's
// answer.
func (c *Call) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.AskAs(ctx, "", method, params)
}

// AskAs is Ask with a key for the question in its round, for a modern client. A key that is "" or that another open
// question has is replaced.
func (c *Call) AskAs(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error) {
	if !c.Client.answers(method, params) {
		return nil, ErrUndeclared
	}
	if c.asked != nil {
		return c.asked.ask(ctx, key, method, params)
	}
	x := c.via.Load()
	if x == nil || c.Client.Modern {
		return nil, ErrNotAskable
	}
	return x.link.ask(ctx, x.id, method, params)
}
