package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

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
