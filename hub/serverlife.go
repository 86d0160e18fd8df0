package hub

import (
	"context"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// begin starts s. The start is a request of its own, which is listed but cannot be cancelled.
func (s *server) begin(e core.StartBegun) {
	if e.Again {
		s.hub.log.Info("server is started again", "server", s.name, "failures", s.now().Failures)
	}
	a := &startAttempt{number: e.Connection}
	a.ctx, a.stop = context.WithCancelCause(context.Background())
	s.attempt = a
	s.lastError, s.cause = "", nil
	limit, late := s.connectLimit("was not ready")
	ctx, expire := context.WithCancelCause(a.ctx)
	a.request = s.beginStart(limit, func() { expire(late) })
	conf := s.conf // copied now, since a reload may replace it
	s.hub.work.Go(func() {
		defer expire(nil)
		s.run(ctx, conf, a)
	})
}

// detach takes the connection from s.
func (s *server) detach(cause *event.CancelCause) {
	s.hub.log.Info("server is stopped", "server", s.name, "origin", cause.Origin.String(),
		"reason", bounds.Printable(cause.Reason))
	s.conn, s.leaving = nil, s.conn
}

// closeSession closes the session that was detached, once the server has answered the cancels of its tasks, for which
// it waits at most settleWait.
func (s *server) closeSession(e core.SessionClosed) {
	session := s.leaving.session
	s.leaving = nil
	s.hub.work.Go(func() {
		late, expire := context.WithTimeoutCause(context.Background(), settleWait, errSettledTooLate)
		select {
		case <-session.Settled():
		case <-late.Done():
		}
		expire()
		_ = session.Close(e.Cause) // the way in which a stopped server ends is of no interest
		s.hub.within(func() { s.ended(core.ServerEnded{Connection: e.Connection}) })
	})
}

// ended says that nothing of s runs any more.
func (s *server) ended(e core.ServerEnded) {
	delete(s.hub.held().kills, s)
	s.noteExit()
	s.pid = 0
	e.Server = s.number
	s.hub.held().apply(e)
}

// wakeStopped wakes those who wait until nothing of s runs any more.
func (s *server) wakeStopped() {
	if s.stopped != nil {
		close(s.stopped)
		s.stopped = nil
	}
}

// setTimer makes the core look at s at that time.
func (s *server) setTimer(at time.Time) {
	left := time.Until(at)
	if s.timer != nil {
		s.timer.Reset(left)
		return
	}
	s.timer = time.AfterFunc(left, func() {
		s.hub.update(func(st *state) {
			st.apply(core.ServerTimer{Server: s.number, Subscribed: len(s.subscriptions.of) > 0})
		})
	})
}

func (s *server) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// entry returns what the config entry says of the life of s.
func (s *server) entry(broken bool) core.Entry {
	e := core.Entry{Eager: s.conf.Start == config.StartEager, Disabled: s.conf.Disabled, Broken: broken}
	if limit := s.conf.IdleStop; limit != nil {
		e.IdleStop = *limit
	}
	return e
}

// takeEntry replaces the config entry of s. The caller calls reconsider afterwards.
func (s *server) takeEntry(a configStep) {
	s.conf, s.key, s.problems = a.conf, "", a.problems
	l := &s.launch
	l.entry, l.entries, l.beside, l.place = a.entry, a.entries, a.beside, a.place
	if a.entry != nil {
		s.key = a.entry.Key
	}
}

// reconsider does what follows from a config change that takeEntry has recorded. old is the previous config; relaunch
// reports whether the change affects what is launched, and why is the reason. The channel, if not nil, is closed when
// what may not run any more has ended.
func (s *server) reconsider(broken bool, old *config.Server, relaunch bool, why string) (done <-chan struct{}) {
	was := s.disabled()
	if !relaunch {
		why = "the server was switched off"
	}
	done = s.ends(core.ServerConfigured{Server: s.number, Entry: s.entry(broken),
		Launch: s.hub.launchEntries(s.launch.entries), Counts: s.launch.counts(), Relaunch: relaunch,
		LimitChanged: !equalPointers(old.Timeouts.Connect, s.conf.Timeouts.Connect),
		Cause:        &event.CancelCause{Origin: event.OriginHost, Reason: why}})
	if !sameFilter(old.Tools, s.conf.Tools) {
		s.hub.held().emit(&event.ToolsChanged{Server: s.name})
	}
	if !relaunch && (was || !s.disabled()) {
		return nil // nothing had to end
	}
	return done
}

// relaunch discards what is known of the previous launch of s: its sign-in, tools, era, transport, last error and
// stderr, and how it failed.
func (s *server) relaunch() {
	s.endSignIn()
	s.forgetTools()
	s.tools.of, s.lastEra, s.reached, s.lastError, s.cause, s.stderr = nil, 0, 0, "", nil, nil
	s.how, s.lastExit = "", ""
}

func equalPointers[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameFilter(a, b config.ToolFilter) bool {
	return slices.Equal(a.Only, b.Only) && (a.Only == nil) == (b.Only == nil) && slices.Equal(a.Hidden, b.Hidden)
}
