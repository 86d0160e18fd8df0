package servers

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// settleWait bounds how long a stop waits for the answers to the cancels of tasks. A task may outlive the connection,
// so its cancel must not be lost with it.
const settleWait = time.Second

var errSettledTooLate = errors.New("the cancels of tasks were not answered in time")

// awaitStop waits until done is closed; a nil done means that nothing ran. It is called without the lock.
func (s *Server) awaitStop(ctx context.Context, done <-chan struct{}) error {
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return event.Fail(event.CodeDeadlineExceeded, event.ReasonServerStopped, []string{"server", s.name},
			"server %q is still being stopped", s.name)
	}
}

// EndConnection cancels the requests of s and, once they are over, ends its connection or its start. by is Stop, End or
// Again. The returned channel is closed when nothing of s runs any more; it is nil if nothing ran.
func (s *Server) EndConnection(cause *event.CancelCause, by Event) <-chan struct{} {
	return s.endConnection(s.owner.Cancel(cause), cause, by)
}

// endConnection is like EndConnection, but the caller has cancelled the requests. overs are closed when these requests
// are over.
func (s *Server) endConnection(overs []<-chan struct{}, cause *event.CancelCause, by Event) <-chan struct{} {
	if by == Stop {
		s.stopReason = cause.Reason
		s.notEager()
	}
	done := s.stopping
	begins := s.Running() && done == nil
	if begins {
		done = make(chan struct{})
		s.stopping = done
	}
	if s.attempt != nil && begins {
		s.attempt.stop(cause) // run does the rest
	}
	s.transition(by)
	switch {
	case done == nil:
		s.dropPlan(cause)
		return nil
	case begins && s.attempt == nil:
		s.endSession(overs, cause)
	}
	if s.life.Removed() {
		s.table.ending[s.name] = s
	}
	return done
}

// endSession closes the session once overs are closed, and the server has answered the cancels of its tasks, for which
// it waits at most settleWait.
func (s *Server) endSession(overs []<-chan struct{}, cause *event.CancelCause) {
	session := s.conn.session
	s.proven()
	s.conn = nil
	s.watchIdle()
	s.table.House.Go(func() {
		for _, over := range overs {
			<-over // so that each cancel was sent before the pipe is closed
		}
		late, expire := context.WithTimeoutCause(context.Background(), settleWait, errSettledTooLate)
		select {
		case <-session.Settled():
		case <-late.Done():
		}
		expire()
		_ = session.Close(cause) // the way in which a stopped server ends is of no interest
		s.table.House.Update(s.stopped)
	})
}

// stopped completes a stop: nothing of s runs any more. It also lets the successor of a removed entry start.
func (s *Server) stopped() {
	t := s.table
	delete(t.kills, s)
	s.noteExit()
	s.pid = 0
	done := s.stopping
	s.stopping = nil
	s.transition(Ended)
	close(done)
	if s.life.Removed() {
		if t.ending[s.name] == s {
			delete(t.ending, s.name)
		}
		if next := s.successor; next != nil {
			s.successor = nil
			next.stopped()
		}
		return
	}
	s.owner.Rested()
	s.restart()
}

// restart starts s if its intent is Restart and nothing forbids that. Nothing of s runs.
func (s *Server) restart() {
	switch {
	case s.life.intent != Restart:
	case s.table.House.Draining() || s.supervised.plan != nil || !s.life.mayStart():
		s.life.apply(Settle)
	case s.Eager():
		s.StartEagerly()
	default:
		s.begin()
	}
}
