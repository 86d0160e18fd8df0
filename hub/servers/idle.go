package servers

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// idleness is how long nothing has used a connection.
type idleness struct {
	since time.Time // zero: the clock does not run
	timer *time.Timer
}

// noUse winds the clock of a server's idle shutdown anew: a use of it has just ended. What begins a use need not stop
// the clock: it looks when it strikes.
func (s *Server) noUse() {
	s.idle.since = time.Time{}
	s.watchIdle()
}

// watchIdle starts the clock of a server's idle shutdown if it should run and does not, and stops it if it should not.
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

// inUse tells whether a server is of use to somebody, or not connected.
func (s *Server) inUse() bool {
	return s.conn == nil || s.users > 0 || len(s.subscriptions.of) > 0 || s.owner.Use().Open
}

// idled stops a server that nothing has used for its time.
func (s *Server) idled() {
	limit := s.conf.IdleStop
	switch {
	case s.idle.since.IsZero(), limit == nil, s.table.House.Draining():
		return // stopped as it struck
	case s.inUse():
		s.idle.since = time.Time{} // the end of the use winds it again
		return
	case time.Since(s.idle.since) < *limit:
		return // wound anew as it struck
	}
	s.table.Logger.Info("server is stopped: nothing has used it for its idle time", "server", s.name,
		"idle", limit.String())
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginPolicy, Reason: "nothing has used the server for " +
		limit.String()}, End)
}
