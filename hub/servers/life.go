package servers

import "github.com/mcphub-go/mcphub/hub/event"

// Life is the state of one config entry, from its appearance to its removal. Only apply changes it. The zero value is
// not usable: see born.
type Life struct {
	incarnation uint64
	state       event.ServerState
	intent      Intent
	broken      bool
	removed     bool
	failed      bool   // the last start or connection failed
	gaveUp      bool   // failed too often: no start until Forgive
	halted      bool   // a stop was ordered while it was stopping, perhaps after a fall: the end is no failure
	stops       uint64 // how often a stop was ordered; a waiter from before the latest stop fails
	lonely      bool   // its start needs an answer of a person, and no window could ask
}

// born returns the life of a new entry. No two entries of a hub have the same incarnation.
func born(incarnation uint64, broken, off bool) Life {
	l := Life{incarnation: incarnation, broken: broken}
	if off {
		l.intent = Off
	}
	l.state = l.rest()
	return l
}

// State returns the state of the server.
func (l *Life) State() event.ServerState { return l.state }

// Incarnation returns a number that distinguishes successive entries of one name.
func (l *Life) Incarnation() uint64 { return l.incarnation }

// Removed reports whether the entry is no longer in the config.
func (l *Life) Removed() bool { return l.removed }

// Broken reports whether the entry is unusable.
func (l *Life) Broken() bool { return l.broken }

// mayStart reports whether a start may begin.
func (l *Life) mayStart() bool {
	return l.state.Rests() && !l.removed && !l.broken && !l.gaveUp && l.intent != Off
}

// apply is the only transition function. It returns false, and changes nothing, if e is not possible in this state.
func (l *Life) apply(e Event) bool {
	if !l.possible(e) {
		return false
	}
	switch e {
	case Begin:
		l.state, l.failed = event.ServerConnecting, false
		l.settle()
	case Up:
		l.state, l.failed, l.lonely = event.ServerReady, false, false
	case StartFails:
		l.state, l.halted = event.ServerStopped, false
	case Fall, Succeed:
		l.state = event.ServerStopping
	case Ended:
		l.state, l.halted = event.ServerStopped, false
	case Stop:
		l.stops++
		l.end()
		l.settle()
	case End:
		l.end()
	case Again:
		l.end()
		if l.intent == On && l.state == event.ServerStopping {
			l.intent = Restart
		}
	case Fail:
		l.failed = true
	case GiveUp:
		l.failed, l.gaveUp = true, true
	case Forgive:
		l.gaveUp = false
	case Settle:
		l.settle()
	case Abandon:
		l.failed = false
	case Lonely:
		l.lonely = true
	case Company:
		l.lonely = false
	case SwitchOff:
		l.intent = Off
	case SwitchOn:
		if l.intent == Off {
			l.intent = On
		}
	case Break:
		l.broken = true
	case Mend:
		l.broken = false
	case Remove:
		l.removed = true
		l.settle()
	}
	if l.state.Rests() {
		l.state = l.rest()
	}
	return true
}

// possible reports whether e is possible in this state.
func (l *Life) possible(e Event) bool {
	switch e {
	case Begin:
		return l.mayStart()
	case Up, StartFails:
		return l.state == event.ServerConnecting
	case Fall:
		return l.state == event.ServerReady
	case Succeed:
		return l.state.Rests()
	case Ended:
		return l.state == event.ServerStopping
	case Again:
		return l.state != event.ServerConnecting
	case Fail, GiveUp, Lonely:
		return l.state != event.ServerReady
	}
	return e >= Begin && e <= Remove
}

// end moves a server that runs to ServerStopping. A server at rest stays as it is.
func (l *Life) end() {
	switch l.state {
	case event.ServerConnecting, event.ServerReady:
		l.state = event.ServerStopping
	case event.ServerStopping:
		l.halted = true
	}
}

// settle withdraws the intent to restart: the restart has begun, or another order has replaced it.
func (l *Life) settle() {
	if l.intent == Restart {
		l.intent = On
	}
}

// rest returns the state of a server of which nothing runs.
func (l *Life) rest() event.ServerState {
	switch {
	case l.broken:
		return event.ServerBroken
	case l.intent == Off:
		return event.ServerDisabled
	case l.gaveUp:
		return event.ServerGivenUp
	case l.failed:
		return event.ServerFailed
	}
	return event.ServerStopped
}
