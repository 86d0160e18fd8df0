package core

import (
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
	byID  map[string]RequestNumber
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
		u.calls, u.byID = map[RequestNumber]unansweredCall{}, map[string]RequestNumber{}
	}
	u.calls[r.n] = unansweredCall{r.id, r.server, r.name, r.cancel.Time}
	u.byID[r.id] = r.n
	if u.order = append(u.order, r.n); len(u.order) > maxUnanswered {
		u.remove(u.order[0])
		u.order = u.order[1:]
	}
}

func (u *unanswered) remove(n RequestNumber) {
	if c, ok := u.calls[n]; ok {
		delete(u.calls, n)
		delete(u.byID, c.id)
	}
}

// forget drops the call with an id that a new request has: windows would take the answer for that of the new one.
func (u *unanswered) forget(id string) {
	if n, ok := u.byID[id]; ok {
		u.remove(n)
	}
}

// drop drops the calls to a server whose connection has ended.
func (u *unanswered) drop(n ServerNumber) {
	for number, c := range u.calls {
		if c.server == n {
			u.remove(number)
		}
	}
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
		s.unanswered.remove(e.Request)
		answer := event.LateAnswer{After: s.now.Sub(c.cancelled), NoResult: e.NoResult}
		s.do(RequestAnsweredLate{e.Request, c.id, c.name, answer})
	}
}
