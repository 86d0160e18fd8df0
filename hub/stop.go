package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// settleWait bounds how long a stop waits for the answers to the cancels of tasks: a task may outlive the connection,
// so its cancel must not be lost with it.
const settleWait = time.Second

var errSettledTooLate = errors.New("the cancels of tasks were not answered in time")

// stop ends s and waits for it. A cause cancels its open requests.
func (h *Hub) stop(ctx context.Context, s *server, cause *event.CancelCause) error {
	var done <-chan struct{}
	h.update(func() { done = h.beginStop(s, cause, servers.Stop) })
	tookEffect(ctx)
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
		return event.Fail(event.CodeDeadlineExceeded, event.ReasonServerStopped, []string{"server", s.name},
			"server %q is still being stopped",
			s.name)
	}
}

// beginStop cancels the requests of s and ends its connection once they are over, by one of the events Stop, End and
// Again. nil: nothing ran. h.mu is held.
func (h *Hub) beginStop(s *server, cause *event.CancelCause, by servers.Event) <-chan struct{} {
	var overs []<-chan struct{}
	for _, r := range h.requestsInOrder() {
		if r.server == s && !r.uncancellable && h.requests[r.id] == r {
			h.cancel(r, cause)
			overs = append(overs, r.whenOver())
		}
	}
	return h.endConnection(s, overs, cause, by)
}

// endConnection ends the connection of s, or its start, once these requests are over, by one of the events Stop, End
// and Again. It cancels none. nil: nothing ran. h.mu is held.
func (h *Hub) endConnection(s *server, overs []<-chan struct{}, cause *event.CancelCause,
	by servers.Event) <-chan struct{} {
	if by == servers.Stop {
		s.stopReason = cause.Reason
		h.notEager(s)
	}
	done := s.stopping
	begins := s.running() && done == nil
	if begins {
		done = make(chan struct{})
		s.stopping = done
	}
	lefts := h.lefts(s)
	if s.attempt != nil && begins {
		s.attempt.stop(cause) // run ends the rest
	}
	h.transition(s, by)
	switch {
	case done == nil:
		h.dropPlan(s, cause)
		return nil
	case !begins || s.attempt != nil:
		return done
	}
	c := s.conn
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
	s.pid = 0
	done := s.stopping
	s.stopping = nil
	h.transition(s, servers.Ended)
	close(done)
	if s.life.Removed() {
		if h.ending[s.name] == s {
			delete(h.ending, s.name)
		}
		if next := s.successor; next != nil {
			s.successor = nil
			h.stopped(next)
		}
		return
	}
	h.settle(s)
	h.restart(s)
}

// restart starts a server of which that is wanted, now that nothing of it is left. h.mu is held.
func (h *Hub) restart(s *server) {
	switch {
	case s.life.Intent() != servers.Restart:
	case h.draining || s.supervised.plan != nil || !s.life.MayStart():
		s.life.Apply(servers.Settle)
	case s.eager():
		h.startEagerly(s)
	default:
		h.beginConnect(s)
	}
}
