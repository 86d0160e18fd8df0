package clitest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Heard keeps what a command writes, so that a test can wait for it. Safe for concurrent use.
type Heard struct {
	// mu guards what follows.
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

// Write keeps what is written.
func (h *Heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return h.text.Write(b)
}

// Now returns what was written so far, and a channel that is closed at the next write.
func (h *Heard) Now() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.text.String(), h.changed
}

func (h *Heard) String() string {
	s, _ := h.Now()
	return s
}

// Await waits until want was written.
func (h *Heard) Await(t *testing.T, want string) {
	t.Helper()
	h.Line(t, want, func(line string) bool { return strings.Contains(line, want) })
}

// Line waits for a line that fits, which may have no end yet, and returns the first one.
func (h *Heard) Line(t *testing.T, what string, fits func(line string) bool) string {
	t.Helper()
	bound := time.After(faketime.Long)
	for {
		s, changed := h.Now()
		for line := range strings.Lines(s) {
			if fits(line) {
				return line
			}
		}
		select {
		case <-changed:
		case <-bound:
			t.Fatalf("it did not say %q but:\n%s", what, s)
		}
	}
}

// First waits for the first line.
func (h *Heard) First(t *testing.T) string {
	t.Helper()
	line := h.Line(t, "a line", func(line string) bool { return strings.HasSuffix(line, "\n") })
	return strings.TrimSuffix(line, "\n")
}

// Row returns the line of a table that begins with a name.
func Row(t *testing.T, table, name string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	t.Errorf("no row %s in:\n%s", name, table)
	return ""
}

// conversation is the output of mcphub call --json.
type conversation struct {
	Events   []*mcphubv1.AttachResponse
	Response *mcphubv1.CallToolResponse // set, or failure is
	Failure  *exit.Failure
}

// ReadConversation reads every line strictly and checks what holds for each conversation: a welcome first, then a
// snapshot, one end for each request that started, one answer last.
func ReadConversation(t *testing.T, out string) conversation {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var c conversation
	ends := map[string]int{}
	for _, line := range lines[:len(lines)-1] {
		event := new(mcphubv1.AttachResponse)
		if err := protojson.Unmarshal([]byte(line), event); err != nil {
			t.Fatalf("a line is no AttachResponse: %v\n%s", err, line)
		}
		// The start of a session is a request too, but outlives the call that needed it.
		if r := event.GetMcpRequestStarted().GetRequest(); r != nil && r.GetMethod() != "initialize" {
			ends[r.GetRequestId()] += 0
		}
		if id := event.GetMcpRequestCancelled().GetRequestId() + event.GetMcpRequestFinished().GetRequestId(); id != "" {
			ends[id]++
		}
		c.Events = append(c.Events, event)
	}
	for id, n := range ends {
		if n != 1 {
			t.Errorf("request %s ended %d times", id, n)
		}
	}
	if len(c.Events) > 0 && c.Events[0].GetWelcome() == nil {
		t.Errorf("the first event is %v, not the welcome", c.Events[0])
	}
	if len(c.Events) > 1 && c.Events[1].GetSnapshot() == nil {
		t.Errorf("the second event is %v, not the snapshot", c.Events[1])
	}
	c.Response, c.Failure = lastLine(t, lines[len(lines)-1])
	return c
}

// lastLine reads the last line of mcphub call --json: exactly one of its two forms.
func lastLine(t *testing.T, line string) (*mcphubv1.CallToolResponse, *exit.Failure) {
	t.Helper()
	var answer struct {
		Response json.RawMessage `json:"callToolResponse"`
		Error    *exit.Failure   `json:"error"`
	}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil || (answer.Response == nil) == (answer.Error == nil) {
		t.Fatalf("the last line is neither response nor error: %v\n%s", err, line)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	response := new(mcphubv1.CallToolResponse)
	if err := protojson.Unmarshal(answer.Response, response); err != nil {
		t.Fatal(err)
	}
	return response, nil
}

// LastFailure returns the failure at the end of an output whose events are not checked.
func LastFailure(t *testing.T, out string) *exit.Failure {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	_, f := lastLine(t, lines[len(lines)-1])
	return f
}

// Find returns what pick picks from the first event that has it.
func Find[T any](c conversation, pick func(*mcphubv1.AttachResponse) (T, bool)) (T, bool) {
	for _, e := range c.Events {
		if v, ok := pick(e); ok {
			return v, true
		}
	}
	var none T
	return none, false
}

// HeardCancel checks that the demo server received exactly one cancel with this reason, and no second cancel of any
// request. Other requests may have cancels of their own: subscriptions/listen of a modern session ends with one.
func HeardCancel(t *testing.T, record, reason string) {
	t.Helper()
	events, err := demoserver.ReadRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	reasons, ids := map[string]int{}, map[string]int{}
	for _, e := range events {
		if e.Event == demoserver.EventCancelReceived {
			reasons[e.Reason]++
			ids[string(e.ID)]++
		}
	}
	if reasons[reason] != 1 {
		t.Errorf("the server heard the reason %q %d times; all that it heard: %v", reason, reasons[reason], reasons)
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("the server heard %d cancels of the request %s", n, id)
		}
	}
}
