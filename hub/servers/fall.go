package servers

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// fall detaches c, a connection that ended by itself, from s. From then on nobody acquires it, and callers that need s
// wait until the old process has ended (see fallen). The calls on c fail by themselves.
func (s *Server) fall(c *connection) {
	if s.conn != c {
		return // a stop is under way, or another caller has detached it
	}
	c.fell = true
	s.conn = nil
	s.table.Apply(core.ConnectionEnded{Connection: c.number, Server: s.number})
}

// fallen completes fall once the session is done, when it is known how the process ended.
func (s *Server) fallen(c *connection) {
	if !c.fell {
		return
	}
	s.table.Logger.Warn("server gone", "server", s.name)
	s.noteExit()
	err := c.session.Err()
	if !s.Now().Halted { // else it was to be stopped, and now it is
		s.lastError, s.cause = s.Quote(fmt.Sprint(err)), err
		s.how = s.lastError
		if ended, ok := errors.AsType[*mcp.EndedError](err); ok {
			plain := *ended
			plain.Ended = ""
			s.how = s.Quote(plain.Error())
		}
	}
	s.ended(core.ServerEnded{Connection: c.number, Fell: true, Expired: errors.Is(err, transport.ErrSessionExpired)})
}

// startFailed says how a start has failed: err is the cause.
func (s *Server) startFailed(ctx context.Context, start Start, err error) {
	s.noteExit()
	delete(s.table.kills, s)
	e := s.StartError(ctx, err)
	_, hopeless := errors.AsType[*process.StartError](err) // no such program or directory: each try fails the same way
	f := core.Failure{Hopeless: hopeless, NobodyAsked: e.Reason == event.ReasonNoApprover}
	switch e.Reason { // every other reason is a missing answer of a person, or no fault of the server
	case event.ReasonServerFailed, event.ReasonConnectTimeout:
		f.Counts = true
	}
	s.how = e.Message
	if se, ok := errors.AsType[*mcp.StartError](err); ok && e.Reason == event.ReasonServerFailed {
		s.how = s.Quote("it did not start: " + se.How())
	}
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok && e.Reason == event.ReasonConnectTimeout {
		s.how = he.Message
	}
	if se, ok := errors.AsType[*mcp.StartError](err); ok && se.Noise != "" {
		s.how = s.Quote("it did not start: " + se.Noise)
	}
	s.lastError, s.cause, s.startErr = e.Message, e, e
	start.End(e, core.StartOver{Failure: f})
}

// noteExit keeps the exit status of the process that has ended, for error messages and for the windows.
func (s *Server) noteExit() {
	if s.exit == nil {
		return
	}
	if text := s.exit(); text != "" {
		s.lastExit = bounds.Printable(text)
	}
	s.exit = nil
}
