package core

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// WaiterNumber names somebody who waits for a server.
type WaiterNumber uint64

// waiter waits for a server.
type waiter struct {
	n       WaiterNumber
	request RequestNumber      // that needs the server, 0 for none
	cause   *event.CancelCause // with which the server was stopped meanwhile; nil = it was not
}

// NobodyWaits is the reason with which a question, and a start that waits for it, is cancelled when its last waiter has
// gone.
const NobodyWaits = "nobody waits for the answer any more"

var nobodyWaits = &event.CancelCause{Origin: event.OriginParent, Reason: NobodyWaits}

// wanted reports whether somebody waits for the server, or the hub itself wants the start under way.
func (sv *server) wanted() bool { return sv.byItself || len(sv.waiters) > 0 }

// serverWanted counts whoever wants a server as a user of its connection if it is ready. Otherwise they wait, and the
// server is started if nothing forbids that.
func (s *State) serverWanted(e *ServerWanted) {
	w := waiter{n: e.Waiter, request: e.Request}
	sv := s.servers[e.Server]
	switch {
	case sv == nil:
		s.wake(&server{n: e.Server}, w, WakeUnusable)
	case e.Since != 0 && e.Since != sv.stops && sv.usable() && !s.draining:
		s.do(WaiterWoken{Server: sv.n, Waiter: w.n, Why: WakeStopped, Reason: sv.reason})
	case sv.state == event.ServerReady:
		s.wake(sv, w, WakeReady)
	case w.n == 0: // it does not wait
	default:
		next := sv.nextStart()
		sv.waiters = append(sv.waiters, w)
		if s.serve(sv); sv.nextStart() != next {
			s.show(sv) // there is a next start from now on
		}
		if r := s.requests[w.request]; r != nil && slices.Contains(sv.waiters, w) {
			s.moveTo(r, event.StateConnecting)
		}
	}
}

// serve starts a server at rest that somebody waits for, unless that is planned, and wakes those who wait if it is
// ready or cannot be had.
func (s *State) serve(sv *server) {
	if len(sv.waiters) == 0 {
		return
	}
	why := WakeReady
	switch {
	case sv.state == event.ServerReady:
	case !sv.state.Rests():
		return
	case s.draining:
		why = WakeDraining
	case !sv.usable():
		why = WakeUnusable
	case s.consent(sv) == event.LaunchDeclined:
		why = WakeDeclined
	case sv.gaveUp:
		why = WakeGivenUp
	case sv.planned() && sv.failures > 1: // the first failure may have been an accident
		return
	default:
		s.begin(sv, false)
		return
	}
	for _, w := range sv.takeWaiters() {
		s.wake(sv, w, why)
	}
}

func (sv *server) takeWaiters() (list []waiter) {
	list, sv.waiters = sv.waiters, nil
	return list
}

// wake ends a wait. Whoever finds the server ready uses its connection from now on.
func (s *State) wake(sv *server, w waiter, why Wake) {
	if why == WakeReady {
		sv.used = true
		if r := s.requests[w.request]; w.request == 0 {
			sv.users++
		} else if r != nil {
			r.uses = true
			s.goOn(r)
		}
	}
	if w.n != 0 {
		s.do(WaiterWoken{Server: sv.n, Waiter: w.n, Why: why})
	}
}

// goOn moves a request that was sent, and whose connection was renewed, back to running, or to its task.
func (s *State) goOn(r *request) {
	switch {
	case !r.handed || r.state != event.StateConnecting:
	case r.task:
		s.moveTo(r, event.StateTaskWorking)
	default:
		s.moveTo(r, event.StateRunning)
	}
}

// failWaiters makes all who wait fail as soon as nothing of the server runs any more, since it was stopped.
func (sv *server) failWaiters(cause *event.CancelCause) {
	for i := range sv.waiters {
		if w := &sv.waiters[i]; w.cause == nil {
			w.cause = cause
		}
	}
}

// wakeFailed wakes those who waited when the server was stopped.
func (s *State) wakeFailed(sv *server) {
	for _, w := range sv.takeWaiters() {
		if w.cause == nil {
			sv.waiters = append(sv.waiters, w)
			continue
		}
		s.do(WaiterWoken{Server: sv.n, Waiter: w.n, Why: WakeStopped, Reason: w.cause.Reason})
	}
}

// waiterLeft removes somebody who waits no longer. A start that waits for a person is stopped with its last waiter,
// since nobody would use the answer. Any other start goes on, because the server will probably be needed soon.
func (s *State) waiterLeft(sv *server, e *WaiterLeft) {
	next := sv.nextStart()
	sv.waiters = slices.DeleteFunc(sv.waiters, func(w waiter) bool { return w.n == e.Waiter })
	if sv.nextStart() != next {
		s.show(sv) // there is no next start any more
	}
	if e.SigningIn || s.isAskedAbout(sv.n) {
		s.stopUnwanted(sv)
	}
}

// stopUnwanted stops a start that nobody wants.
func (s *State) stopUnwanted(sv *server) {
	if sv.state == event.ServerConnecting && !sv.wanted() {
		s.stopServer(sv, stopByHub, nobodyWaits, false)
	}
}

// isAskedAbout reports whether a question about the server is open.
func (s *State) isAskedAbout(n ServerNumber) bool {
	for _, p := range s.prompts {
		if slices.Contains(p.about, n) {
			return true
		}
	}
	return false
}
