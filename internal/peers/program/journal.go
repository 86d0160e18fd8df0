package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
)

// Event is one line of the journal. A field that the server does not report is empty.
type Event struct {
	Event       string          `json:"event"`
	Tool        string          `json:"tool,omitempty"`
	Task        string          `json:"task,omitempty"` // id of the task
	Method      string          `json:"method,omitempty"`
	ID          json.RawMessage `json:"id,omitempty"` // of the request, or of the request that a cancel names
	Session     string          `json:"session,omitempty"`
	HTTP        string          `json:"http,omitempty"` // the verb
	Reason      string          `json:"reason,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	Revision    string          `json:"revision,omitempty"`    // MCP-Protocol-Version
	LastEventID string          `json:"lastEventId,omitempty"` // Last-Event-ID
	Tag         string          `json:"tag,omitempty"`         // TagKey in the _meta of the request
}

// Is reports whether the event has that name and tool.
func (e Event) Is(name, tool string) bool { return e.Event == name && e.Tool == tool }

// TagKey is the member of a request's _meta that the journal records as tag, so that a test recognizes its call.
const TagKey = "mcphub.test/tag"

// Journal writes events to a file. Its methods may be called concurrently.
type Journal struct {
	mu sync.Mutex // keeps lines whole
	to io.Writer
}

// openJournal opens the file at path; "" means stderr.
func openJournal(path string) (*Journal, error) {
	if path == "" {
		return &Journal{to: os.Stderr}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &Journal{to: f}, err
}

// Note writes one event. It ignores errors: a server must not fail because of its journal.
func (j *Journal) Note(e Event) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.to.Write(append(line, '\n'))
}

// Watch records each HTTP exchange: its arrival, and whether the server ended its answer or the client left before
// that.
func (j *Journal) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name, Reason string
				RequestID    json.RawMessage
				Meta         map[string]any `json:"_meta"`
			}
		}
		_ = json.Unmarshal(body, &m) // a body that is not a message has no method
		about := Event{HTTP: r.Method, Session: session(r), Method: m.Method, ID: m.ID}
		if m.ID == nil {
			about.ID = m.Params.RequestID
		} else if m.Method == "" {
			about.Method = "response"
		}
		came := about
		came.Tag, _ = m.Params.Meta[TagKey].(string)
		came.Event, came.Tool, came.Reason = "request", m.Params.Name, m.Params.Reason
		came.Revision, came.LastEventID = r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Last-Event-Id")
		j.Note(came)
		next.ServeHTTP(w, r)
		over := about
		over.Event = "answered"
		if r.Context().Err() != nil {
			over.Event = "disconnected"
		}
		j.Note(over)
	})
}

// session returns the session id, which is in a header, or with the transport of 2024-11-05 in the address.
func session(r *http.Request) string {
	q := r.URL.Query()
	return cmp.Or(r.Header.Get("Mcp-Session-Id"), q.Get("sessionid"), q.Get("sessionId"))
}
