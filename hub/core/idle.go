package core

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// renewPause delays the reconnect of a server after a question of its own has been answered, because the answer may
// still be on its way.
const renewPause = time.Second

// idleness is what happens to a connection that nothing uses.
type idleness struct {
	since time.Time // when the last use ended, or later; zero = the idle clock does not run
	renew time.Time // when the server may be connected anew that a question has kept from it; zero = none
}

// serverReleased ends a use of the connection that is not that of a request.
func (s *State) serverReleased(sv *server) {
	sv.users--
	s.renewIfUnused(sv)
	s.unused(sv)
}

// unused starts the idle clock anew, because a use has just ended. The start of a use does not stop the clock, since it
// looks for uses when it has run out.
func (s *State) unused(sv *server) {
	sv.idle.since = time.Time{}
	s.watchIdle(sv)
}

// watchIdle makes the idle clock run, unless the server is not connected or is never idle.
func (s *State) watchIdle(sv *server) {
	switch {
	case sv.state != event.ServerReady || sv.entry.IdleStop <= 0 || s.draining:
		sv.idle.since = time.Time{}
		return
	case sv.idle.since.IsZero():
		sv.idle.since = s.now
	}
	s.arm(sv)
}

// arm sets the timer of a server, if it has to fire earlier than it does.
func (s *State) arm(sv *server) {
	var due time.Time
	first := func(at time.Time) {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	first(sv.plan.due)
	first(sv.idle.renew)
	if !sv.idle.since.IsZero() {
		first(sv.idle.since.Add(sv.entry.IdleStop))
	}
	if !due.IsZero() && (sv.due.IsZero() || due.Before(sv.due)) {
		sv.due = due
		s.do(ServerTimerSet{sv.n, due})
	}
}

// serverTimer does what is due.
func (s *State) serverTimer(sv *server, e *ServerTimer) {
	over := func(at time.Time) bool { return !at.IsZero() && !s.now.Before(at) }
	sv.due = time.Time{}
	if over(sv.plan.due) {
		s.planDue(sv)
	}
	if over(sv.idle.renew) {
		sv.idle.renew = time.Time{}
		s.renewIfUnused(sv)
	}
	if since := sv.idle.since; !since.IsZero() && over(since.Add(sv.entry.IdleStop)) {
		s.idled(sv, e.Subscribed)
	}
	s.arm(sv)
}

// idled stops a server whose idle clock has run out, unless it is used.
func (s *State) idled(sv *server, subscribed bool) {
	sv.idle.since = time.Time{}
	if subscribed || s.inUse(sv) || s.draining {
		return // the end of the use starts the clock again
	}
	s.stopServer(sv, stopByHub, &event.CancelCause{Origin: event.OriginPolicy,
		Reason: "nothing has used the server for " + sv.entry.IdleStop.String()}, false)
}

// InUse reports whether somebody uses the connection of a server, or a request of it is open. It looks at all requests.
func (s *State) InUse(n ServerNumber) bool {
	sv := s.servers[n]
	return sv != nil && s.inUse(sv)
}

// inUse reports whether somebody uses the connection, or a request of the server is open, in either direction. Tasks,
// too, are open until they end.
func (s *State) inUse(sv *server) bool {
	if sv.users > 0 {
		return true
	}
	for _, r := range s.requests {
		if r.server == sv.n {
			return true
		}
	}
	return false
}

// renewIfUnused connects a stale server anew, unless something uses its connection. A server is stale if too little was
// declared to it, or if it cannot ask people in the era of its connection.
func (s *State) renewIfUnused(sv *server) {
	if !sv.stale || sv.users > 0 || sv.state != event.ServerReady || s.draining {
		return
	}
	for _, r := range s.requests {
		if r.server == sv.n && (r.uses || r.incoming) {
			return // its end looks again
		}
	}
	sv.stale = false
	s.stopServer(sv, stopToRestart, &event.CancelCause{Origin: event.OriginHost, Reason: connectedAnew}, false)
}

// serverStale marks a server to be connected anew.
func (s *State) serverStale(sv *server) {
	sv.stale = true
	s.renewIfUnused(sv)
}

// connectedAnew is the reason with which a stale connection ends.
const connectedAnew = "the server is connected anew"

// moreShown is applied when windows may show more than before: servers to which less was declared are connected anew,
// and eager servers start whose start could ask nobody.
func (s *State) moreShown(e *MoreShown) {
	for _, n := range e.Outgrown {
		if sv := s.servers[n]; sv != nil && sv.state == event.ServerReady {
			sv.stale = true
			s.renewIfUnused(sv)
		}
	}
	s.askable++
	for _, n := range s.serverNumbers() {
		s.answerPossible(s.servers[n])
	}
}
