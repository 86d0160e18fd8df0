package demoserver

import (
	"context"
	"crypto/rand"
	"mime"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
