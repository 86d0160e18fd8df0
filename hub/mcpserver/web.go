package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// web is the Streamable HTTP binding: sessions for legacy clients, none for modern ones.
type web struct {
	s     *Server
	guard Guard
}

// HTTP returns a handler that serves Streamable HTTP as one endpoint.
func (s *Server) HTTP(g Guard) http.Handler { return &web{s: s, guard: g} }

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP implements http.Handler.
func (h *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.guard.admit(w, r) {
		return
	}
	if c := watchedIn(r); c != nil {
		c.reset.do(nil)
		c.ended.do(nil)
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		if session := h.session(w, r); session != nil {
			h.get(w, r, session.web)
		}
	case http.MethodDelete:
		if session := h.session(w, r); session != nil {
			session.web.end(io.EOF)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "POST, GET and DELETE are answered here", http.StatusMethodNotAllowed)
	}
}

// session returns the session that a request names. It refuses the request and returns nil if there is none.
func (h *web) session(w http.ResponseWriter, r *http.Request) *Session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		if r.Method == http.MethodPost {
			http.Error(w, "the first request must be initialize; later ones carry "+sessionHeader, http.StatusBadRequest)
		} else {
			http.Error(w, sessionHeader+" is missing", http.StatusMethodNotAllowed) // as a server without sessions answers
		}
		return nil
	}
	h.s.mu.Lock()
	session := h.s.byID[id]
	h.s.mu.Unlock()
	if session == nil {
		http.Error(w, "this session is unknown or over: begin a new one", http.StatusNotFound)
		return nil
	}
	// VS Code's client sends no version at all; a version that is sent must be right.
	if v := r.Header.Get("MCP-Protocol-Version"); v != "" && v != session.Client().Revision {
		http.Error(w, "MCP-Protocol-Version is not what was negotiated", http.StatusBadRequest)
		return nil
	}
	return session
}

func (h *web) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	if accept := strings.Join(r.Header.Values("Accept"), ","); accept != "" && !strings.Contains(accept, "*/*") &&
		(!strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream")) {
		http.Error(w, "Accept must list application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	body, err := readBody(w, r, h.s.o.Bounds.Message)
	if err != nil {
		refuseBody(w, err)
		return
	}
	var reader jsontext.Reader
	var m jsontext.Message
	kind := reader.Message(body, &m)
	if kind != jsontext.Single && kind != jsontext.Array {
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "no JSON-RPC message"})
		return
	}
	if kind == jsontext.Single {
		if _, _, err := requestIn(&m); err != nil {
			refuse(w, http.StatusBadRequest, jsonrpc.ID{}, err)
			return
		}
	}
	meta := jsontext.Get(m.Params, "_meta")
	method := jsontext.String(m.Method)
	switch {
	case method == protocol.MethodInitialize && r.Header.Get(sessionHeader) == "" &&
		r.Header.Get("MCP-Protocol-Version") != protocol.Revision20260728: // 2026-07-28 has no initialize
		h.initialize(w, r, body, &m)
	case kind == jsontext.Single && (jsontext.Get(meta, protocol.MetaProtocolVersion) != nil ||
		r.Header.Get("MCP-Protocol-Version") == protocol.Revision20260728):
		h.modern(w, r, method, &m)
	default:
		if session := h.session(w, r); session != nil {
			h.legacy(w, r, session, body, kind, &m)
		}
	}
}

// initialize starts a legacy session.
func (h *web) initialize(w http.ResponseWriter, r *http.Request, body []byte, m *jsontext.Message) {
	client := shareOf(Client{Info: object(jsontext.Get(m.Params, "clientInfo"))})
	session, b := h.s.newSession(true, &client), h.s.o.Bounds
	conn := newWebConn(b, h.s.backlog, client, &session.use)
	o := session.peerOptions()
	o.Route, o.HandleRequest = conn, session.webRequest(conn)
	session.web, session.peer = conn, jsonrpc.PreparePeer(conn, o)
	session.link = webLink{conn: conn, peer: session.peer}
	if err := h.s.admit(session); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	conn.idle = time.AfterFunc(b.Idle, func() { conn.end(ErrIdle) })
	h.s.mu.Lock()
	h.s.byID[session.id] = session
	h.s.mu.Unlock()
	session.peer.Start()
	go func() { // owned by the server, which waits for its sessions
		_ = session.attend()
		conn.idling.Lock()
		conn.idle.Stop()
		conn.idling.Unlock()
	}()
	w.Header().Set(sessionHeader, session.id)
	h.legacy(w, r, session, body, jsontext.Single, m)
}

