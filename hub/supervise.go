package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// What the hub does about servers that fail.
const (
	restartDelay    = time.Second // after the first failure; it doubles with each further one
	restartMaxDelay = 30 * time.Second
	giveUpAfter     = 5           // failures in a row
	stableAfter     = time.Minute // who was ready for so long has made up for the failures before
)

// supervision is what the hub keeps of how a server fails. Guarded by Hub.mu. What can happen to it has one function
// each: failed, forgive, forget, due and dropPlan.
type supervision struct {
	failures int    // in a row
	how      string // it failed last, without exit status and stderr
	used     bool   // somebody has had its connection
	wasReady bool
	exit     func() string // how the process of now ended, once it has; nil = there is none
	lastExit string
	plan     *plan
	lookedAt uint64 // Hub.company when the start began that is under way
}

// plan is a start to come. There is one only while nothing of the server runs. Who needs the server meanwhile waits for
// the attempt.
type plan struct {
	attempt  *attempt
	due      time.Time
	byItself bool // also when nobody waits
	timer    *time.Timer
}

// starts tells whether something comes of p without anybody's doing.
func (p *plan) starts() bool { return p != nil && (p.byItself || p.attempt.waiters > 0) }

// failure is why a server is down that was not to be.
type failure struct {
	how      string
	counts   bool // it is the server's fault
	again    bool // it is not, and the server comes back by itself
	hopeless bool // another try would end the same way
}

// failed notes a failure and plans what follows from it. The caller takes the state from rest and tells the windows.
// h.mu is held; nothing of s runs.
func (h *Hub) failed(s *server, f failure) {
	v := &s.supervised
	v.how = f.how
	s.life.Apply(servers.Fail)
	if f.counts {
		v.failures++
	}
	if h.draining || s.usable() != nil {
		return
	}
	// The one who has a task there is served by nothing but that server: it is tried until the task's clocks end that.
	if v.failures >= giveUpAfter && !h.hasTask(s) {
		s.life.Apply(servers.GiveUp)
		s.lastError = errGivenUp(s).Message
		h.log.Warn("server given up", "server", s.name, "failures", v.failures)
		return
	}
	if f.counts || f.again {
		h.planStart(s, delayAfter(v.failures), !f.hopeless && (s.eager() || v.wasReady && v.used))
	}
}

// delayAfter is how long a server is left alone after its nth failure in a row.
func delayAfter(n int) time.Duration {
	d := restartDelay
	for ; n > 1 && d < restartMaxDelay; n-- {
		d *= 2
	}
	return min(d, restartMaxDelay)
}

// hasTask tells whether a server works on a task for somebody. h.mu is held.
func (h *Hub) hasTask(s *server) bool {
	for _, r := range h.requests {
		if r.server == s && r.task != nil && r.cancellation == nil {
			return true
		}
	}
	return false
}

func (s *server) eager() bool { return s.conf.Start == config.StartEager }

func newAttempt() *attempt { return &attempt{done: make(chan struct{})} }

// planStart: h.mu is held.
func (h *Hub) planStart(s *server, delay time.Duration, byItself bool) {
	p := &plan{attempt: newAttempt(), due: time.Now().Add(delay), byItself: byItself}
	p.timer = time.AfterFunc(delay, func() {
		defer h.lock().unlock()
		if s.supervised.plan == p {
			h.due(s)
		}
	})
	s.supervised.plan = p
}

// due is the end of a delay. h.mu is held.
func (h *Hub) due(s *server) {
	if !s.supervised.plan.starts() || h.draining || s.usable() != nil {
		s.supervised.plan = nil // the next call starts it at once
		return
	}
	if p := s.supervised.plan; p.attempt.waiters == 0 && needsConsent(s.conf) && !h.agreedToLaunch(s) {
		// The yes has gone, with its window perhaps. Nobody is asked again for a start that nobody waits for.
		s.supervised.plan = nil
		if s.eager() {
			s.life.Apply(servers.Lonely)
		}
		h.transition(s, servers.Abandon)
		return
	}
	h.log.Info("server is started again", "server", s.name, "failures", s.supervised.failures)
	h.beginConnect(s)
	if s.eager() {
		h.wantItself(s.attempt)
	}
}

// takePlan gives the attempt that others may wait for already, nil when there is none. h.mu is held.
func (s *server) takePlan() *attempt {
	p := s.supervised.plan
	if p == nil {
		return nil
	}
	p.timer.Stop()
	s.supervised.plan = nil
	return p.attempt
}

// dropPlan ends a delay without a start. h.mu is held.
func (h *Hub) dropPlan(s *server, cause *event.CancelCause) {
	a := s.takePlan()
	if a == nil {
		return
	}
	a.err = errStoppedInStart(s, cause.Reason)
	close(a.done)
	h.transition(s, servers.Abandon)
}

// nextStart gives the attempt that somebody who needs s waits for, starting it if nothing speaks against that. h.mu is
// held; nothing of s is ready or stops.
func (h *Hub) nextStart(s *server) (*attempt, *event.Error) {
	if s.attempt != nil {
		return s.attempt, nil
	}
	if err := s.givenUp(); err != nil {
		return nil, err
	}
	p := s.supervised.plan
	if p == nil || s.supervised.failures <= 1 { // it may have been an accident
		h.beginConnect(s)
		return s.attempt, nil
	}
	return p.attempt, nil
}

// wait counts somebody who waits for a. h.mu is held.
func (h *Hub) wait(s *server, a *attempt) {
	a.waiters++
	if p := s.supervised.plan; p != nil && p.attempt == a && a.waiters == 1 && !p.byItself {
		h.changed(s) // now it has a next start
	}
}

// forgive lets a server start as if it had never failed. h.mu is held.
func (h *Hub) forgive(s *server) {
	v := &s.supervised
	if v.failures == 0 && !s.life.GaveUp() {
		return
	}
	v.failures = 0
	h.transition(s, servers.Forgive)
}

// forget is for a server whose launch changed: what is known was of another one. Its plan was dropped before. h.mu is
// held.
func (s *server) forget() {
	s.supervised = supervision{exit: s.supervised.exit}
	for _, e := range []servers.Event{servers.Forgive, servers.Abandon, servers.Company} {
		s.life.Apply(e)
	}
}

// reconsider draws the consequences of a change of the config that is in place already. h.mu is held.
func (h *Hub) reconsider(s *server, old config.Server, was bool, relaunch bool) {
	disabled := s.disabled()
	switch {
	case relaunch:
		s.forget()
	case disabled != was || !equal(old.Timeouts.Connect, s.conf.Timeouts.Connect) || old.Memory != s.conf.Memory:
		h.forgive(s) // perhaps that is what was wrong
	}
	if !disabled && s.eager() && (relaunch || was || old.Start != config.StartEager) {
		h.startEagerly(s)
	}
	if !sameFilter(old.Tools, s.conf.Tools) {
		h.emit(&event.ToolsChanged{Server: s.name})
	}
	h.watchIdle(s)
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// tell fills in what windows see of all that. h.mu is held.
func (v *supervision) tell(s *server, i *event.ServerInfo) {
	i.Failures, i.LastExit = v.failures, v.lastExit
	if s.conn != nil && time.Since(s.ready) >= stableAfter {
		i.Failures = 0
	}
	if v.plan.starts() {
		i.NextStart = v.plan.due
	}
}
