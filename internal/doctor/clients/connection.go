package clients

import (
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// connection is what a client has shown on one connection.
type connection struct {
	transport, era, revision, client string
	asks                             []string

	requests  []*request
	byID      map[string]*request // the newest with an id
	calls     []*request          // of tools, that were open at the last call of one
	lately    []*request          // answered after their cancel, and nothing came from the client since
	unknown   []*unknownCancel
	named     int      // cancels that named a request
	reasons   []string // of the cancels
	questions []*asked
	replies   int // answers to questions that stood

	ended     *Event // its first act to end the connection, or its process
	escalated *Event // what came after the end of the input
	cut       bool
	deleted   bool
	overAt    time.Time // zero if neither the client's program nor the play has ended
	broken    bool      // the user ended the play
}

// request is one that the client sent.
type request struct {
	id, method, tool string
	at               time.Time
	answered         time.Time
	cancelled        []time.Time // the cancels that named it, the first before the answer
	after            time.Time   // the first cancel, if it came after the answer
	closed           time.Time   // the client closed its stream
	late             bool        // it was answered after its cancel
	next             time.Time   // the first message of the client after the late answer
	movedOn          bool        // another tool was called while it was open
	early            bool        // a cancel came before it
}

// probes reports whether the client has only asked for the revision on this connection, as some do with a process that
// they start for it and end at once.
func (s *connection) probes() bool {
	return len(s.those(func(r *request) bool {
		return r.method != protocol.MethodInitialize && r.method != protocol.MethodDiscover
	})) == 0
}

// open reports whether the client was still waiting at the end, for all that the wire says.
func (r *request) open() bool {
	return r.answered.IsZero() && len(r.cancelled) == 0 && r.closed.IsZero()
}

// unknownCancel is a cancel of an id that is none of a request.
type unknownCancel struct {
	id string
	at time.Time
}

// asked is a question of the play.
type asked struct {
	id, method string
	withdrawn  time.Time
	replied    time.Time
	failed     bool
}

func newConnection() *connection { return &connection{byID: map[string]*request{}} }

// apply takes the next event of the connection.
func (s *connection) apply(e Event) {
	switch e.Kind {
	case Requested, Cancelled, Closed, Replied:
		for _, r := range s.lately {
			r.next = e.At
		}
		s.lately = nil
	}
	switch e.Kind {
	case Opened:
		s.transport = e.Transport
	case Spoke:
		s.revision, s.client, s.asks, s.era = e.Revision, e.Client, e.Asks, mcp.EraLegacy
		if e.Revision >= protocol.Revision20260728 {
			s.era = mcp.EraModern
		}
	case Requested:
		s.requested(e)
	case Cancelled:
		s.cancelled(e)
	case Closed:
		if r := s.byID[e.ID]; r != nil {
			r.closed = e.At
		}
	case Answered:
		if r := s.byID[e.ID]; r != nil {
			if r.answered, r.late = e.At, len(r.cancelled) > 0; r.late {
				s.lately = append(s.lately, r)
			}
		}
	case Asked:
		s.questions = append(s.questions, &asked{id: e.ID, method: e.Method})
	case Withdrew:
		if q := s.question(e.ID); q != nil {
			q.withdrawn = e.At
		}
	case Replied:
		s.replied(e)
	case Deleted:
		s.deleted = true
	case Cut:
		s.cut = true
	case InputEnded, Signalled, Lost:
		if s.ended == nil {
			s.ended = &e
		} else if s.escalated == nil {
			s.escalated = &e
		}
	}
}

func (s *connection) requested(e Event) {
	r := &request{id: e.ID, method: e.Method, tool: e.Tool, at: e.At}
	for i, c := range s.unknown {
		if c.id == e.ID {
			r.early = true
			s.unknown = append(s.unknown[:i:i], s.unknown[i+1:]...)
			break
		}
	}
	if e.Tool != "" {
		s.calls = slices.DeleteFunc(s.calls, func(other *request) bool { return !other.open() })
		for _, other := range s.calls {
			other.movedOn = true
		}
		s.calls = append(s.calls, r)
	}
	if e.Retry {
		s.replies++
	}
	s.requests, s.byID[e.ID] = append(s.requests, r), r
}

func (s *connection) cancelled(e Event) {
	s.reasons = append(s.reasons, e.Reason)
	r := s.byID[e.ID]
	if r == nil {
		s.unknown = append(s.unknown, &unknownCancel{e.ID, e.At})
		return
	}
	s.named++
	if !r.answered.IsZero() && len(r.cancelled) == 0 {
		r.after = e.At
		return
	}
	r.cancelled = append(r.cancelled, e.At)
}

func (s *connection) question(id string) *asked {
	for i := len(s.questions) - 1; i >= 0; i-- {
		if s.questions[i].id == id {
			return s.questions[i]
		}
	}
	return nil
}

func (s *connection) replied(e Event) {
	q := s.question(e.ID)
	if q == nil || !q.replied.IsZero() {
		return
	}
	if q.replied, q.failed = e.At, e.Failed; q.withdrawn.IsZero() && !q.failed && q.method != protocol.MethodPing {
		s.replies++
	}
}

// those returns the requests for which holds is true.
func (s *connection) those(holds func(*request) bool) (found []*request) {
	for _, r := range s.requests {
		if holds(r) {
			found = append(found, r)
		}
	}
	return found
}

// retyped reports whether it names an open request, but with the other type of JSON.
func (s *connection) retyped(c *unknownCancel) bool {
	other := strings.Trim(c.id, `"`)
	if other == c.id {
		other = `"` + c.id + `"`
	}
	return c.id != "" && s.byID[other] != nil
}
