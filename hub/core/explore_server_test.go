package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// serverWorld is the life of one server, and of a later one of its name, with what is outside: what runs of them, those
// who want them, people who order something, timers. It is explored as world is.
type serverWorld struct {
	rules  *serverRules
	st     *State
	now    time.Time
	runs   []run
	people [2]person
	call   serverCall
	waited WaiterNumber
	shown  map[ServerNumber]ServerShown
	timers map[ServerNumber]time.Time
	entry  Entry
	latest ServerNumber // that is configured, or was

	launches
	subscribed bool
	question   asking // of the server's own
	launch     asking // of the start under way, about the launch
	changes    int    // of the config that are left
	drained    bool

	pending  []Effect
	carrying bool
	wrongs   []string
	history
}

// serverRules say what can happen in a serverWorld.
type serverRules struct {
	name     string
	entry    Entry
	people   int
	fails    bool // starts fail by the server's fault
	unasked  bool // starts fail, since nobody can be asked
	hopeless bool // each failure would repeat
	falls    bool // connections end
	stops    bool // a person stops and restarts it
	switches bool // a person switches it off and on
	asks     bool // its launch needs a consent: a folder has brought its entry
	behind   bool // the user has an entry of that name, too, which needs none
	rewrites int  // how often what would run changes
	stale    bool // windows can show more at times
	calls    bool // a call uses it, and it may have a task
	idles    bool
	changes  int // of the config
	removed  bool
	outdated bool // a file changes that it watches
	drains   bool
	long     bool
}

// run is one start and the connection that follows.
type run struct {
	server  ServerNumber
	number  ConnectionNumber
	request RequestNumber
	phase   runPhase
	launching
}

// asking is a question whose asker has not read the answer.
type asking struct {
	p      PromptNumber // 0 = there is none
	n      RequestNumber
	closed *End
}

type runPhase int

const (
	runStarts runPhase = iota
	runStartStopped
	runCameBack // the stopped start, and not all of it has ended
	runUp
	runFallen
	runDetached
	runClosed
)

// person wants a server for something that is not a request.
type person struct {
	phase  personPhase
	server ServerNumber
	waiter WaiterNumber
	since  uint64
}

type personPhase int

const (
	personOut personPhase = iota
	personWaits
	personUses
	personRestarts // waits for the end, to start the server again
)

// serverCall is a call that uses the server.
type serverCall struct {
	phase   int // 0 not made, 1 looks for the connection, 2 waits, 3 has it, 4 runs, 5 over
	n       RequestNumber
	waiter  WaiterNumber
	stopped bool
	task    bool
}

func exploreServers(t *testing.T, r *serverRules, seen *coverage) int {
	first := &serverWorld{rules: r, st: New("hub"), now: start, shown: map[ServerNumber]ServerShown{},
		timers: map[ServerNumber]time.Time{}, entry: r.entry, changes: r.changes,
		launches: launches{declined: never}}
	first.apply(seen, WindowShows{"w", allKinds()})
	first.add(seen)
	moves := func(w *serverWorld) []move[*serverWorld] { return w.moves(seen) }
	return inAllOrders(first, moves, func(w *serverWorld) {
		if wrong := w.wrong(); wrong != "" {
			t.Fatalf("in the world %q: %s\nafter:%s", r.name, wrong, w.trace)
		}
	})
}

func (w *serverWorld) add(seen *coverage) {
	w.latest++
	w.declined = never
	w.apply(seen, ServerAdded{Server: w.latest, Name: "s", Entry: w.entry, Launch: w.entries(),
		Counts: w.st.EntryThatCounts(0, w.entries())})
}

// apply applies an event, and carries out what follows, as package hub does. It returns what whoever applied it is
// told.
func (w *serverWorld) apply(seen *coverage, e Event) (told Effect) {
	seen.add(e)
	for _, effect := range w.st.Apply(w.now, e) {
		switch effect.(type) {
		case Refused, Needed:
			seen.add(effect)
			told = effect
			continue
		}
		w.pending = append(w.pending, effect)
	}
	if w.carrying {
		return told
	}
	w.carrying = true
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		seen.add(next)
		w.carryOut(seen, next)
	}
	w.carrying, w.pending = false, nil
	return told
}

