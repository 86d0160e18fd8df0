package servers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// The orders of people and of the host. Each takes the lock, and returns when the order was carried out.

// Start connects the server and waits until it is ready. It tries at once, however often the server failed before.
func (s *Server) Start(ctx context.Context) (event.ServerInfo, error) { return s.start(ctx, 0) }

// start is like Start; since is that of look.
func (s *Server) start(ctx context.Context, since uint64) (event.ServerInfo, error) {
	s.table.House.Update(func() {
		s.table.Apply(core.StartOrdered{Server: s.number})
		s.owner.Ordered(true)
	})
	first := s.look(ctx, 0, since)
	s.owner.TookEffect(ctx)
	if _, err := s.await(ctx, 0, first); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
	return s.shown(), nil
}

// Stop ends the connection and the process; open requests are cancelled with the reason. The server starts again on the
// next use.
func (s *Server) Stop(ctx context.Context, by event.Origin, reason string) (event.ServerInfo, error) {
	if reason == "" {
		reason = "the server was stopped"
	}
	if err := s.stop(ctx, &event.CancelCause{Origin: by, Reason: bounds.Reason(reason)}); err != nil {
		return event.ServerInfo{}, err
	}
	return s.shown(), nil
}

func (s *Server) stop(ctx context.Context, cause *event.CancelCause) error {
	var done <-chan struct{}
	s.table.House.Update(func() { done = s.End(cause) })
	s.owner.TookEffect(ctx)
	return s.awaitStop(ctx, done)
}

// Restart is Stop followed by Start. If a Stop is ordered meanwhile, the server stays stopped, and the error says so.
func (s *Server) Restart(ctx context.Context, by event.Origin, reason string) (event.ServerInfo, error) {
	if reason == "" {
		reason = "the server was restarted"
	}
	var done <-chan struct{}
	var stops uint64
	s.table.House.Update(func() {
		done = s.End(&event.CancelCause{Origin: by, Reason: bounds.Reason(reason)})
		stops = s.Now().Stops
	})
	s.owner.TookEffect(ctx)
	if err := s.awaitStop(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return s.start(ctx, stops)
}

// SetEnabled switches the server off (it is stopped, and calls are refused) or on, whatever the config says. The switch
// holds until a reload changes the entry's own disabled value, or the entry is removed; other edits of the entry do not
// end it.
func (s *Server) SetEnabled(ctx context.Context, by event.Origin, enabled bool) (event.ServerInfo, error) {
	var done <-chan struct{}
	s.table.House.Update(func() {
		stopping := s.ends(core.SwitchOrdered{Server: s.number, On: enabled,
			Cause: &event.CancelCause{Origin: by, Reason: "the server was switched off"}})
		if enabled {
			s.owner.Ordered(false)
		} else {
			done = stopping
		}
	})
	s.owner.TookEffect(ctx)
	if err := s.awaitStop(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return s.shown(), nil
}

// shown returns the server as windows show it now.
func (s *Server) shown() (i event.ServerInfo) {
	s.table.House.Update(func() { i = s.owner.Info() })
	return i
}

// SetLogLevel asks the server to send log messages of this level and above.
func (s *Server) SetLogLevel(ctx context.Context, level string) error {
	session, err := s.Acquire(ctx, 0)
	if err != nil {
		return event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
	if session.Era() == mcp.Legacy && !session.Info().Logging {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonNoLogging, []string{"server", s.name},
			"server %q does not offer logging", s.name)
	}
	switch err := session.SetLogLevel(ctx, level); {
	case err != nil && ctx.Err() != nil:
		return event.StoppedWaiting(ctx, err)
	case err != nil:
		return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name},
			"server %q did not set its log level: %s", s.name, s.Quote(err.Error()))
	}
	return nil
}

// CheckLogLevel returns an error unless level is a log level of MCP.
func CheckLogLevel(level string) error {
	switch level {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
		return nil
	}
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
		"%q is no log level of MCP; use debug, info, notice, warning, error, critical, alert or emergency",
		bounds.Printable(level))
}
