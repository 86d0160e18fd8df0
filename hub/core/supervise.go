package core

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

// supervision is what is known of the failures of a launch, and the plan of its next start. It ends with the launch.
type supervision struct {
	failures       int  // in a row
	used           bool // somebody has used its connection
	wasReady       bool
	waitsForWindow bool // its start needs an answer of a person, and nobody could be asked
	plan           plan
}

// plan is a start after a delay. It exists only while nothing of the server runs. Whoever needs the server meanwhile
// waits for it.
type plan struct {
	due      time.Time // zero = there is none
	byItself bool      // the start happens even if nobody waits for it
}

// planned reports whether there is a plan.
func (sv *server) planned() bool { return !sv.plan.due.IsZero() }

// nextStart returns when the server will start: zero unless that is to happen by itself, or somebody waits for it.
func (sv *server) nextStart() time.Time {
	if sv.plan.byItself || len(sv.waiters) > 0 {
		return sv.plan.due
	}
	return time.Time{}
}

// count returns how often the server failed in a row.
func (sv *server) count(at time.Time) int {
	if sv.state == event.ServerReady && at.Sub(sv.ready) >= stableAfter {
		return 0
	}
	return sv.failures
}

// proven reports whether the connection that ends now was up for at least stableAfter, and clears the count of failures
// if so.
func (sv *server) proven(now time.Time) bool {
	stable := now.Sub(sv.ready) >= stableAfter
	if stable {
		sv.failures = 0
	}
	return stable
}

// dropPlan removes the plan, and reports whether there was one.
func (sv *server) dropPlan() bool {
	was := sv.planned()
	sv.plan = plan{}
	return was
}

// forgive clears the failures, so that the server may start at once.
func (s *State) forgive(sv *server) {
	if sv.failures == 0 && !sv.gaveUp {
		return
	}
	sv.failures, sv.gaveUp = 0, false
	sv.restAnew()
	s.show(sv)
}

// noteFailure counts a failure, and plans another start or gives the server up. Nothing of it runs. With again, a start
// is planned although the failure does not count.
func (s *State) noteFailure(sv *server, f Failure, again bool) {
	sv.failed = true
	if f.Counts {
		sv.failures++
	}
	if s.draining || !sv.usable() {
		return
	}
	// An open task can be served by this server only, so it is not given up: it is tried until the task's time limits end
	// the task.
	if sv.failures >= giveUpAfter && !s.hasTask(sv.n) {
		sv.gaveUp = true
		s.do(GivenUp{sv.n, sv.failures})
		return
	}
	if f.Counts || again {
		sv.plan = plan{due: s.now.Add(delayAfter(sv.failures)),
			byItself: !f.Hopeless && (sv.entry.Eager || sv.wasReady && sv.used)}
		s.arm(sv)
	}
}

// hasTask reports whether the server has a task that has not been cancelled.
func (s *State) hasTask(n ServerNumber) bool {
	for _, r := range s.requests {
		if r.server == n && r.task && r.cause == nil {
			return true
		}
	}
	return false
}

// delayAfter returns the delay before the start after the nth failure in a row.
func delayAfter(n int) time.Duration {
	d := restartDelay
	for ; n > 1 && d < restartMaxDelay; n-- {
		d *= 2
	}
	return min(d, restartMaxDelay)
}

// planDue starts a server whose delay is over.
func (s *State) planDue(sv *server) {
	switch {
	case sv.nextStart().IsZero() || s.draining || !sv.usable():
		sv.plan = plan{} // the next call that needs the server starts it at once
	case len(sv.waiters) == 0 && sv.launch.mustAsk():
		// The consent has gone, perhaps with its window. Nobody is asked again for a start that nobody waits for.
		sv.plan, sv.failed, sv.waitsForWindow = plan{}, false, sv.waitsForWindow || sv.entry.Eager
		sv.rest()
		s.show(sv)
	default:
		s.begin(sv, true)
		sv.byItself = sv.entry.Eager
	}
}
