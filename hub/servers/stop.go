package servers

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
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

// End cancels the requests of s and, once they are over, ends its connection or its start. The returned channel is
// closed when nothing of s runs any more; it is nil if nothing runs.
func (s *Server) End(cause *event.CancelCause) <-chan struct{} {
	return s.ends(core.StopOrdered{Server: s.number, Cause: cause})
}

// Outdated connects s anew if it is ready, because what runs of it is outdated.
func (s *Server) Outdated(cause *event.CancelCause) {
	s.ends(core.ServerOutdated{Server: s.number, Cause: cause})
}

// ends applies an event that may cancel the requests of s. The channel is that of Stopping.
func (s *Server) ends(e core.Event) <-chan struct{} {
	s.owner.SeeWithdrawals()
	s.table.Apply(e)
	return s.Stopping()
}

// Stopping returns a channel that is closed when the stop under way has ended, or nil if there is none.
func (s *Server) Stopping() <-chan struct{} {
	if s.Now().State != event.ServerStopping {
		return nil
	}
	if s.stopped == nil {
		s.stopped = make(chan struct{})
	}
	return s.stopped
}
