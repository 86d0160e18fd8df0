package fakeserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerLast    = "Last-Event-Id"
	eventStream   = "text/event-stream"
	typeJSON      = "application/json"
	codeServer    = -32000 // the TypeScript SDK's code for every error of an HTTP request
	codeNoSession = -32001 // a code of the TypeScript SDK, too
)

// post serves a POST of Streamable HTTP in its era.
func (x *exchange) post() {
	accept := x.r.Header.Get("Accept")
	contentType, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	m := x.seen.Message
	switch {
	case !strings.Contains(accept, typeJSON) || !strings.Contains(accept, eventStream):
		x.refuse(http.StatusNotAcceptable, codeServer,
			"Not Acceptable: Client must accept both application/json and text/event-stream")
		return
	case contentType != typeJSON:
		x.refuse(http.StatusUnsupportedMediaType, codeServer, "Unsupported Media Type: Content-Type must be application/json")
		return
	case m.Malformed || m.Method == "" && !m.IsResponse():
		x.refuse(http.StatusBadRequest, -32700, "Parse error")
		return
	}
	if x.http.server.speaksModern(m, x.r.Header.Get(headerVersion)) {
		x.postModern()
		return
	}
	x.postLegacy()
}

// speaksModern reports whether a request is served by the rules of 2026-07-28. A server of only the legacy era serves
// no request that way, except a probe, for which the options decide.
func (s *Server) speaksModern(m Message, version string) bool {
	s.mu.Lock()
	override := s.handlers[m.Method] != nil
	s.mu.Unlock()
	looks := version == RevisionModern || m.Method == "server/discover" ||
		member(m.Param("_meta"), metaProtocolVersion) != nil
	switch s.cfg.probe {
	case probeAnswer:
		return looks || !s.cfg.legacy
	case probeRefuse:
		return m.Method == "server/discover" && override
	}
	return m.Method == "server/discover"
}

func (x *exchange) postLegacy() {
	m := x.seen.Message
	s := x.findSession(m.Method == "initialize")
	if s == nil {
		return
	}
	if !m.IsRequest() {
		s.conn.take(x.body, nil)
		x.accepted()
		return
	}
	st := x.http.newStream(strconv.Itoa(x.seen.N), x.http.o.JSON && !x.act.SSE)
	x.http.mu.Lock()
	x.session, x.reply = s, st
	x.http.mu.Unlock()
	if m.Method == "initialize" {
		x.w.Header().Set(headerSession, s.id)
	}
	s.conn.take(x.body, st)
	x.respond(st, s)
}

// accepted answers a message that is not a request.
func (x *exchange) accepted() { x.plain(http.StatusAccepted, "", "") }

// findSession returns the session of a request, or refuses it and returns nil. An initialize without a session begins
// one.
func (x *exchange) findSession(initialize bool) *session {
	h := x.http
	version, id := x.r.Header.Get(headerVersion), x.r.Header.Get(headerSession)
	if version != "" && !legacyRevisions[version] {
		x.refuse(http.StatusBadRequest, codeServer, "Bad Request: Unsupported protocol version: "+version)
		return nil
	}
	if id == "" {
		if initialize {
			return h.open(h.ctx, true, false)
		}
		x.refuse(http.StatusBadRequest, codeServer, "Bad Request: Mcp-Session-Id header is required")
		return nil
	}
	s := h.session(id)
	if s == nil || s.sse {
		x.refuse(http.StatusNotFound, codeNoSession, "Session not found")
		return nil
	}
	return s
}

// listen serves the GET of a session: the standalone stream, or any stream from an event on.
func (x *exchange) listen() {
	if !x.http.server.cfg.legacy { // no GET in 2026-07-28
		x.refuse(http.StatusMethodNotAllowed, codeServer, "Method not allowed.")
		return
	}
	if !strings.Contains(x.r.Header.Get("Accept"), eventStream) {
		x.refuse(http.StatusNotAcceptable, codeServer, "Not Acceptable: Client must accept text/event-stream")
		return
	}
	s := x.findSession(false)
	if s == nil {
		return
	}
	st, have := s.own, -1
	if last := x.r.Header.Get(headerLast); last != "" && x.http.o.Resumable {
		if st, have = x.http.resume(s, last); st == nil {
			x.refuse(http.StatusBadRequest, codeServer, "Invalid event ID format")
			return
		}
	}
	x.events(st, have, s.conn)
}

