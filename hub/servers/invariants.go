package servers

import (
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Inconsistent describes an inconsistency in the state of a configured server; "" means that there is none. The hub's
// tests call it after each critical section.
func (s *Server) Inconsistent() string {
	want := s.life.State()
	switch {
	case s.stopping != nil:
		want = event.ServerStopping
	case s.conn != nil:
		want = event.ServerReady
	case s.attempt != nil:
		want = event.ServerConnecting
	}
	is, rests := s.life.State(), !s.Running() && s.stopping == nil
	switch {
	case is != want || s.users < 0 || rests != is.Rests():
		return fmt.Sprintf("server %s is %s with %d users, connected: %v", s.name, is, s.users, s.conn != nil)
	case (s.life.intent == Off) != s.Disabled():
		return fmt.Sprintf("server %s is to be %s, and is switched off: %v", s.name, s.life.intent, s.Disabled())
	case s.life.Removed():
		return fmt.Sprintf("server %s is no longer configured, and is in the list", s.name)
	case s.life.intent == Restart && s.stopping == nil && !slices.Contains(s.table.eager, s):
		return fmt.Sprintf("server %s is to be started again, and nothing does it", s.name)
	}
	return s.supervised.inconsistent(s)
}

// inconsistent describes an inconsistency in the supervision of s.
func (v *supervision) inconsistent(s *Server) string {
	is, draining := s.life.State(), s.table.House.Draining()
	switch {
	case v.plan != nil && (s.Running() || s.stopping != nil || draining || s.life.gaveUp || s.Usable() != nil):
		return fmt.Sprintf("server %s is %s and has a start to come", s.name, is)
	case v.plan != nil && v.plan.attempt.waiters < 0:
		return fmt.Sprintf("%d wait for the next start of server %s", v.plan.attempt.waiters, s.name)
	case s.life.gaveUp && s.Running():
		return fmt.Sprintf("server %s was given up and is %s", s.name, is)
	case s.life.gaveUp && v.failures < giveUpAfter:
		return fmt.Sprintf("server %s was given up after %d failures", s.name, v.failures)
	case !s.idle.since.IsZero() && (s.conn == nil || s.conf.IdleStop == nil):
		return fmt.Sprintf("server %s is %s and its idle clock runs", s.name, is)
	case s.conn != nil && s.conf.IdleStop != nil && !draining && !s.inUse() && s.idle.since.IsZero():
		return fmt.Sprintf("nothing uses server %s and its idle clock does not run", s.name)
	}
	return ""
}

// Leftovers counts, by kind, what s still holds although no call is open. It is for the hub's tests.
func (s *Server) Leftovers() map[string]int {
	left := map[string]int{"users": s.users, "pauses": s.paused.open}
	if s.tools.listing != nil {
		left["listings"] = 1
	}
	if s.supervised.plan != nil {
		left["starts to come"] = 1
	}
	if s.conn != nil {
		left["wire requests"], left["open calls"] = len(s.conn.session.Pending()), s.conn.session.InFlight()
	}
	return left
}
