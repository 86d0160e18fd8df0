package servers

import (
	"fmt"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Inconsistent describes what contradicts the state that the core says s has; "" means that nothing does. The hub's
// tests call it after each critical section.
func (s *Server) Inconsistent() string {
	now := s.Now()
	switch {
	case now.Removed:
		return fmt.Sprintf("server %s is no longer configured, and is in the list", s.name)
	case (s.conn != nil) != (now.State == event.ServerReady), s.conn != nil && s.conn.number != now.Connection:
		return fmt.Sprintf("server %s is %s, connected: %v", s.name, now.State, s.conn != nil)
	case (s.attempt != nil) != now.Starting, now.State == event.ServerConnecting && !now.Starting:
		return fmt.Sprintf("server %s is %s, and a start is under way: %v", s.name, now.State, s.attempt != nil)
	case s.stopped != nil && now.State != event.ServerStopping:
		return fmt.Sprintf("server %s is %s, and somebody waits for its end", s.name, now.State)
	}
	return ""
}

// Leftovers counts, by kind, what s still holds although no call is open. It is for the hub's tests.
func (s *Server) Leftovers() map[string]int {
	now := s.Now()
	left := map[string]int{"users": now.Users, "waiters": now.Waiters, "pauses": s.paused.open}
	if s.tools.listing != nil {
		left["listings"] = 1
	}
	if now.Planned {
		left["starts to come"] = 1
	}
	if s.conn != nil {
		left["wire requests"], left["open calls"] = len(s.conn.session.Pending()), s.conn.session.InFlight()
	}
	return left
}