func (x *exchange) deleteSession() {
	if !x.http.server.cfg.legacy {
		x.refuse(http.StatusMethodNotAllowed, codeServer, "Method not allowed.")
		return
	}
	s := x.findSession(false)
	if s == nil {
		return
	}
	s.end(errDeleted)
	x.plain(http.StatusOK, "", "")
}

// respond answers a request in the form of its stream.
func (x *exchange) respond(st *stream, s *session) {
	if st.json {
		x.json(st, s.conn)
	} else {
		x.events(st, 0, s.conn)
	}
}

// json answers with the only message of the stream.
func (x *exchange) json(st *stream, c *conn) {
	reader, _ := st.attach(0)
	for {
		data, ok, over, changed := st.next(reader, 0)
		if ok {
			x.plain(http.StatusOK, typeJSON, data)
			return
		}
		if over {
			return
		}
		select {
		case <-changed:
		case <-c.link.Done():
			x.abort()
		case <-x.r.Context().Done():
			x.left()
			return
		}
	}
}

// events answers with a stream of events, beginning after the first have events. HTTP with SSE begins with its
// endpoint.
func (x *exchange) events(st *stream, have int, c *conn) {
	reader, from := st.attach(have)
	x.w.Header().Set("Content-Type", eventStream)
	x.w.Header().Set("Cache-Control", "no-cache")
	if !x.hold() {
		return
	}
	x.w.WriteHeader(http.StatusOK)
	out := x.shape()
	err := out.out.Flush()
	ids := x.http.o.Resumable && !c.modern() && !c.web.sse
	if err == nil && c.web.sse {
		err = out.event("", "endpoint", PathMessages+"?sessionId="+c.web.id)
	}
	if err == nil && ids {
		err = out.event(st.eventID(from), "", "")
	}
	for i, written := from, 0; err == nil; i++ {
		data, ok, over, changed := st.next(reader, i)
		switch {
		case over:
			return
		case ok:
			id := ""
			if ids {
				id = st.eventID(i + 1)
			}
			err = out.event(id, "message", data)
			if written++; err == nil && written == x.act.CutAfter {
				err = errCut
			} else if written == x.act.EndAfter {
				return
			}
			continue
		}
		i--
		select {
		case <-changed:
		case <-c.link.Done():
			if c.web.endsCleanly() {
				return
			}
			err = errCut
		case <-x.r.Context().Done():
			x.left()
			return
		}
	}
	x.gone(err)
}

// stream holds all events of one answer, so that it can be read again from any event on. It is guarded by HTTP.mu.
type stream struct {
	http     *HTTP
	name     string // first part of the ids of its events
	json     bool   // it only takes the answer
	events   []string
	sent     int  // number of events that were sent to any client
	answered bool // the answer is among the events
	idle     bool // the behaviour has returned
	reader   int  // the present reader; an earlier reader stops
	changed  chan struct{}
}

func (h *HTTP) newStream(name string, json bool) *stream {
	return &stream{http: h, name: name, json: json, changed: make(chan struct{})}
}

// done reports whether the stream ends: the behaviour has returned and its answer is there. A stream without an answer
// stays open, as with servers that write nothing for a cancelled call. It is called with HTTP.mu held.
func (st *stream) done() bool { return st.answered && st.idle }

func (st *stream) announce() { // called with HTTP.mu held
	close(st.changed)
	st.changed = make(chan struct{})
}

// returned records that the behaviour has returned. For a pair of streams st is nil, and nothing is recorded.
func (st *stream) returned() {
	if st == nil {
		return
	}
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	st.idle = true
	st.announce()
}

// first returns the first event, and whether it is the answer.
func (st *stream) first() (data string, isAnswer bool) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	if len(st.events) == 0 {
		return "", false
	}
	return st.events[0], len(st.events) == 1 && st.answered
}

// attach makes the caller the only reader, from the event that follows the first after events; -1 continues where the
// last reader ended.
func (st *stream) attach(after int) (reader, from int) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	st.reader++
	st.announce()
	if after < 0 {
		after = st.sent
	}
	return st.reader, min(after, len(st.events))
}

// next returns the event at i, or a channel to wait for. over means that no further event comes for this reader.
func (st *stream) next(reader, i int) (data string, ok, over bool, changed <-chan struct{}) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	switch {
	case st.reader != reader:
		return "", false, true, nil
	case i < len(st.events):
		st.sent = max(st.sent, i+1)
		return st.events[i], true, false, nil
	case st.done():
		return "", false, true, nil
	}
	return "", false, false, st.changed
}

