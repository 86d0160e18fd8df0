package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// idleness is how long nothing has used a connection. Guarded by Hub.mu.
type idleness struct {
	since time.Time // zero: the clock does not run
	timer *time.Timer
}

// noUse winds the clock of a server's idle shutdown anew: a use of it has just ended. What begins a use need not stop
// the clock: it looks when it strikes. h.mu is held.
func (h *Hub) noUse(s *server) {
	s.idle.since = time.Time{}
	h.watchIdle(s)
}

// watchIdle starts the clock of a server's idle shutdown if it should run and does not, and stops it if it should not.
// h.mu is held.
func (h *Hub) watchIdle(s *server) {
	i := &s.idle
	limit := s.conf.IdleStop
	if limit == nil || *limit <= 0 || h.draining || h.inUse(s) {
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
		i.timer = time.AfterFunc(left, func() { h.idled(s) })
		return
	}
	i.timer.Reset(left)
}

// inUse tells whether a server is of use to somebody, or not connected. h.mu is held.
func (h *Hub) inUse(s *server) bool {
	if s.conn == nil || s.users > 0 || len(s.subscriptions) > 0 {
		return true
	}
	for _, r := range h.requests { // of either direction; tasks, too, are open until they end
		if r.server == s {
			return true
		}
	}
	return false
}

// idled stops a server that nothing has used for its time.
func (h *Hub) idled(s *server) {
	defer h.lock().unlock()
	limit := s.conf.IdleStop
	switch {
	case s.idle.since.IsZero(), limit == nil, h.draining:
		return // stopped as it struck
	case h.inUse(s):
		s.idle.since = time.Time{} // the end of the use winds it again
		return
	case time.Since(s.idle.since) < *limit:
		return // wound anew as it struck
	}
	h.log.Info("server is stopped: nothing has used it for its idle time", "server", s.name, "idle", limit.String())
	h.endConnection(s, nil, &event.CancelCause{Origin: event.OriginPolicy, Reason: "nothing has used the server for " +
		limit.String()}, servers.End)
}
