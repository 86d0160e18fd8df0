package fakeserver

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
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

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

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
		s.conn.take([]byte(x.seen.Body), nil)
		x.accepted()
		return
	}
	st := x.http.newStream(decimal(int64(x.seen.N)), x.act.JSON || x.http.o.JSON && !x.act.SSE)
	x.http.mu.Lock()
	x.session, x.reply = s, st
	x.http.mu.Unlock()
	if s.id != "" && !x.http.o.Sessionless && m.Method == "initialize" {
		x.w.Header().Set(headerSession, s.id)
	}
	s.conn.take([]byte(x.seen.Body), st)
	x.respond(st, s)
}

// accepted answers a message that is not a request.
func (x *exchange) accepted() {
	if x.act.answers() {
		x.actOut()
		return
	}
	x.plain(http.StatusAccepted, "", "")
}

// findSession returns the session of a request, or refuses it and returns nil. An initialize without a session begins
// one.
func (x *exchange) findSession(initialize bool) *session {
	h := x.http
	version, id := x.r.Header.Get(headerVersion), x.r.Header.Get(headerSession)
	if version != "" && !legacyRevisions[version] {
		x.refuse(http.StatusBadRequest, codeServer, "Bad Request: Unsupported protocol version: "+version)
		return nil
	}
	if h.o.Sessionless {
		current := h.anySession()
		switch {
		case initialize && current != nil:
			current.end(errExpired)
			return h.open(h.ctx, true, false)
		case initialize:
			return h.open(h.ctx, true, false)
		case current == nil:
			x.refuse(http.StatusBadRequest, codeServer, "Bad Request: Server not initialized")
		}
		return current
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

// anySession returns the only session of a server that sends no session ids.
func (h *HTTP) anySession() *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if !s.sse {
			return s
		}
	}
	return nil
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
	x.events(st, have, s.conn, "")
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
	switch {
	case x.act.answers():
		x.actOut()
	case st.json:
		x.json(st, s.conn)
	default:
		x.events(st, 0, s.conn, "")
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

// events answers with a stream of events, beginning after the first have events. endpoint is the data of the first
// event of HTTP with SSE.
func (x *exchange) events(st *stream, have int, c *conn, endpoint string) {
	reader, from := st.attach(have)
	x.w.Header().Set("Content-Type", eventStream)
	x.w.Header().Set("Cache-Control", "no-cache")
	if !x.hold() {
		return
	}
	x.answered(http.StatusOK)
	x.w.WriteHeader(http.StatusOK)
	out := x.shape()
	err := out.out.Flush()
	ids := x.http.o.Resumable && !c.modern() && !c.web.sse
	retry := x.http.o.Retry
	if err == nil && endpoint != "" {
		err = x.event(out, "", "endpoint", 0, []string{endpoint})
	}
	if err == nil && ids {
		err = x.event(out, st.eventID(from), "", retry, []string{""})
		retry = 0
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
			err = x.event(out, id, "message", retry, x.act.lines(data))
			retry = 0
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

func (x *exchange) event(out *shaper, id, name string, retry time.Duration, data []string) error {
	err := out.event(id, name, retry, data)
	if err == nil {
		x.http.mu.Lock()
		x.seen.Events++
		x.http.mu.Unlock()
	}
	return err
}

// lines returns the lines of an event's data.
func (a Act) lines(data string) []string {
	var b bytes.Buffer
	if a.MultiLine && json.Indent(&b, []byte(data), "", " ") == nil {
		data = b.String()
	}
	return strings.Split(data, "\n")
}
