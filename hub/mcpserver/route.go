package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// routed is the decision about a request. It is made before the next message is read: initialize changes what comes
// after it.
type routed struct {
	client Client
	answer json.RawMessage // if the package answers itself
	err    error
	level  string            // for a modern request
	param  map[string]string // for a request over HTTP: arguments in headers
}

func (s *Session) route(method string, params json.RawMessage) routed {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := jsontext.Get(params, "_meta")
	revision := jsontext.Get(meta, protocol.MetaProtocolVersion)
	legacy := s.client.Revision != "" && !s.client.Modern
	switch {
	case method == protocol.MethodInitialize && revision == nil:
		if legacy {
			return routed{err: errInitialized}
		}
		client, err := readInitialize(params)
		if err != nil {
			return routed{err: err}
		}
		s.client = client
		return routed{client: client, answer: s.server.initializeResult(client.Revision)}
	case legacy:
		if method == protocol.MethodSetLevel {
			level := jsontext.String(jsontext.Get(params, "level"))
			if !passes(level, level) {
				return routed{err: invalid("unknown log level")}
			}
			s.level = level
		}
		return routed{client: s.client}
	case revision == nil && method == protocol.MethodDiscover:
		return routed{err: invalid("_meta lacks " + protocol.MetaProtocolVersion)}
	case revision == nil:
		return routed{err: errNotInitialized}
	}
	client, err := readModern(meta)
	if err != nil {
		return routed{err: err}
	}
	s.client = client
	r := routed{client: client, level: jsontext.String(jsontext.Get(meta, protocol.MetaLogLevel))}
	switch method {
	case protocol.MethodDiscover:
		r.answer = s.server.discoverResult()
	case protocol.MethodInitialize, protocol.MethodSubscribe, protocol.MethodUnsubscribe, protocol.MethodSetLevel:
		r.err = ErrUnknownMethod // 2026-07-28 has removed them
	}
	return r
}

func readInitialize(params json.RawMessage) (Client, error) {
	asked := jsontext.Get(params, "protocolVersion")
	if !jsontext.IsString(asked) {
		return Client{}, invalid("protocolVersion must be a string")
	}
	c := Client{Revision: jsontext.String(asked), Info: object(jsontext.Get(params, "clientInfo")),
		Capabilities: object(jsontext.Get(params, "capabilities"))}
	switch c.Revision {
	case protocol.Revision20241105, protocol.Revision20250326, protocol.Revision20250618, protocol.Revision20251125:
	default:
		c.Revision = protocol.Revision20251125 // the client accepts it or disconnects (basic/lifecycle)
	}
	return c, nil
}

// readModern parses the metadata that each request since 2026-07-28 must carry (basic/index, "_meta").
func readModern(meta json.RawMessage) (Client, error) {
	revision := jsontext.Get(meta, protocol.MetaProtocolVersion)
	if !jsontext.IsString(revision) {
		return Client{}, invalid(protocol.MetaProtocolVersion + " must be a string")
	}
	if r := jsontext.String(revision); r != protocol.Revision20260728 {
		return Client{}, unsupported(r)
	}
	c := Client{Revision: protocol.Revision20260728, Modern: true,
		Info:         object(jsontext.Get(meta, protocol.MetaClientInfo)),
		Capabilities: object(jsontext.Get(meta, protocol.MetaCapabilities))}
	if c.Capabilities == nil {
		return Client{}, invalid("_meta lacks " + protocol.MetaCapabilities)
	}
	return c, nil
}

// object returns a copy of an object, or nil for any other value. It copies because the reader owns the message.
func object(text json.RawMessage) json.RawMessage {
	if !jsontext.IsObject(text) {
		return nil
	}
	return append(json.RawMessage(nil), text...)
}

func (s *Server) initializeResult(revision string) json.RawMessage {
	b := append([]byte(`{"protocolVersion":"`), revision...)
	b = append(append(b, `","capabilities":`...), orEmpty(s.o.Capabilities)...)
	b = append(append(b, `,"serverInfo":`...), orEmpty(s.o.Info)...)
	return append(s.appendInstructions(b), '}')
}

func (s *Server) discoverResult() json.RawMessage {
	b := []byte(`{"resultType":"complete","supportedVersions":["` + protocol.Revision20260728 + `"],"capabilities":`)
	b = append(b, orEmpty(s.o.Capabilities)...)
	b = append(s.appendInstructions(b), `,"ttlMs":0,"cacheScope":"private","_meta":{"`+protocol.MetaServerInfo+`":`...)
	return append(append(b, orEmpty(s.o.Info)...), '}', '}')
}

func (s *Server) appendInstructions(b []byte) []byte {
	if s.o.Instructions == "" {
		return b
	}
	return jsontext.AppendString(append(b, `,"instructions":`...), s.o.Instructions)
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		return json.RawMessage("{}")
	}
	return object
}

// serve answers one request, on the goroutine that the binding has for it.
func (s *Session) serve(ctx context.Context, id jsonrpc.ID, method string, params json.RawMessage, r routed,
	via link) (json.RawMessage, error) {
	if r.err != nil || r.answer != nil {
		return r.answer, r.err
	}
	if n := len(params); n >= largeParams {
		client := any(s)
		switch {
		case !s.lasting:
			client = shareOf(r.client)
		case s.share != nil:
			client = *s.share
		}
		if !s.server.hold(client, n) {
			return nil, errTooLarge
		}
		defer s.server.let(client, n)
	}
	c := &Call{Session: s, Method: method, Params: params, Meta: jsontext.Get(params, "_meta"), Client: r.client,
		HeaderParams: r.param, level: r.level}
	c.via.Store(&exchange{id: id, link: via, token: tokenOf(params)})
	if r.client.Modern {
		return s.serveModern(ctx, c)
	}
	// The peer bounds the requests of one session. Those of all sessions of a client leave half of the places to others.
	if !s.server.enter(s.share, max(1, s.server.o.Bounds.OpenInAll/2)) {
		return nil, errTooMany
	}
	defer s.server.count(s.share, false)
	ctx, stop := s.withEnd(ctx)
	defer stop()
	return s.handle(ctx, c)
}

// withEnd returns a context that ends when ctx or the session ends.
func (s *Session) withEnd(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() { unlink(); cancel(nil) }
}

// tokenOf returns the progress token of a request, a string or a number, or nil if there is none.
func tokenOf(params json.RawMessage) json.RawMessage {
	token := jsontext.Get(jsontext.Get(params, "_meta"), protocol.MetaProgressToken)
	if !jsontext.IsID(token) {
		return nil
	}
	return append(json.RawMessage(nil), token...)
}
