package demoserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// maxReason limits each recorded reason and detail, in runes.
const maxReason = 256

// Event names in the record.
const (
	EventReady          = "ready"           // the server is about to read its first message
	EventStarted        = "started"         // a tool was called
	EventCancelled      = "cancelled"       // the context of a running tool ended; the reason is its cause
	EventFinished       = "finished"        // a tool returned; the detail is ok, error or input_required
	EventPartial        = "partial"         // the work that a cancelled tool had done; in the detail
	EventTempFile       = "temp_file"       // a temporary file was created; the detail is its path
	EventCancelReceived = "cancel_received" // notifications/cancelled arrived, with the client's reason
	// over HTTP: the client closed the exchange of an unanswered request; in 2026-07-28 only, that is a cancel
	EventDisconnected = "disconnected"
	EventWithdrawn    = "withdrawn" // the server withdrew a question
	EventClosed       = "closed"    // the session is over
)

// Event is one line of the record.
type Event struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	Tool  string    `json:"tool,omitempty"`
	// the id of the request that was disconnected, or that a cancel_received names, as it was sent
	ID     json.RawMessage `json:"id,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Detail string          `json:"detail,omitempty"`
}

const methodCancelled = "notifications/cancelled"

// cancelled are the params of notifications/cancelled.
type cancelled struct {
	RequestID json.RawMessage `json:"requestId"`
	Reason    string          `json:"reason"`
}

// noteCancel records a cancel when it is read. A middleware of the SDK hears of it later, or, if the session is closed
// at once, never: TestCallURL, beside endless loops, saw a cancelled tool without a cancel.
func (j *Journal) noteCancel(c cancelled) {
	if c.RequestID != nil && string(c.RequestID) != "null" { // the SDK drops malformed ones
		j.note(Event{Event: EventCancelReceived, ID: c.RequestID, Reason: c.Reason})
	}
}

// Journal records events: as a line in the log, and as a JSON line in the record file. It is safe for concurrent use.
type Journal struct {
	// mu keeps lines whole, in both writers.
	mu     sync.Mutex
	log    io.Writer
	record *os.File // nil for none, and after Close
}

// OpenJournal opens a Journal. With an empty path there is no record; an existing file is appended to.
func OpenJournal(log io.Writer, record string) (*Journal, error) {
	j := &Journal{log: log}
	if record == "" {
		return j, nil
	}
	f, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	j.record = f
	return j, nil
}

// Close closes the record file. Later events go to the log only.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.record == nil {
		return nil
	}
	f := j.record
	j.record = nil
	return f.Close()
}

// note writes one event. It writes to the record with a single append, so that two processes may share a file. Failed
// writes are ignored: the demo must not fail because its journal does.
func (j *Journal) note(e Event) {
	e.Time = time.Now()
	e.Reason, e.Detail = bounded(e.Reason), bounded(e.Detail)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = io.WriteString(j.log, e.logLine())
	if j.record != nil {
		_, _ = j.record.Write(append(line, '\n'))
	}
}

func (e Event) logLine() string {
	switch e.Event {
	case EventReady:
		return "demo server ready\n"
	case EventClosed:
		return "demo server closed\n"
	}
	s := e.Event
	if e.Tool != "" {
		s = "tool " + e.Tool + " " + e.Event
	}
	if e.ID != nil {
		s += fmt.Sprintf(" id=%s", e.ID)
	}
	if e.Reason != "" {
		s += fmt.Sprintf(" reason=%q", e.Reason)
	}
	if e.Detail != "" {
		s += fmt.Sprintf(" detail=%q", e.Detail)
	}
	return s + "\n"
}

func bounded(s string) string {
	if r := []rune(s); len(r) > maxReason {
		return string(r[:maxReason])
	}
	return s
}

// ReadRecord returns the events in a record file so far. A line that is still being written is left out.
func ReadRecord(path string) (events []Event, err error) {
	text, err := os.ReadFile(path)
	for line := range bytes.Lines(text) {
		var e Event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events, err
}
