package servers

import "github.com/mcphub-go/mcphub/hub/event"

// Life is the state of one entry of the config, from when it appears to when it goes. Only apply changes it. The zero
// value is not usable: see born.
type Life struct {
	incarnation uint64
	state       event.ServerState
	intent      Intent
	broken      bool
	removed     bool
	failed      bool   // what was tried last failed
	gaveUp      bool   // no start until somebody has done something about it
	halted      bool   // its end is wanted, although it may have begun by itself: it is no failure
	stops       uint64 // orders to stop it: who waits for it while one comes waits in vain
	lonely      bool   // it needs a person before it can start, and nobody could be asked
}

// born is the life of an entry that has just appeared. No two entries of a hub have the same incarnation.
func born(incarnation uint64, broken, off bool) Life {
	l := Life{incarnation: incarnation, broken: broken}
	if off {
		l.intent = Off
	}
	l.state = l.rest()
	return l
}

// State is where the server stands.
func (l *Life) State() event.ServerState { return l.state }

// Incarnation tells apart the entries that have had one name, one after the other.
func (l *Life) Incarnation() uint64 { return l.incarnation }

// Removed tells whether it is no longer configured.
func (l *Life) Removed() bool { return l.removed }

// Broken tells whether its entry cannot be used.
func (l *Life) Broken() bool { return l.broken }

// mayStart tells whether a start can be tried.
func (l *Life) mayStart() bool {
	return l.state.Rests() && !l.removed && !l.broken && !l.gaveUp && l.intent != Off
}

// apply is the one transition function. false: the event is not possible now, and nothing has changed.
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

// possible tells whether e can happen now.
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

// end ends what runs. What rests stays as it is.
func (l *Life) end() {
	switch l.state {
	case event.ServerConnecting, event.ServerReady:
		l.state = event.ServerStopping
	case event.ServerStopping:
		l.halted = true
	}
}

// settle takes back that a restart is wanted: it has begun, or somebody has ordered otherwise.
func (l *Life) settle() {
	if l.intent == Restart {
		l.intent = On
	}
}

// rest is the state of a server of which nothing runs.
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