// webRequest answers requests of a legacy session.
func (s *Session) webRequest(conn *webConn) func(context.Context, *jsonrpc.Request) (json.RawMessage, error) {
	return func(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
		// It is not stopped when the handler returns: the cancel may come until the peer takes the answer, which ends ctx.
		context.AfterFunc(ctx, func() {
			if withdrawn := (*jsonrpc.WithdrawnError)(nil); errors.As(context.Cause(ctx), &withdrawn) {
				conn.apply(callCancelled{r.ID, withdrawn.Reason})
			}
		})
		defer conn.returned(r.ID)
		return s.serve(ctx, r.ID, r.Method, r.Params, r.Behind.(routed), s.link)
	}
}

// legacy handles a POST of a legacy client: requests get a stream or an ordinary response, other messages get 202.
func (h *web) legacy(w http.ResponseWriter, r *http.Request, session *Session, body []byte, kind jsontext.Kind,
	m *jsontext.Message) {
	conn := session.web
	conn.enter()
	defer conn.leave(h.s.o.Bounds.Idle)
	ids, refusal := requestsIn(body, kind, m, session.Client().Revision, h.s.o.Bounds.OpenPerSession)
	if refusal != nil {
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, refusal)
		return
	}
	if len(ids) == 0 {
		if !conn.post(r.Context(), body) {
			http.Error(w, "the session is over", http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	reads, _ := conn.read(postRead{ids})
	if reads == nil {
		refuse(w, http.StatusOK, ids[0], &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a request with this id is pending"})
		return
	}
	if !conn.post(r.Context(), body) {
		for _, id := range ids {
			conn.apply(callCancelled{id: id})
		}
		http.Error(w, "the session is over", http.StatusNotFound)
		return
	}
	single := kind == jsontext.Single
	h.write(w, r, &writing{reader: reads, done: conn.done, plain: single,
		primed: single && r.Header.Get("MCP-Protocol-Version") == protocol.Revision20251125})
}

// get resumes a stream after the last event that the client saw, or follows the common one. A second GET takes the
// place of the first, which usually belongs to a broken connection.
func (h *web) get(w http.ResponseWriter, r *http.Request, conn *webConn) {
	if !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
		http.Error(w, "Accept must list text/event-stream", http.StatusNotAcceptable)
		return
	}
	conn.enter()
	defer conn.leave(h.s.o.Bounds.Idle)
	var from readerCame
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if from = parseEventID(last); from.stream == 0 {
			refuseEvent(w)
			return
		}
	}
	reads, why := conn.read(from)
	switch {
	case why.full:
		http.Error(w, "too many streams of this session are open: read one of them", http.StatusConflict)
		return
	case reads == nil:
		refuseEvent(w)
		return
	}
	h.write(w, r, &writing{reader: reads, done: conn.done, begun: true})
}

// refuseEvent does not answer 404, which means that the session is over (2025-11-25 basic/transports, "Session
// Management").
func refuseEvent(w http.ResponseWriter) {
	const text = "the stream of Last-Event-ID is over, or the event is not held any more: open a stream without it"
	http.Error(w, text, http.StatusBadRequest)
}

// refuseBody answers a request whose body could not be read, unless the body's reader has answered it already.
func refuseBody(w http.ResponseWriter, err error) {
	if _, done := errors.AsType[interface {
		error
		Answered()
	}](err); done {
		return
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, "the message did not come to its end", http.StatusBadRequest)
}

var (
	errNoMessage = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no JSON-RPC 2.0 message"}
	errNoBatch   = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
		Message: "batches belong to " + protocol.Revision20250326 + " alone"}
	errLongMethod = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the method's name is too long"}
	errLargeBatch = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "too many requests in one batch"}
)

// longestMethod is the longest name of a method in bytes, including quotes. A longer name would be copied several times
// only to be found unknown.
const longestMethod = 512

