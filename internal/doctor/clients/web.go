package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

const sessionHeader = "Mcp-Session-Id"

// bodyBytes bounds a message of a client over HTTP.
const bodyBytes = 8 << 20

// web serves the play over Streamable HTTP in both eras. Each session of a legacy client is a connection; all requests
// since 2026-07-28, which have no session, are one.
type web struct {
	play    *play
	inner   http.Handler
	journal *Journal

	mu     sync.Mutex
	wires  map[string]*wire // by session
	modern *wire            // nil before the first request
}

func newWeb(journal *Journal, version string) *web {
	h := &web{journal: journal, wires: map[string]*wire{}}
	h.play = newPlay(version, func(s *mcpserver.Session) *wire {
		if s.Client().Modern {
			return h.wire("", false)
		}
		return h.wire(s.ID(), false)
	})
	h.inner = h.play.server.HTTP(mcpserver.Guard{})
	return h
}

// serve serves a listener until stop is called.
func (h *web) serve(l net.Listener) (stop func()) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second}
	served := make(chan struct{})
	watched := mcpserver.Watch(server, l)
	go func() { // ends with the listener
		defer close(served)
		_ = server.Serve(watched)
	}()
	return func() {
		_ = server.Close()
		<-served
		h.play.close()
	}
}

// wire returns the wire of a session, or that of the requests without one. It is nil if there is no such session.
func (h *web) wire(session string, initialize bool) *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case session != "":
		return h.wires[session]
	case initialize:
		return newWire(h.journal.Connection(), doctor.HTTP)
	case h.modern == nil:
		h.modern = newWire(h.journal.Connection(), doctor.HTTP)
	}
	return h.modern
}

// began makes the wire that of a session.
func (h *web) began(session string, w *wire) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if session != "" {
		h.wires[session] = w
	}
}

// ServeHTTP implements http.Handler.
func (h *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	session := r.Header.Get(sessionHeader)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method == http.MethodPost && kind == "application/json":
		h.post(out, r, session)
		return
	case session == "":
		h.inner.ServeHTTP(out, r)
		return
	}
	w := h.wire(session, false)
	to := &response{ResponseWriter: out, wire: w}
	h.inner.ServeHTTP(to, r)
	to.end()
	if w != nil && r.Method == http.MethodDelete {
		w.record(Event{Kind: Deleted})
	}
}

func (h *web) post(out http.ResponseWriter, r *http.Request, session string) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, bodyBytes))
	if err != nil {
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(out, "the message could not be read", status)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	initialize := jsontext.String(jsontext.Get(body, "method")) == protocol.MethodInitialize
	w := h.wire(session, initialize)
	if w == nil {
		h.inner.ServeHTTP(out, r)
		return
	}
	if w.heard(body) {
		out.WriteHeader(http.StatusAccepted)
		return
	}
	to := &response{ResponseWriter: out, wire: w}
	if initialize && session == "" {
		to.began = func() { h.began(out.Header().Get(sessionHeader), w) }
	}
	h.inner.ServeHTTP(to, r)
	to.end()
	if r.Context().Err() != nil {
		w.closed(requestsIn(body))
	}
}

// requestsIn returns the ids of the requests of a POST.
func requestsIn(body []byte) (ids []string) {
	add := func(m json.RawMessage) bool {
		if id := jsontext.Get(m, "id"); id != nil && jsontext.Get(m, "method") != nil {
			ids = append(ids, idOf(id))
		}
		return true
	}
	if !jsontext.Elements(body, add) {
		add(body)
	}
	return ids
}

// response is an answer whose messages are recorded: the only one, or those of a stream of events.
type response struct {
	http.ResponseWriter
	wire  *wire  // nil: nothing is recorded
	began func() // is called before the first byte; may be nil
	part  []byte
}

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *response) WriteHeader(status int) {
	if r.began != nil {
		r.began()
	}
	r.began = nil
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. A message is recorded before: the client may act on it while it is written.
func (r *response) Write(b []byte) (int, error) {
	if r.wire != nil {
		for line := range bytes.Lines(b) {
			if r.part = append(r.part, line[:min(len(line), bodyBytes)]...); line[len(line)-1] == '\n' {
				r.line(r.part)
				r.part = r.part[:0]
			}
		}
	}
	return r.ResponseWriter.Write(b)
}

// end takes the last line, which has no end if the answer is a single message.
func (r *response) end() {
	if r.wire != nil {
		r.line(r.part)
	}
}

func (r *response) line(line []byte) {
	if strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream") {
		var data bool
		if line, data = bytes.CutPrefix(line, []byte("data:")); !data {
			return
		}
	}
	r.wire.said(bytes.TrimSpace(line))
}
