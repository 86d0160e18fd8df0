package allowance

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// quiet keeps a server from asking: for a while after a person has said No again and again, or until that person wants
// its questions back.
type quiet struct {
	refused int       // in a row
	until   time.Time // no question before that
	muted   bool
}

// refuse tells whether a question that comes at now is answered without asking anybody, and how.
func (q *quiet) refuse(now time.Time) (as event.Action, why string) {
	switch {
	case q.muted:
		return event.ActionDecline, "the user wants no more questions of this server"
	case now.Before(q.until):
		return event.ActionDismiss, "its last questions were refused, and it asks again at once"
	}
	return 0, ""
}

// Settled notes what became of a question that was shown. An end that nobody chose says nothing. It is called with the
// lock.
func (a *Allowance) Settled(cause event.PromptCause) {
	q := &a.quiet
	switch cause {
	case event.CauseAnswered:
		q.refused, q.until = 0, time.Time{}
	case event.CauseDeclined, event.CauseDismissed:
		q.refused++
		if over := q.refused - bounds.RefusalsFree; over > 0 {
			q.until = time.Now().Add(refusalPause(over))
		}
	}
}

// refusalPause is how long a server waits after the n-th No beyond those that are free.
func refusalPause(n int) time.Duration {
	pause := bounds.RefusalPause
	for range n - 1 {
		if pause >= bounds.RefusalMaxPause {
			return bounds.RefusalMaxPause
		}
		pause *= 2
	}
	return min(pause, bounds.RefusalMaxPause)
}

// Called ends the pause after refusals, but no muting: somebody wants something of the server, which may need to ask
// for it. It is called with the lock.
func (a *Allowance) Called() {
	a.quiet.refused, a.quiet.until = 0, time.Time{}
	a.asks.Credit(bounds.QuestionsPerCall)
}

// Muted tells whether the user wants no more questions of the server. It is called with the lock.
func (a *Allowance) Muted() bool { return a.quiet.muted }

// Mute switches the questions of the server off or on; changed tells whether they were not so before. It is called with
// the lock.
func (a *Allowance) Mute(muted bool) (changed bool) {
	if !muted {
		a.quiet.refused, a.quiet.until = 0, time.Time{}
	}
	changed = a.quiet.muted != muted
	a.quiet.muted = muted
	return changed
}
