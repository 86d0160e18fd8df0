package core

import "github.com/mcphub-go/mcphub/hub/event"

// begin starts a server at rest.
func (s *State) begin(sv *server, again bool) {
	s.connections++
	sv.connection, sv.state, sv.failed = s.connections, event.ServerConnecting, false
	sv.starting, sv.byItself, sv.request, sv.askable, sv.plan, sv.stale = true, false, 0, s.askable, plan{}, false
	sv.settle()
	s.do(StartBegun{Server: sv.n, Connection: sv.connection, Again: again})
	s.show(sv)
}

// startOver ends the request of a start, and brings its server to the state that follows. A start that was stopped is
// over before all of it has ended: ServerEnded follows.
func (s *State) startOver(e *StartOver) {
	r := s.requests[e.Request]
	if r == nil {
		return
	}
	sv := s.servers[r.server]
	if sv != nil && sv.request != r.n {
		sv = nil
	}
	var failed []waiter
	if sv != nil {
		sv.starting, sv.byItself = false, false
		switch {
		case sv.state != event.ServerConnecting:
		case !e.Failed:
			s.up(sv, e.Outgrown)
		default:
			failed = s.startFailed(sv, e.Failure)
		}
	}
	s.end(r, ending{failed: e.Failed, lost: e.Lost})
	if sv != nil {
		for _, w := range failed {
			s.wake(sv, w, WakeFailed)
		}
		s.serve(sv)
		s.startNext()
	}
}

// up makes a server ready.
func (s *State) up(sv *server, outgrown bool) {
	sv.state, sv.failed, sv.waitsForWindow, sv.wasReady = event.ServerReady, false, false, true
	sv.ready, sv.stale = s.now, outgrown
	s.show(sv)
	s.renewIfUnused(sv)
	s.watchIdle(sv)
}

// startFailed brings a server to rest whose start has failed, and returns those who learn that. They wait on if another
// start may succeed now: nobody could be asked, and that has changed since the start began.
func (s *State) startFailed(sv *server, f Failure) (failed []waiter) {
	again := f.NobodyAsked && sv.askable != s.askable
	if !again {
		failed = sv.takeWaiters()
	}
	s.noteFailure(sv, f, false)
	if f.NobodyAsked {
		sv.failed = false
		switch {
		case !sv.entry.Eager:
		case again:
			s.enqueue(sv)
		default:
			sv.waitsForWindow = true
		}
	}
	sv.rest()
	s.show(sv)
	return failed
}

// connectionEnded closes the questions that came on a connection. If its server was ready, callers that need the server
// wait from now on until what is left of the connection has ended.
func (s *State) connectionEnded(e *ConnectionEnded) {
	s.closePromptsOn(e.Connection)
	s.dropKept(e.Server)
	s.unanswered.drop(e.Server)
	if sv := s.servers[e.Server]; sv != nil && sv.state == event.ServerReady && sv.connection == e.Connection {
		sv.state, sv.idle = event.ServerStopping, idleness{}
		s.show(sv)
	}
}
