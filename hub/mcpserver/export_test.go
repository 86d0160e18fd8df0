package mcpserver

import "github.com/mcphub-go/mcphub/hub/jsonrpc"

// Left is what the server still holds: requests that run, parked ones, sessions.
func (s *Server) Left() (open, parked, sessions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, len(s.parked), len(s.sessions)
}

// Held is what a legacy session over HTTP holds of what its client was sent or is to be sent.
func (s *Session) Held() (streams, events, bytes int) {
	l := s.web.log
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, st := range l.streams {
		events += len(st.events)
	}
	return len(l.streams), events, l.bytes + l.waiting
}

// OpenEnded opens a session over a stream that was ended before its peer could be reached, and tells why it ended.
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