func (st *stream) eventID(n int) string { return st.name + "_" + strconv.Itoa(n) }

// resume finds the stream of a session that an event id names, and returns how many of its events the client has.
func (h *HTTP) resume(s *session, id string) (st *stream, have int) {
	name, number, ok := strings.Cut(id, "_")
	have, err := strconv.Atoi(number)
	if !ok || err != nil || have < 0 {
		return nil, 0
	}
	if s.own.name == name {
		return s.own, have
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.exchanges {
		if x.reply != nil && x.session == s && x.reply.name == name {
			return x.reply, have
		}
	}
	return nil, 0
}

// openSSE serves the only stream of HTTP with SSE (2024-11-05 basic/transports). The connection ends with the stream.
func (x *exchange) openSSE() {
	s := x.http.open(x.http.ctx, true, true)
	defer s.end(errInputEnded)
	x.events(s.own, 0, s.conn)
}

// postSSE takes a message. Its answer comes on the stream.
func (x *exchange) postSSE() {
	s := x.http.session(x.r.URL.Query().Get("sessionId"))
	if s == nil || !s.sse {
		x.plain(http.StatusNotFound, "text/plain", "Session not found")
		return
	}
	s.conn.take(x.body, nil)
	x.plain(http.StatusAccepted, "text/plain", "Accepted")
}

const (
	headerMethod = "Mcp-Method"
	headerName   = "Mcp-Name"

	codeHeaders = -32020 // 2026-07-28, basic/index "Error Codes"
)

// postModern serves one exchange of 2026-07-28. There is no session. If the client closes the exchange, the call is
// cancelled.
func (x *exchange) postModern() {
	m := x.seen.Message
	if complaint := mirrored(x.r.Header, m); complaint != "" {
		x.http.server.record(m)
		x.refuseCall(m, http.StatusBadRequest, codeHeaders, complaint)
		return
	}
	s := x.http.open(x.http.ctx, false, false)
	defer s.end(errExchanged)
	if !m.IsRequest() {
		s.conn.take(x.body, nil)
		x.accepted()
		return
	}
	st := x.http.newStream("", x.http.o.JSON && !x.act.SSE)
	call := s.conn.take(x.body, st)
	defer func() {
		x.http.mu.Lock()
		closed := x.closed
		x.http.mu.Unlock()
		if closed {
			call.cancelBy(&CancelledError{Closed: true})
		}
	}()
	if data, isAnswer := st.first(); isAnswer {
		if status := statusOf(data); status != http.StatusOK {
			x.plain(status, typeJSON, data)
			return
		}
	}
	x.respond(st, s)
}

// statusOf returns the HTTP status of an answer that is known before the headers are sent.
func statusOf(answer string) int {
	switch e := parse([]byte(answer), 0).Error; {
	case e == nil:
		return http.StatusOK
	case e.Code == codeMethodNotFound:
		return http.StatusNotFound
	case e.Code == codeInvalidParams, e.Code == codeInvalidRequest, e.Code <= codeHeaders &&
		e.Code >= codeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// refuseCall answers a message with an error that has its id.
func (x *exchange) refuseCall(m Message, status int, code int64, message string) {
	id := m.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	x.plain(status, typeJSON, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id,
		marshal(Error{Code: code, Message: message})))
}

// mirrored checks that the headers agree with the body (2026-07-28 basic/transports/streamable-http "Request
// Metadata").
func mirrored(header http.Header, m Message) (complaint string) {
	want := map[string]string{headerMethod: m.Method}
	if version := text(member(m.Param("_meta"), metaProtocolVersion)); version != "" || m.IsRequest() {
		want[headerVersion] = version
	}
	if slices.Contains([]string{"tools/call", "prompts/get"}, m.Method) {
		want[headerName] = text(m.Param("name"))
	} else if m.Method == "resources/read" {
		want[headerName] = text(m.Param("uri"))
	}
	for _, name := range []string{headerVersion, headerMethod, headerName} {
		value, needed := want[name]
		got := header.Get(name)
		if encoded, ok := strings.CutPrefix(got, "=?base64?"); ok {
			if plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "?=")); err == nil {
				got = string(plain)
			}
		}
		if needed && got != value {
			return "header " + name + " does not match the body"
		}
	}
	return ""
}