func (w *serverWorld) fault(format string, args ...any) {
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

// runOf returns what runs of a server, which must be in one of these phases.
func (w *serverWorld) runOf(n ServerNumber, phases ...runPhase) *run {
	i := slices.IndexFunc(w.runs, func(r run) bool { return r.server == n })
	if i < 0 || !slices.Contains(phases, w.runs[i].phase) {
		w.fault("server %d: nothing runs that this could be about: %+v", n, w.runs)
		return &run{}
	}
	return &w.runs[i]
}

func (w *serverWorld) carryOut(seen *coverage, effect Effect) {
	switch e := effect.(type) {
	case ServerShown:
		w.shown[e.Server] = e
	case StartBegun:
		if len(w.runs) > 0 {
			w.fault("server %d starts, and there is %+v", e.Server, w.runs)
		}
		if sv := w.st.servers[e.Server]; len(sv.waiters) == 0 && !sv.entry.Eager && !sv.wasReady && w.rules.changes == 0 &&
			!w.rules.behind {
			w.fault("server %d starts, and nobody wants it", e.Server)
		}
		w.runs = append(w.runs, run{server: e.Server, number: e.Connection, request: w.st.begun + 1,
			launching: launching{entry: w.st.servers[e.Server].launch.counts}})
		w.apply(seen, RequestMade{Prefix: "start", Server: e.Server, Name: "s", Start: true})
	case StartStopped:
		w.runOf(e.Server, runStarts).phase = runStartStopped
	case SessionDetached:
		w.runOf(e.Server, runUp).phase = runDetached
		uses := slices.ContainsFunc(w.people[:], func(p person) bool { return p.phase == personUses && p.server == e.Server })
		if ends := e.Cause.Reason == connectedAnew || e.Cause.Origin == event.OriginPolicy; ends && (uses ||
			w.question.p != 0 || w.call.phase == 3 || w.call.phase == 4) {
			w.fault("the session ends with %v, and is used", e.Cause)
		}
	case SessionClosed:
		w.runOf(e.Server, runDetached).phase = runClosed
		if r := w.st.requests[w.call.n]; r != nil && r.uses && r.cause != nil {
			w.fault("the session is closed, and the call is not over whose cancel has to be sent")
		}
	case EntryReplaced:
		w.apply(seen, ServerConfigured{Server: e.Server, Entry: w.entry, Launch: w.entries(), Counts: e.Entry,
			Relaunch: true, Cause: because("another entry")})
	case ServerForgotten:
		delete(w.shown, e.Server)
		delete(w.timers, e.Server)
	case WaiterWoken:
		w.woken(e)
	case ServerTimerSet:
		w.timers[e.Server] = e.At
	case Stopped:
		if e.Request == w.call.n {
			w.call.stopped = true
		}
	case PromptClosed:
		for _, q := range []*asking{&w.question, &w.launch} {
			if end := e.End; q.p == e.Prompt {
				q.closed = &end
			}
		}
	}
}

func (w *serverWorld) woken(e WaiterWoken) {
	if c := &w.call; c.waiter == e.Waiter && c.phase == 2 {
		if c.waiter, c.phase = 0, 1; e.Why == WakeReady {
			c.phase = 3
		}
		return
	}
	for i := range w.people {
		if p := &w.people[i]; p.phase == personWaits && p.waiter == e.Waiter {
			if *p = (person{server: p.server}); e.Why == WakeReady {
				p.phase = personUses
			}
			return
		}
	}
	w.fault("waiter %d is woken, and does not wait", e.Waiter)
}

// wrong returns what must not be, "" if nothing is wrong.
func (w *serverWorld) wrong() string {
	if len(w.wrongs) > 0 {
		return w.wrongs[0]
	}
	if wrong := cmp.Or(w.st.inconsistent(), w.wrongLaunch()); wrong != "" {
		return wrong
	}
	waiting := 0
	for i, p := range w.people {
		if p.phase != personWaits {
			continue
		}
		waiting++
		sv := w.st.servers[p.server]
		if sv == nil || !slices.ContainsFunc(sv.waiters, func(of waiter) bool { return of.n == p.waiter }) {
			return fmt.Sprintf("person %d waits, and nobody will wake them", i)
		}
	}
	if w.call.phase == 2 {
		waiting++
	}
	users := 0
	for _, p := range w.people {
		if p.phase == personUses {
			users++
		}
	}
	for n, sv := range w.st.servers {
		runs := slices.ContainsFunc(w.runs, func(r run) bool { return r.server == n })
		follows := slices.ContainsFunc(slices.Collect(maps.Values(w.st.servers)), func(before *server) bool {
			return before.successor == n
		})
		shown := w.shown[n]
		waiting -= len(sv.waiters)
		switch {
		case runs == sv.state.Rests() && !follows:
			return fmt.Sprintf("server %d is %s, and something runs: %v", n, sv.state, runs)
		case shown.State != sv.state || !shown.NextStart.Equal(sv.nextStart()) || shown.Removed != sv.removed ||
			sv.state.Rests() && shown.Failures != sv.failures:
			return fmt.Sprintf("server %d is %s, to start %v, and shown as %+v", n, sv.state, sv.nextStart(), shown)
		case !sv.due.Equal(w.timers[n]):
			return fmt.Sprintf("the timer of server %d is set for %v, and ought to be for %v", n, w.timers[n], sv.due)
		case sv.state == event.ServerReady && sv.entry.IdleStop > 0 && sv.idle.since.IsZero() && !w.st.inUse(sv) &&
			!w.subscribed && !w.drained:
			return fmt.Sprintf("nothing uses server %d, and its idle clock does not run", n)
		}
	}
	if waiting != 0 {
		return fmt.Sprintf("%d more wait than servers know", waiting)
	}
	busy := users > 0 || len(w.runs) > 0 || w.call.phase > 0 && w.call.phase < 5 || w.question.p+w.launch.p > 0
	if !busy && w.st.Len() > 0 {
		return fmt.Sprintf("nobody does anything, and there are %+v", w.st.Requests())
	}
	if r := slices.IndexFunc(w.runs, func(r run) bool { return w.st.servers[r.server] == nil }); r >= 0 {
		return fmt.Sprintf("%+v runs, and its server is forgotten", w.runs[r])
	}
	return ""
}

func (w *serverWorld) clone() *serverWorld {
	next := *w
	next.st = w.st.clone()
	next.runs, next.shown, next.timers = slices.Clone(w.runs), maps.Clone(w.shown), maps.Clone(w.timers)
	return &next
}

// key is what tells one world from another. Numbers that only grow, and times, are left out.
func (w *serverWorld) key() string {
	k := make(key, 0, 128)
	for _, n := range w.st.serverNumbers() {
		sv := w.st.servers[n]
		k.add(n, sv.state, sv.intent, sv.failures, sv.successor, len(sv.closing.after), sv.users)
		k.say(sv.removed, sv.failed, sv.gaveUp, sv.halted, sv.starting, sv.byItself, sv.stale, sv.stops > 0)
		k.say(sv.used, sv.wasReady, sv.waitsForWindow, sv.planned(), sv.plan.byItself, sv.askable == w.st.askable,
			sv.closing.cause != nil, !sv.idle.since.IsZero())
		k.say(!sv.idle.renew.IsZero(), !sv.due.IsZero(), w.now.Sub(sv.ready) >= stableAfter, sv.entry == w.entry,
			sv.entry.Disabled, sv.entry.Broken, sv.entry.Eager)
		k.add(numberOf(sv.launch.declined), numberOf(sv.launch.by), sv.shown.Consent)
		k.say(sv.launch.replaced, sv.launch.agreed != nil, sv.launch.holds, sv.launch.counts.File == "folder")
		for _, waits := range sv.waiters {
			k.say(waits.cause != nil, waits.request != 0, waits.n == w.people[0].waiter, waits.n == w.people[1].waiter)
		}
	}
	k.add(len(w.st.eager), w.latest, w.changes, w.program, w.known, w.declined)
	k.say(w.held[:]...)
	for _, r := range w.runs {
		start := w.st.requests[r.request]
		k.add(r.server, r.phase)
		k.say(start != nil, start != nil && start.waits > 0)
		w.launchKey(&k, &r)
	}
	for _, p := range w.people {
		sv := w.st.servers[p.server]
		k.add(p.phase, p.server)
		k.say(sv != nil && p.since == sv.stops)
	}
	k.add(w.call.phase)
	r := w.st.requests[w.call.n]
	k.say(w.call.stopped, w.call.task, r != nil && r.uses, r != nil && r.cause != nil, w.subscribed,
		w.question.p != 0, w.launch.p != 0)
	k.say(w.drained, w.st.draining)
	k.add(causeOf(w.question.closed), causeOf(w.launch.closed))
	return string(k)
}
