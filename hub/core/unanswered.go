package core

import (
	"maps"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// maxUnanswered is how many calls are remembered that their servers have not answered. Beyond it the oldest is
// forgotten. The history that windows are sent has no more requests.
const maxUnanswered = 1000

// unanswered are the calls that have ended as cancelled, and that their servers may answer yet. The zero value has
// none.
type unanswered struct {
	calls map[RequestNumber]unansweredCall
	order []RequestNumber // oldest first; one that is remembered no longer stays in it
}

type unansweredCall struct {
	id        string
	server    ServerNumber
	name      string // of the server
	cancelled time.Time
}

func (u *unanswered) add(r *request) {
	if u.calls == nil {
		u.calls = map[RequestNumber]unansweredCall{}
	}
	u.calls[r.n] = unansweredCall{r.id, r.server, r.name, r.cancel.Time}
	if u.order = append(u.order, r.n); len(u.order) > maxUnanswered {
		delete(u.calls, u.order[0])
		u.order = u.order[1:]
	}
}

// forget drops the calls with an id that a new request has: windows would take the answer for that of the new one.
func (u *unanswered) forget(id string) {
	maps.DeleteFunc(u.calls, func(_ RequestNumber, c unansweredCall) bool { return c.id == id })
}

// drop drops the calls to a server whose connection has ended.
func (u *unanswered) drop(n ServerNumber) {
	maps.DeleteFunc(u.calls, func(_ RequestNumber, c unansweredCall) bool { return c.server == n })
}

// answeredLate tells the windows of the first answer to a request after its cancel: with the end of the request, or
// after it.
func (s *State) answeredLate(e *AnsweredLate) {
	s.settleTurn(e)
	if r := s.requests[e.Request]; r != nil && r.call && r.cause != nil && r.late == nil {
		r.late = &event.LateAnswer{After: s.now.Sub(r.cancel.Time), NoResult: e.NoResult}
		return
	}
	if c, waits := s.unanswered.calls[e.Request]; waits {
		delete(s.unanswered.calls, e.Request)
		answer := event.LateAnswer{After: s.now.Sub(c.cancelled), NoResult: e.NoResult}
		s.do(RequestAnsweredLate{e.Request, c.id, c.name, answer})
	}
}
