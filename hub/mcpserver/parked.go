package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// parking is the place of a parked call: the request that was answered with the round.
type parking struct {
	session *Session
	id      jsonrpc.ID
}

// park takes the call off the wire. It returns the open questions as the answer to x, or nil if none is left. The error
// says that there is no room to park the call.
func (r *rounds) park(x *exchange) (json.RawMessage, error) {
	s := r.call.Session.server
	r.mu.Lock()
	if len(r.open) == 0 {
		r.mu.Unlock()
		return nil, nil
	}
	bound := binding(r.call)
	r.binding = bound
	state := rand.Text()
	r.parked = true
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, q := range r.open {
		q.shown = true
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(append(jsontext.AppendString(b, q.key), `:{"method":`...), q.method)
		if q.params != nil {
			b = append(append(b, `,"params":`...), q.params...)
		}
		b = append(b, '}')
	}
	b = append(append(append(b, `},"requestState":"`...), state...), '"', '}')
	r.timer = time.AfterFunc(s.o.Bounds.Retry, func() {
		if s.unpark(state, r.call.Session, bound) != nil {
			r.abandon(ErrNoRetry)
		}
	})
	r.mu.Unlock()
	r.call.via.Store(nil)
	if !s.keep(state, r, x.id) {
		r.unparked()
		r.settle()
		return nil, errTooMany
	}
	r.leave()
	// The session may have ended in the meantime: then no retry must find the call.
	if context.Cause(r.call.Session.ctx) != nil && s.unpark(state, r.call.Session, bound) != nil {
		r.settle()
	}
	return b, nil
}

// keep parks a call, if there is room. The calls of one client may take no more places than it may have open requests,
// and a quarter of the bytes, so that a client that never retries does not affect the others.
func (s *Server) keep(state string, r *rounds, answered jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.o.Bounds
	total, own, ownBytes := len(r.call.Params), 1, len(r.call.Params)
	for _, other := range s.parked {
		total += len(other.call.Params)
		if other.share == r.share {
			own++
			ownBytes += len(other.call.Params)
		}
	}
	if len(s.parked) >= b.Parked || total > b.ParkedBytes || own > b.OpenPerSession || ownBytes > b.ParkedBytes/4 {
		return false
	}
	s.parked[state] = r
	r.at = parking{r.call.Session, answered}
	s.parkedAt[r.at] = state
	return true
}

// unpark removes a parked call of a session and returns it, or nil if there is none with that state and binding.
func (s *Server) unpark(state string, session *Session, of [sha256.Size]byte) *rounds {
	s.mu.Lock()
	r := s.parked[state]
	if r == nil || r.call.Session != session || r.binding != of {
		s.mu.Unlock()
		return nil
	}
	s.drop(state)
	s.mu.Unlock()
	r.unparked()
	return r
}

// drop removes a call from parked. Called with mu held.
func (s *Server) drop(state string) {
	if at := s.parked[state].at; s.parkedAt[at] == state { // otherwise the client has used the id again
		delete(s.parkedAt, at)
	}
	delete(s.parked, state)
}

// leaveParked removes parked calls whose handlers have returned.
func (s *Server) leaveParked(which func(r *rounds) bool) {
	var left []*rounds
	s.mu.Lock()
	for state, r := range s.parked {
		if which(r) {
			s.drop(state)
			left = append(left, r)
		}
	}
	s.mu.Unlock()
	for _, r := range left {
		r.unparked()
		r.settle()
	}
}

// giveUp ends a call that was parked with its answer to the request id: its client has cancelled that request at the
// same time. No other message says that the client will not retry.
func (s *Session) giveUp(id jsonrpc.ID, cause error) {
	server := s.server
	server.mu.Lock()
	state, parked := server.parkedAt[parking{s, id}]
	r := server.parked[state]
	if parked {
		server.drop(state)
	}
	server.mu.Unlock()
	if parked {
		r.unparked()
		r.abandon(cause)
	}
}

// abandon ends a call that was unparked and whose client will not retry.
func (r *rounds) abandon(cause error) {
	r.cancel(cause)
	r.settle()
}

// unparked marks that the call is not parked any more.
func (r *rounds) unparked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.parked = false
}
