package hub

import (
	"context"
	"errors"
	"time"
)

// settleWait bounds how long a stop waits for the answers to the cancels of tasks: a task may outlive the connection, so its cancel must not be lost with it.
const settleWait = time.Second

var errSettledTooLate = errors.New("the cancels of tasks were not answered in time")

// stop ends s and waits for it. A cause cancels its open requests.
func (h *Hub) stop(ctx context.Context, s *server, cause *cancelCause) error {
	var done <-chan struct{}
	h.update(func() { done = h.beginStop(s, cause) })
	return s.await(ctx, done)
}

// await waits for the end of a stop; nil: nothing ran.
func (s *server) await(ctx context.Context, done <-chan struct{}) error {
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fail(CodeDeadlineExceeded, ReasonServerStopped, []string{"server", s.name}, "server %q is still being stopped", s.name)
	}
}

// beginStop cancels the requests of s and ends its connection once they are over. nil: nothing ran. h.mu is held.
func (h *Hub) beginStop(s *server, cause *cancelCause) <-chan struct{} {
	var overs []<-chan struct{}
	for _, r := range h.requestsInOrder() {
		if r.server == s && !r.uncancellable && h.requests[r.id] == r {
			h.cancel(r, cause)
			overs = append(overs, r.whenOver())
		}
	}
	return h.endConnection(s, overs, cause)
}

// endConnection ends the connection of s, or its start, once these requests are over. It cancels none. nil: nothing ran. h.mu is held.
func (h *Hub) endConnection(s *server, overs []<-chan struct{}, cause *cancelCause) <-chan struct{} {
	if s.stopping != nil {
		s.supervised.halted = true
		return s.stopping
	}
	if !s.running() {
		h.dropPlan(s, cause)
		return nil
	}
	done := make(chan struct{})
	lefts := h.lefts(s)
	s.stopping, s.state = done, ServerStopping
	if a := s.attempt; a != nil {
		a.stop(cause) // run ends the rest
		h.changed(s)
		return done
	}
	c := s.conn
	h.changed(s)
	s.proven()
	s.conn = nil
	h.watchIdle(s)
	h.work.Go(func() {
		for _, over := range overs {
			<-over // so that each cancel is on its way before the pipe closes
		}
		late, expire := context.WithTimeoutCause(context.Background(), settleWait, errSettledTooLate)
		for _, left := range lefts { // the cancel of what has ended before may not be on its way yet
			select {
			case <-left:
			case <-late.Done():
			}
		}
		select {
		case <-c.session.Settled():
		case <-late.Done():
		}
		expire()
		_ = c.session.Close(cause) // how a server that was told to go went is of no interest
		h.update(func() { h.stopped(s) })
	})
	return done
}

// stopped ends a stop. h.mu is held.
func (h *Hub) stopped(s *server) {
	delete(h.kills, s)
	s.noteExit()
	s.state, s.pid, s.supervised.halted = s.rest(), 0, false
	h.changed(s)
	if s.stopping != nil {
		close(s.stopping)
		s.stopping = nil
	}
	h.settle(s)
	h.turnCame(s)
}
