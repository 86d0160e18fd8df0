package peers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Names of events. A server over stdio records no request, disconnected and answered.
const (
	// an HTTP request came: HTTP, Method, ID, Session, Revision; Tool is params.name, Reason params.reason
	EventRequest      = "request"
	EventDisconnected = "disconnected" // the client left before the server had ended its answer: HTTP, Method, ID
	EventAnswered     = "answered"     // the server ended its answer to an HTTP request: HTTP, Method, ID
	EventSession      = "session"      // a legacy session began
	EventClosed       = "closed"       // a legacy session ended
	EventStarted      = "started"      // a tool was called, or a task began
	EventAsked        = "asked"        // a tool asked its question
	EventWithdrawn    = "withdrawn"    // a tool withdrew its question
	EventCancelled    = "cancelled"    // a tool was cancelled; Reason is the reason that the SDK reports
	EventFinished     = "finished"     // a tool returned its result; Detail is input_required if that asks a question
	EventFailed       = "failed"       // a tool failed
)

// Event is one line of a server's journal. A field that the server does not report is empty.
type Event struct {
	Event       string          `json:"event"`
	Tool        string          `json:"tool"`
	Task        string          `json:"task"` // id of the task
	Method      string          `json:"method"`
	ID          json.RawMessage `json:"id"` // of the request, or of the request that a cancel names
	Session     string          `json:"session"`
	HTTP        string          `json:"http"` // the verb
	Reason      string          `json:"reason"`
	Detail      string          `json:"detail"`
	Revision    string          `json:"revision"`    // MCP-Protocol-Version
	LastEventID string          `json:"lastEventId"` // Last-Event-ID
	Tag         string          `json:"tag"`         // journal.TagKey in the _meta of the request
}

// Is reports whether the event has that name and tool.
func (e Event) Is(name, tool string) bool { return e.Event == name && e.Tool == tool }

func parseEvent(line string) (Event, bool) {
	var e Event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		return e, false
	}
	return e, e.Event != ""
}

// ReadJournal reads the journal file of a server over stdio. The file does not exist before the first event.
func ReadJournal(t testing.TB, path string) []Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var events []Event
	for line := range strings.Lines(string(data)) {
		if e, ok := parseEvent(strings.TrimSuffix(line, "\n")); ok {
			events = append(events, e)
		}
	}
	return events
}