// readBody reads the body of a POST. A body of usual length is read into one allocation. A larger Content-Length is not
// trusted: memory is then allocated as bytes arrive, but no more than it says.
func readBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	const firstPiece = 8 << 10
	body, announced := http.MaxBytesReader(w, r.Body, int64(most)), int(min(max(r.ContentLength, 0), int64(most)))
	b := make([]byte, 0, min(announced, firstPiece)+bytes.MinRead)
	for {
		if len(b) == cap(b) {
			size := 2 * cap(b)
			if announced >= cap(b) {
				size = min(size, announced+1) // with room for the read that finds the end
			}
			b = append(make([]byte, 0, size), b...)
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// requestIn returns the id of a message if it is a request. refusal is the error if it is no valid message: on a stream
// such a message is only counted, but a POST needs an answer.
func requestIn(m *jsontext.Message) (id jsonrpc.ID, request bool, refusal *jsonrpc.Error) {
	if jsontext.String(m.Version) != "2.0" {
		return id, false, errNoMessage
	}
	if m.Method == nil {
		return id, false, nil
	}
	if len(m.Method) > longestMethod {
		return id, false, errLongMethod
	}
	if jsontext.String(m.Method) == "" {
		return id, false, errNoMessage
	}
	if m.ID == nil {
		return id, false, nil
	}
	id, err := jsonrpc.ParseID(m.ID)
	if err != nil {
		return id, false, errNoMessage
	}
	return id, true, nil
}

// requestsIn returns the ids of the requests that a legacy client has posted. More than most are refused.
func requestsIn(body []byte, kind jsontext.Kind, m *jsontext.Message, revision string, most int) (ids []jsonrpc.ID,
	refusal *jsonrpc.Error) {
	note := func(m *jsontext.Message) {
		id, request, err := requestIn(m)
		switch {
		case err != nil:
			refusal = err
		case request && len(ids) == most:
			refusal = errLargeBatch
		case request:
			ids = append(ids, id)
		}
	}
	if kind == jsontext.Single {
		note(m)
		return ids, refusal
	}
	if revision != protocol.Revision20250326 {
		return nil, errNoBatch
	}
	var reader jsontext.Reader
	jsontext.Elements(body, func(element json.RawMessage) bool {
		var one jsontext.Message
		if reader.Message(element, &one) != jsontext.Single {
			refusal = errNoMessage
		} else {
			note(&one)
		}
		return refusal == nil
	})
	return ids, refusal
}

// Guard decides which requests the HTTP binding accepts.
type Guard struct {
	// Token is the bearer token that each request must carry; "": none is required.
	Token string
	// Admitted, if set, is called with the connection of each request that may pass, before its body is read. If it
	// returns false, the request is refused with 503. It needs [Watch].
	Admitted func(c net.Conn) bool
}

// turnAway answers a request that may not pass. The answer does not wait for the body, and the connection is closed.
func turnAway(w http.ResponseWriter, status int, text string) {
	bounds.LeaveBody(w)
	http.Error(w, text, status)
}

// admit reports whether a request may pass, and answers it otherwise. The checks of Host and Origin reject web pages
// that reach this address under another name (basic/transports, "Security Warning").
func (g Guard) admit(w http.ResponseWriter, r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !loopback(host) {
		turnAway(w, http.StatusForbidden, "this server answers on loopback names alone; Host is another")
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !loopback(u.Hostname()) {
			turnAway(w, http.StatusForbidden, "pages of this Origin may not use this server")
			return false
		}
	}
	if !g.hasToken(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="mcp"`)
		turnAway(w, http.StatusUnauthorized, "a bearer token is needed, and this is not it")
		return false
	}
	if g.Admitted != nil && !g.Admitted(r.Context().Value(watchedKey{}).(*watched)) {
		turnAway(w, http.StatusServiceUnavailable, "too many clients are connected")
		return false
	}
	return true
}

func (g Guard) hasToken(r *http.Request) bool {
	if g.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Hash both first, so that the time does not depend on the length, either.
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(g.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}

// modern answers one POST of 2026-07-28. The POST belongs to no session, and closing it cancels the request.
func (h *web) modern(w http.ResponseWriter, r *http.Request, method string, m *jsontext.Message) {
	id, request, _ := requestIn(m) // post has checked the error
	switch {
	case method == "":
		http.Error(w, "a client of 2026-07-28 sends no responses", http.StatusBadRequest)
		return
	case !request:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	client, unreadable := readModern(jsontext.Get(m.Params, "_meta"))
	refusal, _ := unreadable.(*jsonrpc.Error) // all its errors are of this type
	// Absent metadata cannot contradict the headers, so its error stays. A mismatch takes precedence over a version that
	// is not supported.
	if refusal == nil || refusal.Code == protocol.CodeUnsupportedVersion {
		if text := mismatch(r.Header, method, m.Params); text != "" {
			refusal = &jsonrpc.Error{Code: protocol.CodeHeaderMismatch, Message: text}
		}
	}
	if refusal != nil {
		refuse(w, http.StatusBadRequest, id, refusal)
		return
	}
	session, fresh := h.s.sessionOf(jsontext.String(jsontext.Get(m.Params, "requestState"))), false
	if session == nil {
		if jsontext.Get(m.Params, "requestState") != nil {
			refuse(w, http.StatusOK, id, errState)
			return
		}
		session, fresh = h.s.newSession(false, nil), true
		if err := h.s.admit(session); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	b := h.s.o.Bounds
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	from := newCarrier(wireRules{modern: true, queue: b.Queue}, h.s.backlog, shareOf(client), cancel)
	defer h.s.backlog.remove(from)
	reads, _ := from.read(postRead{[]jsonrpc.ID{id}})
	served := make(chan struct{})
	go func() { // ends before this function does
		defer close(served)
		routed := session.route(method, m.Params)
		routed.param = headerParams(r.Header)
		result, err := session.serve(ctx, id, method, m.Params, routed, streamLink{from})
		from.apply(answerReady{id, h.s.response(id, method, result, err)})
	}()
	stop := context.AfterFunc(r.Context(), func() {
		cancel(&jsonrpc.WithdrawnError{Reason: "the client closed the stream"})
	})
	left := h.write(w, r, &writing{reader: reads, done: ctx.Done(), plain: true, modern: true})
	stop()
	closed := &jsonrpc.WithdrawnError{Reason: "the client closed the stream"}
	cancel(closed) // no effect on a request that was answered
	<-served
	state := session.parkedBy(id)
	if left { // before it got the round
		h.s.giveUp(state, closed)
	} else if c := watchedIn(r); c != nil && state != "" {
		c.reset.do(func() { h.s.giveUp(state, closed) })
	}
	if fresh {
		go func() { // owned by the server, which waits for its sessions: rounds may outlive the exchange
			session.over()
			session.cancel(nil)
		}()
	}
}

// mismatch checks the headers that must repeat parts of the body (2026-07-28 basic/transports/streamable-http). It
// returns what is wrong, or "".
func mismatch(header http.Header, method string, params json.RawMessage) string {
	version := jsontext.String(jsontext.Get(jsontext.Get(params, "_meta"), protocol.MetaProtocolVersion))
	if v := header.Get("MCP-Protocol-Version"); v != version {
		return "MCP-Protocol-Version does not repeat the version of the body"
	}
	if header.Get("Mcp-Method") != method {
		return "Mcp-Method does not repeat the method of the body"
	}
	name := jsontext.Get(params, "name")
	if method == protocol.MethodReadResource {
		name = jsontext.Get(params, "uri")
	}
	if slices.Contains(askable, method) && plainHeader(header.Get("Mcp-Name")) != jsontext.String(name) {
		return "Mcp-Name does not repeat the name or uri of the body"
	}
	return ""
}

// headerParams returns the arguments that a client repeats in headers, by their header names in lower case (2026-07-28
// basic/transports/streamable-http "Custom Headers from Tool Parameters").
func headerParams(header http.Header) map[string]string {
	params := map[string]string{}
	for name, values := range header {
		if rest, is := strings.CutPrefix(strings.ToLower(name), "mcp-param-"); is && len(values) == 1 {
			params[rest] = plainHeader(values[0])
		}
	}
	return params
}

// streamLink is the link of one POST of a modern client. Questions cannot be sent on it.
type streamLink struct{ to *carrier }

func (l streamLink) tell(of jsonrpc.ID, method string, params json.RawMessage) error {
	l.to.apply(noticeReady{of, jsonrpc.NotificationMessage(method, params)})
	return nil
}

func (streamLink) heard(jsonrpc.ID) bool { return true } // a closed stream ends the request

func (streamLink) ask(context.Context, jsonrpc.ID, string, json.RawMessage) (json.RawMessage, error) {
	return nil, ErrNotAskable
}
