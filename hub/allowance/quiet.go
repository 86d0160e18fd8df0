package allowance

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// quiet keeps a server from asking: for a while after a person has said No several times in a row, or, if muted, until
// the person wants its questions again.
type quiet struct {
	refused int       // in a row
	until   time.Time // no question before that
	muted   bool
}

// refuse reports whether a question that comes at now is answered without asking anybody: then why is not "", and as is
// the answer.
func (q *quiet) refuse(now time.Time) (as event.Action, why string) {
	switch {
	case q.muted:
		return event.ActionDecline, "the user wants no more questions of this server"
	case now.Before(q.until):
		return event.ActionDismiss, "its last questions were refused, and it asks again at once"
	}
	return 0, ""
}

// Settled records how a question that was shown has ended. An end that no person chose changes nothing. It is called
// with the lock.
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

// refusalPause returns how long a server has to wait after the n-th No beyond the first bounds.RefusalsFree.
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

// Called is called when somebody calls the server, which may have to ask questions for that. It ends the pause after
// refusals, but does not unmute the server, and allows bounds.QuestionsPerCall more questions. It is called with the
// lock.
func (a *Allowance) Called() {
	a.quiet.refused, a.quiet.until = 0, time.Time{}
	a.asks.Credit(bounds.QuestionsPerCall)
}

// Muted reports whether the user wants no more questions of the server. It is called with the lock.
func (a *Allowance) Muted() bool { return a.quiet.muted }

// Mute sets whether the user wants no more questions of the server. changed reports whether that is a change. It is
// called with the lock.
func (a *Allowance) Mute(muted bool) (changed bool) {
	if !muted {
		a.quiet.refused, a.quiet.until = 0, time.Time{}
	}
	changed = a.quiet.muted != muted
	a.quiet.muted = muted
	return changed
}
