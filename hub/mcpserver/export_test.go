package mcpserver

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

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

// OnRelease makes the server call f instead of returning memory to the system. It must be called first.
func (s *Server) OnRelease(f func()) {
	s.released = bounds.NewReleases(f)
	s.backlog.released = s.released
}

// Waiting returns how many bytes are counted as waiting for all clients, and how many as kept.
func (s *Server) Waiting() (waiting, kept int) {
	s.backlog.mu.Lock()
	defer s.backlog.mu.Unlock()
	return s.backlog.waiting, s.backlog.kept
}

// OpenEnded opens a session that is ended before its peer was started, and returns why it ended.
func (s *Server) OpenEnded(conn jsonrpc.Conn, cause error) error {
	session := s.newSession(true, nil)
	session.peer = jsonrpc.PreparePeer(conn, session.peerOptions())
	session.link = peerLink{peer: session.peer}
	if err := s.admit(session); err != nil {
		return err
	}
	session.End(cause)
	session.peer.Start()
	return session.attend()
}

// Early returns how many cancels of a session over HTTP are remembered for calls that have not come.
func (s *Session) Early() int {
	s.web.mu.Lock()
	defer s.web.mu.Unlock()
	return len(s.web.wire.early)
}
