package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// parking is the place of a parked call.
type parking struct {
	state   string          // the requestState
	request wireRequest     // that was answered with the round
	ctx     context.Context // of that request: it ends with a cancel that crosses the round
	n       uint64          // position in the order of all parked calls
}

// wireRequest identifies a request of a client.
type wireRequest struct {
	session *Session
	id      jsonrpc.ID
}

// park parks the call, whose mu is held. It returns the calls that give way to it, of which nobody else knows any more.
func (r *rounds) park() (gaveWay []*rounds, err error) {
	if r.at.state == "" {
		r.binding = binding(r.call)
	}
	return r.call.Session.server.keep(rand.Text(), r)
}

// keep parks a call. The calls of one client may take no more places than it may have open requests, and a quarter of
// the bytes, so that a client that never retries does not affect the others: beyond that its own oldest give way to the
// new one. Error: ErrNotParked, if there is no room then.
func (s *Server) keep(state string, r *rounds) (gaveWay []*rounds, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.o.Bounds
	bytes, own, ownBytes := len(r.call.Params), []string(nil), len(r.call.Params) // own: the oldest first
	for other, parked := range s.parked {
		bytes += len(parked.call.Params)
		if parked.owner() == r.owner() {
			own = append(own, other)
			ownBytes += len(parked.call.Params)
		}
	}
	slices.SortFunc(own, func(a, b string) int { return cmp.Compare(s.parked[a].at.n, s.parked[b].at.n) })
	for len(own) >= b.OpenPerSession || ownBytes > b.ParkedBytes/4 || len(s.parked) >= b.Parked || bytes > b.ParkedBytes {
		if len(own) == 0 {
			return gaveWay, ErrNotParked
		}
		oldest := s.parked[own[0]]
		s.drop(own[0])
		own, gaveWay = own[1:], append(gaveWay, oldest)
		bytes, ownBytes = bytes-len(oldest.call.Params), ownBytes-len(oldest.call.Params)
	}
	s.parkings++
	r.at = parking{state, wireRequest{r.call.Session, r.onWire.of.id}, r.onWire.ctx, s.parkings}
	s.parked[state] = r
	s.parkedAt[r.at.request] = state
	return gaveWay, nil
}

// owner identifies the client whose calls are counted together: its session if that lasts for more than one call.
func (r *rounds) owner() any {
	if r.call.Session.lasting {
		return r.call.Session
	}
	return r.share
}

// unpark removes a parked call of a session and returns it, or nil if there is none with that state and binding. Who
// gets it tells its round what has become of it: nobody else does.
func (s *Server) unpark(state string, session *Session, of [sha256.Size]byte) *rounds {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.parked[state]
	if r == nil || r.call.Session != session || r.binding != of {
		return nil
	}
	s.drop(state)
	return r
}

// drop removes a call from parked. Called with mu held.
func (s *Server) drop(state string) {
	if of := s.parked[state].at.request; s.parkedAt[of] == state { // otherwise the client has used the id again
		delete(s.parkedAt, of)
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
		r.apply(roundGivenUp{})
	}
}

// parkedBy returns the requestState of the call that was parked with the answer to the request id, or "".
func (s *Session) parkedBy(id jsonrpc.ID) (state string) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return s.server.parkedAt[wireRequest{s, id}]
}

// giveUp ends a call that was parked with its answer to the request id: its client has cancelled that request at the
// same time. No other message says that the client will not retry.
func (s *Session) giveUp(id jsonrpc.ID, cause error) { s.server.giveUp(s.parkedBy(id), cause) }

// giveUp ends the call that is parked with that state, if there is one: its client will not retry. If its client has
// cancelled the request that was answered with the round, that is the cause: the cancel may be carried out later than
// another one that was read after it.
func (s *Server) giveUp(state string, cause error) {
	s.mu.Lock()
	r := s.parked[state]
	if r != nil {
		s.drop(state)
	}
	s.mu.Unlock()
	if r == nil {
		return
	}
	if first := (*jsonrpc.WithdrawnError)(nil); errors.As(context.Cause(r.at.ctx), &first) {
		cause = first
	}
	r.apply(roundGivenUp{cause})
}
