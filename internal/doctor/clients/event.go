// Package clients examines an MCP client from outside, for its author: what its cancels are, what it does with late
// answers and with questions that were withdrawn, and how it ends its servers.
//
// A play is the server that the client gets. It has tools that never end, that ask, and that withdraw what they have
// asked. It passes what happens on the wire, without payloads, to a Journal as events. Judge, which is pure, makes the
// findings of them. What nobody exercised is found as doctor.Unseen, and never as good.
//
// What must not live here: a server's half of the protocol (hub/mcpserver), the form of a report (internal/doctor), and
// the command line (internal/cli/doctor).
package clients

import (
	"slices"
	"sync"
	"time"
)

// Kind is what happened.
type Kind string

// The kinds of events. Client means the one that is examined.
const (
	Opened     Kind = "opened"     // a connection began: Transport
	Spoke      Kind = "spoke"      // its revision is known: Revision, Client, Asks
	Requested  Kind = "requested"  // the client sent a request: ID, Method, Tool, Retry
	Cancelled  Kind = "cancelled"  // the client cancelled ID, with Reason
	Closed     Kind = "closed"     // the client closed the stream of ID before its answer, over HTTP
	Replied    Kind = "replied"    // the client answered our request ID; Failed
	Answered   Kind = "answered"   // the client's request ID was answered
	Asked      Kind = "asked"      // the client was sent the request ID: Method
	Withdrew   Kind = "withdrew"   // our request ID was withdrawn
	InputEnded Kind = "inputEnded" // the client closed the input of our process
	Signalled  Kind = "signalled"  // our process got the signal Name
	Left       Kind = "left"       // our process ended by itself
	Lost       Kind = "lost"       // our process was killed
	Deleted    Kind = "deleted"    // the client ended its session over HTTP
	Cut        Kind = "cut"        // the doctor ended the connection, because the client had ended without it
	Over       Kind = "over"       // the client's program has ended, or Interrupted says that the user ended the play
)

// Event is one thing that happened, without the payload of its message. Texts of the client are cut.
type Event struct {
	At   time.Time `json:"at"`
	Conn int       `json:"-"` // counts connections from 1; 0 for Over
	Kind Kind      `json:"kind"`

	Transport   string   `json:"transport,omitempty"` // as in a doctor.Finding
	Revision    string   `json:"revision,omitempty"`
	Client      string   `json:"client,omitempty"` // its name and version
	Asks        []string `json:"asks,omitempty"`   // the capabilities by which it can be asked
	ID          string   `json:"id,omitempty"`     // as JSON text; "" if there was none
	Method      string   `json:"method,omitempty"`
	Tool        string   `json:"tool,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Name        string   `json:"name,omitempty"`
	Retry       bool     `json:"retry,omitempty"`  // it answers the questions of a round (2026-07-28)
	Failed      bool     `json:"failed,omitempty"` // by an error
	Interrupted bool     `json:"interrupted,omitempty"`
}

// mostEvents bounds a journal: the client chooses how much it does.
const mostEvents = 100_000

// Journal collects the events of an examination in their order. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	events  []Event
	conns   int
	changed chan struct{} // closed and renewed with each event
}

// NewJournal returns an empty journal.
func NewJournal() *Journal { return &Journal{changed: make(chan struct{})} }

// Connection returns a function that adds the events of a new connection.
func (j *Journal) Connection() func(Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.conns++
	n := j.conns
	return func(e Event) {
		e.Conn = n
		j.add(e)
	}
}

func (j *Journal) add(e Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.events) < mostEvents {
		j.events = append(j.events, e)
	}
	close(j.changed)
	j.changed = make(chan struct{})
}

// Events returns what happened so far.
func (j *Journal) Events() []Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}

// next returns a channel that is closed with the next event.
func (j *Journal) next() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed
}
