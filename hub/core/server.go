package core

import (
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// server is one entry of the config, from its appearance until it is removed and nothing of it runs any more.
type server struct {
	n       ServerNumber
	name    string
	entry   Entry
	state   event.ServerState
	intent  intent
	removed bool
	failed  bool   // the last start or connection failed
	gaveUp  bool   // failed too often: no start until somebody orders it, or the entry changes
	halted  bool   // a stop was ordered while it was stopping, perhaps after a fall: the end is no failure
	stops   uint64 // how often a stop was ordered; a waiter from before the latest stop fails
	reason  string // of the latest order to stop it
	// successor is a later entry of the same name, which waits for the end of this one: two processes of one name never
	// run at once.
	successor ServerNumber

	connection ConnectionNumber // the latest
	starting   bool             // a start is under way, or is being stopped
	byItself   bool             // the hub itself wants the start
	request    RequestNumber    // of the start
	askable    uint64           // State.askable when the start began
	ready      time.Time        // when the connection became ready
	closing    closing

	waiters []waiter
	users   int  // of the connection, besides the requests that use it
	stale   bool // to be connected anew as soon as nothing uses it

	supervision
	launch  launch
	refusal *event.LaunchRefusal // by a managed policy; nil = none. It is not changed
	idle    idleness
	due     time.Time   // when the timer fires; zero = it is not set
	shown   ServerShown // what windows know
}

// Entry is what the config says of a server, as far as it counts for its life.
type Entry struct {
	Eager    bool // it is started before a call needs it
	Disabled bool
	Broken   bool          // it cannot be used
	IdleStop time.Duration // 0 = never
}

// intent is what people want of a server.
type intent uint8

const (
	intentOn      intent = iota // it is started when it is needed
	intentOff                   // nothing starts it
	intentRestart               // it is started as soon as what is left of it has ended
)

// closing is a session that ends as soon as the requests are over that were cancelled with it, so that each cancel is
// sent before.
type closing struct {
	cause *event.CancelCause // nil = none
	after []RequestNumber
}

// stopKind is who ends what runs of a server.
type stopKind uint8

const (
	stopOrdered stopKind = iota // a person or the host: no restart follows
	stopByHub                   // a restart that is wanted follows
	stopToRestart
)

// usable reports whether the entry can be connected.
func (sv *server) usable() bool {
	return !sv.removed && !sv.entry.Broken && sv.refusal == nil && sv.intent != intentOff
}

// mayStart reports whether a start may begin.
func (sv *server) mayStart() bool { return sv.state.Rests() && sv.usable() && !sv.gaveUp }

// settle withdraws the intent to restart: the restart has begun, or another order has replaced it.
func (sv *server) settle() {
	if sv.intent == intentRestart {
		sv.intent = intentOn
	}
}

func (sv *server) switchTo(off bool) {
	switch {
	case off:
		sv.intent = intentOff
	case sv.intent == intentOff:
		sv.intent = intentOn
	}
}

// rest sets the state of a server of which nothing runs.
func (sv *server) rest() {
	switch {
	case sv.entry.Broken, sv.refusal != nil:
		sv.state = event.ServerBroken
	case sv.intent == intentOff:
		sv.state = event.ServerDisabled
	case sv.gaveUp:
		sv.state = event.ServerGivenUp
	case sv.failed:
		sv.state = event.ServerFailed
	default:
		sv.state = event.ServerStopped
	}
}

// restAnew sets the state of a server at rest anew, after a change of what it depends on.
func (sv *server) restAnew() {
	if sv.state.Rests() {
		sv.rest()
	}
}

// show tells the windows the state of the server.
func (s *State) show(sv *server) {
	sv.shown = s.serverShown(sv)
	s.do(sv.shown)
}

// showNew tells the windows the state of the server, if they know another one.
func (s *State) showNew(sv *server) {
	if s.serverShown(sv) != sv.shown {
		s.show(sv)
	}
}

// serverShown returns the state of the server as windows see it.
func (s *State) serverShown(sv *server) ServerShown {
	return ServerShown{Server: sv.n, State: sv.state, Failures: sv.count(s.now), NextStart: sv.nextStart(),
		Consent: s.consent(sv), Removed: sv.removed, Refusal: sv.refusal}
}

// serverAdded registers an entry. If a removed server of the same name has not ended yet, the new one waits for that.
func (s *State) serverAdded(e *ServerAdded) {
	sv := &server{n: e.Server, name: e.Name, entry: e.Entry}
	sv.launch.take(e.Launch, e.Counts, false)
	sv.switchTo(e.Entry.Disabled)
	sv.refusal = sv.refusalOf()
	sv.rest()
	for _, before := range s.servers {
		if before.name == sv.name && before.removed && before.successor == 0 {
			before.successor, sv.state = sv.n, event.ServerStopping
		}
	}
	s.servers[sv.n] = sv
	s.show(sv)
	if sv.entry.Eager && sv.usable() {
		s.queueStart(sv)
	}
}

// configured replaces the entry of a server. A switch by a person holds until the entry's own disabled value changes.
func (s *State) configured(sv *server, e *ServerConfigured) {
	old, was := sv.entry, sv.intent == intentOff
	sv.entry = e.Entry
	sv.launch.take(e.Launch, e.Counts, e.Relaunch)
	s.judge(sv)
	s.closeDecidedForms(sv)
	if old.Disabled != e.Entry.Disabled {
		sv.switchTo(e.Entry.Disabled)
	}
	sv.restAnew()
	off := sv.intent == intentOff
	switch {
	case e.Relaunch:
		kind := stopByHub
		if sv.state == event.ServerReady {
			kind = stopToRestart
		}
		s.stopServer(sv, kind, e.Cause, true)
		s.do(LaunchReplaced{sv.n})
		sv.supervision, sv.gaveUp, sv.failed = supervision{}, false, false
		sv.restAnew()
	case off && !was:
		s.stopServer(sv, stopOrdered, e.Cause, true)
	}
	if !e.Relaunch && (off != was || e.LimitChanged) {
		s.forgive(sv) // the changed setting may have caused the failures
	}
	if !off && sv.entry.Eager && (e.Relaunch || was || !old.Eager) {
		s.queueStart(sv)
	}
	s.watchIdle(sv)
	s.showNew(sv)
	if sv.launch.replaced {
		sv.launch.replaced = false
		s.entrySettled(sv)
	}
}

// serverRemoved ends a server that is configured no longer, and forgets the turns at it, once nothing of them is left.
func (s *State) serverRemoved(e *ServerRemoved) {
	if sv := s.servers[e.Server]; sv != nil && !sv.removed {
		sv.removed = true
		was := sv.state
		s.stopServer(sv, stopOrdered, e.Cause, true)
		if sv.state == was {
			s.show(sv)
		}
		if sv.state.Rests() {
			s.forgetServer(sv)
		}
	}
	if t := s.turns[e.Server]; t != nil {
		t.removed = true
		s.grant(e.Server)
	}
}

// outdated connects a server anew that is ready.
func (s *State) outdated(sv *server, cause *event.CancelCause) {
	if sv.state == event.ServerReady {
		s.stopServer(sv, stopToRestart, cause, true)
	}
}

// switchOrdered switches a server on or off, whatever the config says.
func (s *State) switchOrdered(sv *server, e *SwitchOrdered) {
	was := sv.intent == intentOff
	if was == e.On {
		sv.failures, sv.gaveUp, sv.failed = 0, false, false
	}
	sv.switchTo(!e.On)
	if sv.state.Rests() {
		sv.rest()
		s.show(sv)
	}
	if e.On && was && sv.entry.Eager {
		s.queueStart(sv)
	}
	if !e.On { // in the same step, so that nothing starts a server that is switched off, or waits for it
		s.stopServer(sv, stopOrdered, e.Cause, true)
	}
}

// stopServer ends what runs of a server, and a start that is to come. With cancels, it cancels the server's requests,
// and the connection ends once these are over.
func (s *State) stopServer(sv *server, kind stopKind, cause *event.CancelCause, cancels bool) {
	var over []RequestNumber
	if cancels {
		s.cancelScope(&ScopeCancelled{Scope{Server: sv.n}, cause})
		over = s.Within(Scope{Server: sv.n})
	}
	was := sv.state
	if kind == stopOrdered {
		sv.stops++
		sv.reason = cause.Reason
		sv.settle()
		s.eager = without(s.eager, sv.n)
	}
	if kind == stopOrdered || was == event.ServerConnecting || was.Rests() {
		sv.failWaiters(cause)
	}
	switch was {
	case event.ServerConnecting:
		sv.state = event.ServerStopping
		s.do(StartStopped{sv.n, cause})
	case event.ServerReady:
		sv.state = event.ServerStopping
		sv.proven(s.now)
		sv.idle = idleness{}
	case event.ServerStopping:
		sv.halted = true
	}
	if kind == stopToRestart && sv.intent == intentOn && sv.state == event.ServerStopping {
		sv.intent = intentRestart
	}
	if sv.state != was {
		s.show(sv)
	}
	switch {
	case was == event.ServerReady:
		s.do(SessionDetached{sv.n, cause})
		sv.closing = closing{cause, over}
		s.closeSession(sv)
	case was.Rests():
		if sv.dropPlan() {
			sv.failed = false
			sv.rest()
			s.show(sv)
		}
		s.wakeFailed(sv)
	}
}

// closeSession closes a session once the requests are over that were cancelled with it.
func (s *State) closeSession(sv *server) {
	if c := sv.closing; c.cause != nil && len(c.after) == 0 {
		sv.closing = closing{}
		s.do(SessionClosed{sv.n, sv.connection, c.cause})
	}
}

// serverEnded completes the end of a connection or of a start: nothing of it runs any more.
func (s *State) serverEnded(e *ServerEnded) {
	sv := s.servers[e.Server]
	if sv == nil || sv.state != event.ServerStopping || sv.connection != e.Connection {
		return
	}
	if e.Fell && !sv.halted {
		stable := sv.proven(s.now)
		// A server may forget a session at any time (2025-11-25 basic/transports "Session Management"). If it does so all
		// the time, it is not asked for a new one until somebody needs it.
		s.noteFailure(sv, Failure{Counts: !e.Expired}, e.Expired && stable)
	}
	s.cleared(sv)
}

// cleared brings a server of which nothing runs any more to rest.
func (s *State) cleared(sv *server) {
	sv.halted, sv.starting = false, false
	sv.rest()
	if sv.removed { // its end is not announced
		s.wakeFailed(sv)
		s.forgetServer(sv)
		return
	}
	s.show(sv)
	s.wakeFailed(sv)
	s.entrySettled(sv)
}

// forgetServer drops a removed server, and lets its successor go on.
func (s *State) forgetServer(sv *server) {
	for _, w := range sv.waiters {
		s.wake(sv, w, WakeUnusable)
	}
	delete(s.servers, sv.n)
	s.do(ServerForgotten{sv.n})
	if next := s.servers[sv.successor]; next != nil {
		s.cleared(next)
	}
}

// entrySettled lets another entry take the place of the entry of a server at rest. If none does, it starts the server
// if that is intended and nothing forbids it, or if somebody waits for it.
func (s *State) entrySettled(sv *server) {
	if s.replaceEntry(sv) || !sv.state.Rests() {
		return
	}
	switch {
	case sv.intent != intentRestart:
	case s.draining || sv.planned() || !sv.mayStart():
		sv.settle()
	case sv.entry.Eager:
		s.queueStart(sv)
	default:
		s.begin(sv, false)
	}
	s.serve(sv)
}

// Server is a copy of what is known of a server.
type Server struct {
	State      event.ServerState
	Connection ConnectionNumber     // the latest, 0 if there was none
	Ready      time.Time            // when it became ready
	Starting   bool                 // a start is under way, or is being stopped
	Wanted     bool                 // somebody waits for the server, or the hub itself wants the start under way
	Removed    bool                 // it is in the config no longer
	Broken     bool                 // the entry cannot be used
	Off        bool                 // it is switched off
	Refusal    *event.LaunchRefusal // by a managed policy
	GaveUp     bool
	Halted     bool   // its end is no failure
	Stops      uint64 // how often a stop was ordered
	Failures   int    // in a row
	NextStart  time.Time
	Planned    bool // there is a plan, perhaps one that nobody waits for
	Users      int  // of the connection, besides requests
	Waiters    int
}

// Server returns what is known of a server. One that is unknown was removed.
func (s *State) Server(n ServerNumber, at time.Time) Server {
	sv := s.servers[n]
	if sv == nil {
		return Server{State: event.ServerStopped, Removed: true}
	}
	return Server{State: sv.state, Connection: sv.connection, Ready: sv.ready, Starting: sv.starting,
		Wanted: sv.wanted(), Removed: sv.removed, Broken: sv.entry.Broken, Off: sv.intent == intentOff,
		Refusal: sv.refusal,
		GaveUp:  sv.gaveUp, Halted: sv.halted, Stops: sv.stops, Failures: sv.count(at), NextStart: sv.nextStart(),
		Planned: sv.planned(), Users: sv.users, Waiters: len(sv.waiters)}
}

// released gives up what an ended request used of its server.
func (s *State) released(r *request) {
	sv := s.servers[r.server]
	if sv == nil {
		return
	}
	if r.uses {
		s.renewIfUnused(sv)
	}
	if r.incoming && sv.stale && sv.state == event.ServerReady {
		sv.idle.renew = s.now.Add(renewPause)
		s.arm(sv)
	}
	s.unused(sv)
	if i := slices.Index(sv.closing.after, r.n); i >= 0 {
		sv.closing.after = slices.Delete(sv.closing.after, i, i+1)
		s.closeSession(sv)
	}
}
