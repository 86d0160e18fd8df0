package servers

import (
	"math/rand/v2"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// every lists the events.
func every() (all []Event) {
	for e := Begin; e <= Remove; e++ {
		all = append(all, e)
	}
	return all
}

// What each event makes of a sound server that is switched on, from each of the states in which something runs, and
// from rest. "-": it is refused. Finding B12.
func TestTable(t *testing.T) {
	rows := map[Event][4]string{ // at rest, connecting, ready, stopping
		Begin:      {"connecting", "-", "-", "-"},
		Up:         {"-", "ready", "-", "-"},
		StartFails: {"-", "stopped", "-", "-"},
		Fall:       {"-", "-", "stopping", "-"},
		Succeed:    {"stopping", "-", "-", "-"},
		Ended:      {"-", "-", "-", "stopped"},
		Stop:       {"stopped", "stopping", "stopping", "stopping"},
		End:        {"stopped", "stopping", "stopping", "stopping"},
		Again:      {"stopped", "-", "stopping", "stopping"},
		Fail:       {"failed", "connecting", "-", "stopping"},
		GiveUp:     {"given_up", "connecting", "-", "stopping"},
		Forgive:    {"stopped", "connecting", "ready", "stopping"},
		Settle:     {"stopped", "connecting", "ready", "stopping"},
		Abandon:    {"stopped", "connecting", "ready", "stopping"},
		Lonely:     {"stopped", "connecting", "-", "stopping"},
		Company:    {"stopped", "connecting", "ready", "stopping"},
		SwitchOff:  {"disabled", "connecting", "ready", "stopping"},
		SwitchOn:   {"stopped", "connecting", "ready", "stopping"},
		Break:      {"broken", "connecting", "ready", "stopping"},
		Mend:       {"stopped", "connecting", "ready", "stopping"},
		Remove:     {"stopped", "connecting", "ready", "stopping"},
	}
	for _, e := range every() {
		for i, before := range [][]Event{{}, {Begin}, {Begin, Up}, {Begin, Up, Stop}} {
			l := born(1, false, false)
			for _, b := range before {
				if !l.apply(b) {
					t.Fatalf("%v was refused", b)
				}
			}
			was, got := l, "-"
			if l.apply(e) {
				got = l.State().String()
			} else if l != was {
				t.Errorf("%v in %v was refused and changed something", e, was.State())
			}
			if want := rows[e][i]; got != want {
				t.Errorf("%v in %v: %s, want %s", e, was.State(), got, want)
			}
		}
	}
}

// An order to stop takes back a restart that is wanted; one that comes later counts again, unless the server is
// switched off. Finding B12.
func TestStopWinsOverARestart(t *testing.T) {
	for _, c := range []struct {
		events []Event
		intent Intent
	}{
		{[]Event{Begin, Up, Again}, Restart},
		{[]Event{Begin, Up, Again, End}, Restart},
		{[]Event{Begin, Up, Again, Ended}, Restart},
		{[]Event{Begin, Up, Again, Ended, Begin}, On},
		{[]Event{Begin, Up, Again, Stop}, On},
		{[]Event{Begin, Up, Again, Stop, Ended}, On},
		{[]Event{Begin, Up, Again, Ended, Stop}, On},
		{[]Event{Begin, Up, Again, Remove}, On},
		{[]Event{Begin, Up, Again, SwitchOff}, Off},
		{[]Event{Begin, Up, SwitchOff, Again}, Off},
		{[]Event{Begin, Up, SwitchOff, SwitchOn}, On},
		{[]Event{Begin, Up, Stop, Again}, Restart},
	} {
		l := born(1, false, false)
		for _, e := range c.events {
			if !l.apply(e) {
				t.Fatalf("%v: %v was refused", c.events, e)
			}
		}
		if l.intent != c.intent {
			t.Errorf("%v: %v, want %v", c.events, l.intent, c.intent)
		}
	}
}

// Random events. What runs is never both at rest and running; nothing starts that must not; an end that was wanted is
// no failure. Finding B12.
func TestLifeModel(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		l := born(seed, rnd.IntN(4) == 0, rnd.IntN(4) == 0)
		running, stops := false, uint64(0)
		for range 60 {
			was := l
			e := every()[rnd.IntN(int(Remove))]
			if !l.apply(e) {
				if l != was {
					t.Fatalf("seed %d: %v in %v was refused and changed something", seed, e, was.State())
				}
				continue
			}
			switch e {
			case Begin, Succeed:
				running = true
			case StartFails, Ended:
				running = false
			case Stop:
				stops++
			}
			switch {
			case running == l.State().Rests():
				t.Fatalf("seed %d: %v made %v of %v", seed, e, l.State(), was.State())
			case e == Begin && (was.Broken() || was.Removed() || was.gaveUp || was.intent == Off):
				t.Fatalf("seed %d: started in %v", seed, was.State())
			case l.State() == event.ServerFailed && was.State() == event.ServerStopping && was.halted && !was.failed:
				t.Fatalf("seed %d: an end that was wanted is a failure", seed)
			case l.halted && l.State() != event.ServerStopping:
				t.Fatalf("seed %d: halted in %v", seed, l.State())
			case l.Incarnation() != seed || l.stops != stops:
				t.Fatalf("seed %d: the %d. incarnation, stopped %d times", seed, l.Incarnation(), l.stops)
			case was.Removed() && !l.Removed():
				t.Fatalf("seed %d: %v brought a removed entry back", seed, e)
			}
		}
	}
}
