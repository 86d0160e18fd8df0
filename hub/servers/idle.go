package servers

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// idleness is the state of the idle clock, which stops a connection that nothing has used for idleStop.
type idleness struct {
	since time.Time // when the last use ended; zero if the clock does not run
	timer *time.Timer
}

// noUse restarts the idle clock, because a use has just ended. The start of a use need not stop the clock, since idled
// checks for uses.
func (s *Server) noUse() {
	s.idle.since = time.Time{}
	s.watchIdle()
}

// watchIdle makes the idle clock run if and only if it should.
func (s *Server) watchIdle() {
	i := &s.idle
	limit := s.conf.IdleStop
	if limit == nil || *limit <= 0 || s.table.House.Draining() || s.inUse() {
		i.since = time.Time{}
		if i.timer != nil {
			i.timer.Stop()
		}
		return
	}
	now := time.Now()
	if i.since.IsZero() {
		i.since = now
	}
	left := max(0, *limit-now.Sub(i.since))
	if i.timer == nil {
		i.timer = time.AfterFunc(left, func() { s.table.House.Update(s.idled) })
		return
	}
	i.timer.Reset(left)
}

// inUse reports whether the idle clock must not run, because s is used or not connected.
func (s *Server) inUse() bool {
	return s.conn == nil || s.users > 0 || len(s.subscriptions.of) > 0 || s.owner.Use().Open
}

// idled runs when the idle clock has expired. It stops s unless it has been used meanwhile.
func (s *Server) idled() {
	limit := s.conf.IdleStop
	switch {
	case s.idle.since.IsZero(), limit == nil, s.table.House.Draining():
		return // the clock was stopped at the moment when it expired
	case s.inUse():
		s.idle.since = time.Time{} // the end of the use starts the clock again
		return
	case time.Since(s.idle.since) < *limit:
		return // the clock was restarted at the moment when it expired
	}
	s.table.Logger.Info("server is stopped: nothing has used it for its idle time", "server", s.name,
		"idle", limit.String())
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginPolicy, Reason: "nothing has used the server for " +
		limit.String()}, End)
}
