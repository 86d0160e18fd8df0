package demoserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errStopped = errors.New("the demo server was stopped")

const (
	modernRevision = "2026-07-28"
	maxBody        = 32 << 20 // as the SDK has it
)

// Handler serves the demo server over HTTP. The SDK does the work; the handler chooses between its two ways to serve
// Streamable HTTP, checks where requests come from, and writes down what the SDK tells nobody. Safe for concurrent use.
type Handler struct {
	journal     *Journal
	allowRemote bool
	server      *mcp.Server
	legacy      *mcp.StreamableHTTPHandler // with sessions
	modern      *mcp.StreamableHTTPHandler // without
	sse         *sseHandler

	ctx    context.Context // of all tools
	cancel context.CancelCauseFunc

	// mu guards closed, and additions to busy.
	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup // requests that are being served
}

// NewHandler makes a handler, which the caller must close. The journal stays the caller's.
func NewHandler(o HTTPOptions, j *Journal) *Handler {
	h := &Handler{journal: j, allowRemote: o.AllowRemote}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.server = build(h.ctx, o.Options, j)
	get := func(*http.Request) *mcp.Server { return h.server }
	h.legacy = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true})
	// The close of a modern exchange is the cancel (basic/patterns/cancellation); the SDK wants to be asked for it.
	h.modern = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	h.sse = &sseHandler{ctx: h.ctx, server: h.server, sessions: make(map[string]*mcp.SSEServerTransport)}
	return h
}

// stop ends the tools and lets no request in any more.
func (h *Handler) stop(cause error) {
	if cause == nil {
		cause = errStopped
	}
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel(cause)
}

// Close ends all sessions and waits for their tools and for all requests. More calls of it do nothing.
func (h *Handler) Close() {
	h.stop(nil)
	for s := range h.server.Sessions() {
		_ = s.Close()
	}
	h.busy.Wait()
	for s := range h.server.Sessions() { // begun by a request that was under way
		_ = s.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		http.Error(w, "the server is ending", http.StatusServiceUnavailable)
		return
	}
	h.busy.Add(1)
	h.mu.Unlock()
	defer h.busy.Done()

	if why := forbidden(r, h.allowRemote); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	switch r.URL.Path {
	case PathMCP:
		h.streamable(w, r)
	case PathSSE:
		h.sse.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// posted is what the handler wants to know of a message.
type posted struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Reason string `json:"reason"`
		} `json:"arguments"`
	} `json:"params"`
}

func (h *Handler) streamable(w http.ResponseWriter, r *http.Request) {
	var m posted
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		_ = json.Unmarshal(body, &m) // what is no message is the SDK's to refuse
	}
	if m.Method != "" && m.ID != nil {
		answer := &answerWriter{ResponseWriter: w, id: m.ID}
		if withdraws(m.Params.Name) {
			answer.reason = m.Params.Arguments.Reason
		}
		w = answer
		// Until it is answered, the end of the request's context is the client's doing, or the end of the server.
		defer watch(r.Context(), func() {
			if h.ctx.Err() == nil && !answer.answered.Load() {
				h.journal.note(Event{Event: EventDisconnected, Tool: m.Params.Name, ID: m.ID})
			}
		})()
	}
	if r.Header.Get("Mcp-Protocol-Version") >= modernRevision {
		h.modern.ServeHTTP(w, r)
		return
	}
	h.legacy.ServeHTTP(w, r)
}
