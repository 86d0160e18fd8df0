package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// CarryOut does what the core has ordered of a server. None of it waits.
func (t *Table) CarryOut(effect core.Effect) {
	switch e := effect.(type) {
	case core.ServerShown:
		t.servers[e.Server].owner.Shown(e)
	case core.StartBegun:
		t.servers[e.Server].begin(e)
	case core.StartStopped:
		t.servers[e.Server].attempt.stop(e.Cause) // run does the rest
	case core.SessionDetached:
		t.servers[e.Server].detach(e.Cause)
	case core.SessionClosed:
		t.servers[e.Server].closeSession(e)
	case core.ServerRested:
		s := t.servers[e.Server]
		s.wakeStopped()
		s.owner.Rested()
		t.Apply(core.EntrySettled(e))
	case core.ServerForgotten:
		s := t.servers[e.Server]
		s.stopTimer()
		s.wakeStopped()
		delete(t.servers, e.Server)
	case core.LaunchReplaced:
		t.servers[e.Server].relaunch()
	case core.GivenUp:
		s := t.servers[e.Server]
		s.lastError = s.errGivenUp(e.Failures).Message
		t.Logger.Warn("server given up", "server", s.name, "failures", e.Failures)
	case core.WaiterWoken:
		t.wake(e)
	case core.EagerQueued:
		var missing []core.ServerNumber
		for _, s := range t.all {
			if s.owner.MustAsk() {
				missing = append(missing, s.number)
			}
		}
		t.Apply(core.ConsentsSeen{Missing: missing})
	case core.ServerTimerSet:
		t.servers[e.Server].setTimer(e.At)
	}
}

// begin starts s. The start is a request of its own, which is listed but cannot be cancelled.
func (s *Server) begin(e core.StartBegun) {
	if e.Again {
		s.table.Logger.Info("server is started again", "server", s.name, "failures", s.Now().Failures)
	}
	a := &attempt{number: e.Connection}
	a.ctx, a.stop = context.WithCancelCause(context.Background())
	s.attempt = a
	s.lastError, s.cause = "", nil
	limit, late := s.ConnectLimit("was not ready")
	ctx, expire := context.WithCancelCause(a.ctx)
	a.start = s.owner.BeginStart(limit, func() { expire(late) })
	conf := s.conf // copied now, since a reload may replace it
	s.table.House.Go(func() {
		defer expire(nil)
		s.run(ctx, conf, a)
	})
}

// detach takes the connection from s.
func (s *Server) detach(cause *event.CancelCause) {
	s.table.Logger.Info("server is stopped", "server", s.name, "origin", cause.Origin.String(),
		"reason", bounds.Printable(cause.Reason))
	s.conn, s.leaving = nil, s.conn
}

// closeSession closes the session that was detached, once the server has answered the cancels of its tasks, for which
// it waits at most settleWait.
func (s *Server) closeSession(e core.SessionClosed) {
	session := s.leaving.session
	s.leaving = nil
	s.table.House.Go(func() {
		late, expire := context.WithTimeoutCause(context.Background(), settleWait, errSettledTooLate)
		select {
		case <-session.Settled():
		case <-late.Done():
		}
		expire()
		_ = session.Close(e.Cause) // the way in which a stopped server ends is of no interest
		s.table.House.Update(func() { s.ended(core.ServerEnded{Connection: e.Connection}) })
	})
}

// ended says that nothing of s runs any more.
func (s *Server) ended(e core.ServerEnded) {
	delete(s.table.kills, s)
	s.noteExit()
	s.pid = 0
	e.Server = s.number
	s.table.Apply(e)
}

// wakeStopped wakes those who wait until nothing of s runs any more.
func (s *Server) wakeStopped() {
	if s.stopped != nil {
		close(s.stopped)
		s.stopped = nil
	}
}

// setTimer makes the core look at s at that time.
func (s *Server) setTimer(at time.Time) {
	left := time.Until(at)
	if s.timer != nil {
		s.timer.Reset(left)
		return
	}
	house := s.table.House
	s.timer = time.AfterFunc(left, func() {
		house.Update(func() {
			s.table.Apply(core.ServerTimer{Server: s.number, MustAsk: s.owner.MustAsk(),
				Subscribed: len(s.subscriptions.of) > 0})
		})
	})
}

func (s *Server) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
	}
}
