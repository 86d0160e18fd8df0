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
	maxBody        = 32 << 20 // the SDK's own limit
)

// Handler serves the demo server over HTTP. The SDK does the work. The handler chooses between the SDK's two ways to
// serve Streamable HTTP, checks where requests come from, and records what the SDK does not report. It is safe for
// concurrent use.
type Handler struct {
	journal     *Journal
	allowRemote bool
	server      *mcp.Server
	legacy      *mcp.StreamableHTTPHandler // with sessions
	modern      *mcp.StreamableHTTPHandler // without sessions
	sse         *sseHandler

	ctx    context.Context // the context of all tools
	cancel context.CancelCauseFunc

	// mu guards closed, and additions to busy.
	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup // requests that are being served
}

// NewHandler returns a handler. The caller must close it, and keeps ownership of the journal.
func NewHandler(o HTTPOptions, j *Journal) *Handler {
	h := &Handler{journal: j, allowRemote: o.AllowRemote}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.server = build(h.ctx, o.Options, j)
	get := func(*http.Request) *mcp.Server { return h.server }
	h.legacy = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true})
	// In a modern exchange, a close is the cancel (basic/patterns/cancellation). In the SDK this is an option.
	h.modern = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	h.sse = &sseHandler{ctx: h.ctx, server: h.server, sessions: make(map[string]*mcp.SSEServerTransport)}
	return h
}

// stop ends the tools and refuses further requests.
func (h *Handler) stop(cause error) {
	if cause == nil {
		cause = errStopped
	}
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel(cause)
}

// Close ends all sessions, and waits for their tools and for all requests. Further calls do nothing.
func (h *Handler) Close() {
	h.stop(nil)
	for s := range h.server.Sessions() {
		_ = s.Close()
	}
	h.busy.Wait()
	for s := range h.server.Sessions() { // begun by a request that was still being served
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

// posted holds the members of a message that the handler reads.
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
		_ = json.Unmarshal(body, &m) // the SDK refuses what is not a message
	}
	if m.Method != "" && m.ID != nil {
		answer := &answerWriter{ResponseWriter: w, id: m.ID}
		if withdraws(m.Params.Name) {
			answer.reason = m.Params.Arguments.Reason
		}
		w = answer
		// Before the response, the request's context ends only if the client leaves or the server ends.
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
