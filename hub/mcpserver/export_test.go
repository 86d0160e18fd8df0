package mcpserver

import "github.com/mcphub-go/mcphub/hub/jsonrpc"

// Left returns the numbers of running requests, parked calls and sessions that the server still holds.
func (s *Server) Left() (open, parked, sessions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, len(s.parked), len(s.sessions)
}

// Held returns how many streams, events and bytes a legacy session over HTTP holds for its client, sent or still to be
// sent.
func (s *Session) Held() (streams, events, bytes int) {
	c := s.web
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, st := range c.wire.streams {
		events += len(st.events)
	}
	return len(c.wire.streams), events, c.wire.bytes + c.wire.waiting
}

// OpenEnded opens a session that was ended before it had its peer, and returns why it ended.
func (s *Server) OpenEnded(conn jsonrpc.Conn, cause error) error {
	session, err := s.begin(true)
	if err != nil {
		return err
	}
	session.End(cause)
	session.peer = jsonrpc.NewPeer(conn, session.peerOptions())
	session.link = peerLink{peer: session.peer}
	session.opened()
	return session.attend()
}

// Early returns how many cancels of a session over HTTP are remembered for calls that have not come.
func (s *Session) Early() int {
	s.web.mu.Lock()
	defer s.web.mu.Unlock()
	return len(s.web.wire.early)
}
