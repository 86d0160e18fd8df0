package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// quiet keeps a server from asking: for a while after a person has said No again and again, or until that person wants
// its questions back. Guarded by Hub.mu.
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

// note notes what became of a question that was shown. An end that nobody chose says nothing.
func (q *quiet) note(cause event.PromptCause, now time.Time) {
	switch cause {
	case event.CauseAnswered:
		q.refused, q.until = 0, time.Time{}
	case event.CauseDeclined, event.CauseDismissed:
		q.refused++
		if over := q.refused - bounds.RefusalsFree; over > 0 {
			q.until = now.Add(refusalPause(over))
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

// called ends the pause, but no muting: somebody wants something of the server, which may need to ask for it.
func (q *quiet) called() { q.refused, q.until = 0, time.Time{} }

// MuteServer answers no more questions of a server, sampling and elicitation, with a prompt: open ones are declined,
// and those to come at once. It holds until the server is started, restarted or switched on by somebody, or MuteServer
// takes it back. Calls go on.
func (h *Hub) MuteServer(name string, muted bool) (event.ServerInfo, error) {
	defer h.lock().unlock()
	s := h.server(name)
	if s == nil {
		return event.ServerInfo{}, servers.ErrNotFound(name)
	}
	h.mute(s, muted, "")
	return s.info(), nil
}

// mute switches the questions of s off or on. h.mu is held.
func (h *Hub) mute(s *server, muted bool, windowID string) {
	if !muted {
		s.quiet.called()
	}
	if s.quiet.muted == muted {
		return
	}
	s.quiet.muted = muted
	h.log.Info("questions of a server are switched off or on", "server", s.name, "muted", muted)
	if muted {
		for _, p := range h.promptsInOrder() {
			if p.asker != nil && p.request.server == s {
				h.closePrompt(p, closing{cause: event.CauseDeclined, origin: event.OriginUser, windowID: windowID,
					action: event.ActionDecline,
					reason: "the user wants no more questions of this server"})
			}
		}
	}
	h.changed(s)
}
