package servers

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// What is done about servers that fail.
const (
	restartDelay    = time.Second // after the first failure; it doubles with each further one
	restartMaxDelay = 30 * time.Second
	giveUpAfter     = 5           // failures in a row
	stableAfter     = time.Minute // a connection that was up for so long clears the count of failures
)

// supervision records the failures of a server, and holds the plan of its next start.
type supervision struct {
	failures int    // in a row
	how      string // how it failed last, without exit status and stderr
	used     bool   // somebody has acquired its connection
	wasReady bool
	exit     func() string // returns how the present process ended, once it has ended; nil if there is no process
	lastExit string
	plan     *plan
	lookedAt uint64 // Table.company when the start under way began
}

// plan is a start after a delay. It exists only while nothing of the server runs. Whoever needs the server meanwhile
// waits for its attempt.
type plan struct {
	attempt  *attempt
	due      time.Time
	byItself bool // the start happens even if nobody waits for it
	timer    *time.Timer
}

// starts reports whether p will lead to a start: it is to happen by itself, or somebody waits for it.
func (p *plan) starts() bool { return p != nil && (p.byItself || p.attempt.waiters > 0) }

// failure says why a start or a connection failed.
type failure struct {
	how      string
	counts   bool // it is the server's fault
	again    bool // a start is planned although the failure does not count
	hopeless bool // another try would end the same way
}

// noteFailure counts a failure, and plans another start or gives the server up. Nothing of s runs; the caller makes the
// transition that ends the failed start or connection.
func (s *Server) noteFailure(f failure) {
	v := &s.supervised
	v.how = f.how
	s.life.apply(Fail)
	if f.counts {
		v.failures++
	}
	if s.table.House.Draining() || s.Usable() != nil {
		return
	}
	// An open task can be served by this server only, so it is not given up: it is tried until the task's time limits end
	// the task.
	if v.failures >= giveUpAfter && !s.owner.Use().Task {
		s.life.apply(GiveUp)
		s.lastError = s.errGivenUp().Message
		s.table.Logger.Warn("server given up", "server", s.name, "failures", v.failures)
		return
	}
	if f.counts || f.again {
		s.planStart(delayAfter(v.failures), !f.hopeless && (s.Eager() || v.wasReady && v.used))
	}
}

// delayAfter returns the delay before the start after the nth failure in a row.
func delayAfter(n int) time.Duration {
	d := restartDelay
	for ; n > 1 && d < restartMaxDelay; n-- {
		d *= 2
	}
	return min(d, restartMaxDelay)
}

func (s *Server) planStart(delay time.Duration, byItself bool) {
	p := &plan{attempt: newAttempt(), due: time.Now().Add(delay), byItself: byItself}
	p.timer = time.AfterFunc(delay, func() {
		s.table.House.Update(func() {
			if s.supervised.plan == p {
				s.due()
			}
		})
	})
	s.supervised.plan = p
}

// due runs when the delay of the plan has expired.
func (s *Server) due() {
	p := s.supervised.plan
	if !p.starts() || s.table.House.Draining() || s.Usable() != nil {
		s.supervised.plan = nil // the next call that needs the server starts it at once
		return
	}
	if p.attempt.waiters == 0 && s.owner.MustAsk() {
		// The consent has gone, perhaps with its window. Nobody is asked again for a start that nobody waits for.
		s.supervised.plan = nil
		if s.Eager() {
			s.life.apply(Lonely)
		}
		s.transition(Abandon)
		return
	}
	s.table.Logger.Info("server is started again", "server", s.name, "failures", s.supervised.failures)
	s.begin()
	if s.Eager() {
		s.attempt.wantItself()
	}
}

// takePlan cancels the plan and returns its attempt, which callers may already wait for. It returns nil if there is no
// plan.
func (s *Server) takePlan() *attempt {
	p := s.supervised.plan
	if p == nil {
		return nil
	}
	p.timer.Stop()
	s.supervised.plan = nil
	return p.attempt
}

// dropPlan cancels the plan, and fails the callers that wait for its attempt.
func (s *Server) dropPlan(cause *event.CancelCause) {
	a := s.takePlan()
	if a == nil {
		return
	}
	a.err = s.errStoppedInStart(cause.Reason)
	close(a.done)
	s.transition(Abandon)
}

// nextStart returns the attempt that a caller who needs s waits for, and begins it unless a delay has to pass first. s
// is neither ready nor stopping.
func (s *Server) nextStart() (*attempt, *event.Error) {
	if s.attempt != nil {
		return s.attempt, nil
	}
	if err := s.GivenUp(); err != nil {
		return nil, err
	}
	p := s.supervised.plan
	if p == nil || s.supervised.failures <= 1 { // the first failure may have been an accident
		s.begin()
		return s.attempt, nil
	}
	return p.attempt, nil
}

// forgive clears the failures, so that s may start at once.
func (s *Server) forgive() {
	v := &s.supervised
	if v.failures == 0 && !s.life.gaveUp {
		return
	}
	v.failures = 0
	s.transition(Forgive)
}

// forget clears the supervision of a server whose launch has changed. Its plan must have been dropped before.
func (s *Server) forget() {
	s.supervised = supervision{exit: s.supervised.exit}
	for _, e := range []Event{Forgive, Abandon, Company} {
		s.life.apply(e)
	}
}

// tell sets the fields of i that are about failures and the next start.
func (v *supervision) tell(s *Server, i *event.ServerInfo) {
	i.Failures, i.LastExit = v.failures, v.lastExit
	if s.conn != nil && time.Since(s.ready) >= stableAfter {
		i.Failures = 0
	}
	if v.plan.starts() {
		i.NextStart = v.plan.due
	}
}
