package transport

import (
	"context"
	"errors"
	"net/http"
)

var errCheckTimeout = errors.New("the server did not answer a ping in time")

// Close sends the cancellations that are on their way, for a second at most, aborts all requests, and waits for every
// goroutine. Then it ends a legacy session with DELETE (2025-11-25 basic/transports "Session Management"), which takes
// at most 2 s. Receive returns ErrHTTPClosed from then on. Calls after the first wait for the first. Close always
// returns nil.
func (s *Streamable) Close() error {
	s.close(s.deleteSession)
	return nil
}

// deleteSession ends the session on the server. Nothing of the session is sent after it.
func (s *Streamable) deleteSession() {
	s.mu.Lock()
	session, b := s.st.session, s.st.binding
	s.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), deleteTimeout,
		errors.New("the end of the session was not answered in time"))
	defer cancel()
	header := s.header.Clone()
	b.set(header, session)
	resp, failed := s.send(ctx, &outgoing{method: http.MethodDelete, header: header, rpc: http.MethodDelete})
	if failed != nil {
		s.log.Debug("the session was not deleted")
		return
	}
	discard(resp.Body)
}
