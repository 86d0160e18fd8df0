package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// fall detaches c, a connection that ended by itself, from s. From then on nobody acquires it, and callers that need s
// wait on s.stopping until the old process has ended (see fallen). The calls on c fail by themselves; the questions
// that the server asked on it are closed by Owner.Fell.
func (s *Server) fall(c *connection) {
	if s.conn != c {
		return // a stop is under way, or another caller has detached it
	}
	c.fell = true
	s.conn, s.stopping = nil, make(chan struct{})
	s.watchIdle()
	s.owner.Fell(c.client)
	s.transition(Fall)
}

// fallen completes fall once the session is done, when it is known how the process ended.
func (s *Server) fallen(c *connection) {
	if !c.fell {
		return
	}
	s.table.Logger.Warn("server gone", "server", s.name)
	s.lost(c.session.Err())
	s.stopped()
}

// lost records a connection that ended by itself, and why, as a failure, unless the server was to be stopped anyway.
func (s *Server) lost(err error) {
	s.noteExit()
	if s.life.halted { // the server was to be stopped, and now it is
		return
	}
	stable := s.proven()
	s.lastError, s.cause = s.Quote(fmt.Sprint(err)), err
	// A server may forget a session at any time (2025-11-25 basic/transports "Session Management"). If it does so all the
	// time, it is not asked for a new one until somebody needs it.
	expired := errors.Is(err, transport.ErrSessionExpired)
	f := failure{how: s.lastError, counts: !expired, again: expired && stable}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok {
		plain := *ended
		plain.Ended = ""
		f.how = s.Quote(plain.Error())
	}
	s.noteFailure(f)
}

// startFailed records a failed start: err is the cause, e the error that the callers get.
func (s *Server) startFailed(ctx context.Context, err error, e *event.Error) {
	s.noteExit()
	delete(s.table.kills, s)
	_, hopeless := errors.AsType[*process.StartError](err) // no such program or directory: each try fails the same way
	f := failure{how: e.Message, hopeless: hopeless}
	switch e.Reason { // every other reason is a missing answer of a person, or no fault of the server
	case event.ReasonServerFailed, event.ReasonConnectTimeout:
		f.counts = true
	}
	if se, ok := errors.AsType[*mcp.StartError](err); ok && e.Reason == event.ReasonServerFailed {
		f.how = s.Quote("it did not start: " + se.How())
	}
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok && e.Reason == event.ReasonConnectTimeout {
		f.how = he.Message
	}
	if se, ok := errors.AsType[*mcp.StartError](err); ok && se.Noise != "" {
		f.how = s.Quote("it did not start: " + se.Noise)
	}
	s.lastError, s.cause = e.Message, e
	s.noteFailure(f)
	if e.Reason == event.ReasonNoApprover { // the server waits for a window; see Table.startLonely
		again := s.overlooked(e)
		s.life.apply(Abandon)
		if s.Eager() && !again {
			s.life.apply(Lonely)
		}
		if s.Eager() && again {
			s.table.eager = append(s.table.eager, s) // run calls StartNextEager after this
		}
	}
	s.transition(StartFails)
}

// overlooked reports whether a start that failed because no window could ask the user may succeed now: since it began,
// a window was attached, or something else has changed (see Company).
func (s *Server) overlooked(e *event.Error) bool {
	return e.Reason == event.ReasonNoApprover && s.supervised.lookedAt != s.table.company
}

// proven reports whether the connection that ends now was up for at least stableAfter, and clears the count of failures
// if so.
func (s *Server) proven() bool {
	stable := time.Since(s.ready) >= stableAfter
	if stable {
		s.supervised.failures = 0
	}
	return stable
}

// noteExit keeps the exit status of the process that has ended, for error messages and for the windows.
func (s *Server) noteExit() {
	if s.supervised.exit == nil {
		return
	}
	if text := s.supervised.exit(); text != "" {
		s.supervised.lastExit = bounds.Printable(text)
	}
	s.supervised.exit = nil
}
