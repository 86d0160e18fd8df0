package hub

import "github.com/mcphub-go/mcphub/hub/servers"

// transition takes s through an event, and tells the windows. It is the one place where the state of a server changes
// that is told of at once; what it is to be told with is set before. h.mu is held.
func (h *Hub) transition(s *server, e servers.Event) {
	was := s.life.State()
	if !s.life.Apply(e) {
		panic("server " + s.name + " is " + was.String() + ": impossible event: " + e.String())
	}
	if s.life.State() != was || tellsOf(e) {
		h.changed(s)
	}
}

// tellsOf tells whether an event shows in what the windows see although the state stays the same: a start that was
// planned, a count of failures.
func tellsOf(e servers.Event) bool { return e == servers.Abandon || e == servers.Forgive }

// switched brings what people want of s in line with what the config says and what SetServerEnabled has said. h.mu is
// held.
func (s *server) switched() {
	if s.disabled() {
		s.life.Apply(servers.SwitchOff)
		return
	}
	s.life.Apply(servers.SwitchOn)
}
