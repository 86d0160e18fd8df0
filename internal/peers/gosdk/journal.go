package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
)

// event is one line of the journal.
type event struct {
	Event       string `json:"event"`
	Tool        string `json:"tool,omitempty"`
	Method      string `json:"method,omitempty"`
	ID          any    `json:"id,omitempty"`
	Session     string `json:"session,omitempty"`
	HTTP        string `json:"http,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Detail      string `json:"detail,omitempty"`
	Revision    string `json:"revision,omitempty"`
	LastEventID string `json:"lastEventId,omitempty"`
}

type journal struct {
	mu sync.Mutex // makes lines whole
	to io.Writer
}

func openJournal(path string) (*journal, error) {
	if path == "" {
		return &journal{to: os.Stderr}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &journal{to: f}, err
}

// note drops what cannot be written: a server does not fail for want of a witness.
func (j *journal) note(e event) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.to.Write(append(line, '\n'))
}

// watch notes each HTTP exchange: that it came, and that the client went away before the server had ended it.
func (j *journal) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			ID     any
			Method string
			Params struct {
				Name, Reason string
				RequestID    any
			}
		}
		_ = json.Unmarshal(body, &m) // what is no message has no method
		about := event{HTTP: r.Method, Session: r.Header.Get("Mcp-Session-Id"), Method: m.Method, ID: m.ID}
		if m.ID == nil {
			about.ID = m.Params.RequestID
		} else if m.Method == "" {
			about.Method = "response"
		}
		came := about
		came.Event, came.Tool, came.Reason = "request", m.Params.Name, m.Params.Reason
		came.Revision, came.LastEventID = r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Last-Event-Id")
		j.note(came)
		next.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			gone := about
			gone.Event = "disconnected"
			j.note(gone)
		}
	})
}
