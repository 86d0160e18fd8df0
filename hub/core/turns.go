package core

import (
	"maps"
	"slices"
	"time"
)

// A question that a legacy server asks on its pipe does not say in which call. While calls of two clients run, neither
// may be asked, since the question may be the other's. A server that has once asked such a question gets the calls of
// different clients one after the other from then on. Calls of one client overlap as before. Requests without a client
// take no part: their questions go to windows, and a person does not wait for a program.

const (
	// turnLimit is how long a request waits for the calls of other clients. After that it is sent beside them, so that a
	// call that never ends keeps nobody from the server. Many clients give up after a minute.
	turnLimit = 30 * time.Second
	// mayAskAfter is how long a call that was cancelled after it was sent keeps its turn, unless the server answers it:
	// package mcp ascribes questions to it for as long.
	mayAskAfter = 30 * time.Second
	// maxKeptTurns is how many cancelled calls keep their turn at one server. Beyond it the oldest gives it up. Package
	// mcp ascribes questions to no more.
	maxKeptTurns = 4096
	// cancelReadTime is how long a server may take to read a cancel. What it asked before may be of the cancelled call.
	cancelReadTime = 3 * time.Second
	// maxGone is how many clients that are gone are remembered, each for twice mayAskAfter. Beyond it the oldest counts as
	// one that may have calls.
	maxGone = 4096
)

// turns is the order of the calls of different clients to one server. A turn may last longer than its request.
type turns struct {
	of      map[RequestNumber]turn
	clients map[string]clientTurns   // those that the server may ask
	sent    map[string]RequestNumber // the calls that it may ask in, by wire id
	kept    []RequestNumber          // in order of their ends; one that is over stays in it
	waiting []RequestNumber          // in order of arrival
	due     time.Time                // when the timer fires; zero = it is not set
	removed bool                     // the server is in the config no longer
}

// clientTurns counts the calls of one client that the server may ask in.
type clientTurns struct {
	running, kept int
	ended         time.Time // the last end of one that keeps its turn
}

type turn struct {
	client  string
	phase   turnPhase
	wireID  string    // of the request's last round
	settled bool      // the server has answered the request after its cancel
	since   time.Time // while it waits, when it came; when it is kept, the end of the request
}

type turnPhase int

const (
	turnWaits turnPhase = iota
	turnRuns
	turnKept // the request has ended, and the server may go on with it
)

// takeTurns makes the calls to a server take turns from now on.
func (s *State) takeTurns(n ServerNumber, name string) {
	if s.turns[n] != nil {
		return
	}
	t := &turns{of: map[RequestNumber]turn{}, clients: map[string]clientTurns{}, sent: map[string]RequestNumber{}}
	s.turns[n] = t
	for _, call := range s.calls(n) {
		if r := s.requests[call]; r.client != "" && r.handed {
			t.start(call, turn{client: r.client})
			t.onWire(call, r.wireID)
		}
	}
	s.do(TurnsTaken{name})
}

// hasTurn reports whether r may be sent. If not, r has its place among those that wait.
func (s *State) hasTurn(r *request) bool {
	t := s.turns[r.server]
	if t == nil || r.client == "" {
		return true
	}
	if of, came := t.of[r.n]; came {
		return of.phase != turnWaits
	}
	s.grant(r.server)
	if free, _ := s.free(t, r.client); free && len(t.waiting) == 0 {
		t.start(r.n, turn{client: r.client})
		return true
	}
	t.of[r.n] = turn{client: r.client, since: s.now}
	t.waiting = append(t.waiting, r.n)
	s.grant(r.server)
	return false
}

// sent records the wire id of a request.
func (s *State) sent(e *Sent) {
	r := s.requests[e.Request]
	if r == nil {
		return
	}
	r.wireID = e.WireID
	if t := s.turns[r.server]; t != nil {
		t.onWire(r.n, r.wireID)
	}
}

// onWire makes the turn of a request, if it has one, be found by its wire id.
func (t *turns) onWire(n RequestNumber, wireID string) {
	of, has := t.of[n]
	if !has {
		return
	}
	t.forget(n)
	if of.wireID = wireID; wireID != "" {
		t.sent[wireID] = n
	}
	t.of[n] = of
}

// forget makes a turn be found no longer.
func (t *turns) forget(n RequestNumber) {
	if wireID := t.of[n].wireID; t.sent[wireID] == n { // a new connection may have the same ids
		delete(t.sent, wireID)
	}
}

// endTurn gives the turn of a request that has ended to others. mayContinue means that the server may go on with it.
func (s *State) endTurn(r *request, mayContinue bool) {
	t := s.turns[r.server]
	if t == nil {
		return
	}
	of, has := t.of[r.n]
	switch {
	case !has:
		return
	case of.phase == turnWaits:
		t.waiting = without(t.waiting, r.n)
		delete(t.of, r.n)
	case mayContinue && !of.settled:
		of.phase, of.since = turnKept, s.now
		t.of[r.n] = of
		client := t.clients[of.client]
		client.running--
		client.kept++
		client.ended = s.now
		t.clients[of.client] = client
		t.kept = append(t.kept, r.n)
	default:
		t.leave(r.n)
	}
	s.grant(r.server)
}

// settleTurn ends the turn of a cancelled call that the server has answered. The call itself may not have ended so far.
func (s *State) settleTurn(e *AnsweredLate) {
	t := s.turns[e.Server]
	if t == nil || t.sent[e.WireID] == 0 {
		return
	}
	n := t.sent[e.WireID]
	of := t.of[n]
	of.settled = true
	if t.of[n] = of; of.phase == turnKept {
		t.leave(n)
		s.grant(e.Server)
	}
}

// dropKept ends the turns of the cancelled calls of a connection that has ended.
func (s *State) dropKept(n ServerNumber) {
	if t := s.turns[n]; t != nil {
		for _, call := range t.kept {
			t.leave(call)
		}
		t.kept = nil
		s.grant(n)
	}
}

func (t *turns) start(n RequestNumber, of turn) {
	of.phase = turnRuns
	t.of[n] = of
	client := t.clients[of.client]
	client.running++
	t.clients[of.client] = client
}

// leave ends a turn that runs or is kept.
func (t *turns) leave(n RequestNumber) {
	of, has := t.of[n]
	if !has {
		return
	}
	client := t.clients[of.client]
	if of.phase == turnKept {
		client.kept--
	} else {
		client.running--
	}
	if t.clients[of.client] = client; client.running+client.kept == 0 {
		delete(t.clients, of.client)
	}
	t.forget(n)
	delete(t.of, n)
}

// grant starts the turns of those that wait longest, as long as they are of the client whose calls run, or have waited
// for too long.
func (s *State) grant(n ServerNumber) {
	t := s.turns[n]
	t.expire(s.now)
	var next time.Time
	soonest := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if len(t.kept) > 0 {
		soonest(t.of[t.kept[0]].since.Add(mayAskAfter))
	}
	for len(t.waiting) > 0 {
		first := t.waiting[0]
		of := t.of[first]
		free, again := s.free(t, of.client)
		if late := of.since.Add(turnLimit); !free && s.now.Before(late) {
			if soonest(late); !again.IsZero() {
				soonest(again)
			}
			break
		}
		t.waiting = t.waiting[1:]
		t.start(first, of)
		s.do(TurnCame{first})
	}
	if len(t.waiting) == 0 {
		t.waiting = nil
	}
	if !next.IsZero() && !next.Equal(t.due) {
		s.do(TurnTimerSet{n, next})
	}
	t.due = next
	if t.removed && len(t.of) == 0 {
		delete(s.turns, n)
	}
}

// expire ends the kept turns whose time is over, or that are too many.
func (t *turns) expire(now time.Time) {
	n := 0
	for ; n < len(t.kept); n++ {
		of, kept := t.of[t.kept[n]]
		if kept && now.Before(of.since.Add(mayAskAfter)) && len(t.kept)-n <= maxKeptTurns {
			break
		}
		t.leave(t.kept[n])
	}
	if t.kept = t.kept[n:]; len(t.kept) == 0 {
		t.kept = nil
	}
}

// free reports whether the server can be asking no other client than this one. If it can be asking only clients that
// are gone, again is when that is over. For any other client again is zero: the end of its turn is an event of its own.
// The first such client decides, since there may be thousands.
func (s *State) free(t *turns, client string) (free bool, again time.Time) {
	for other, of := range t.clients {
		if other == client {
			continue
		}
		switch gone := s.gone.has(other); {
		case of.running > 0 || !gone && s.now.Before(of.ended.Add(mayAskAfter)):
			return false, time.Time{}
		case gone:
			if at := of.ended.Add(cancelReadTime); s.now.Before(at) && at.After(again) {
				again = at
			}
		}
	}
	return again.IsZero(), again
}

// turnTimer looks whether a turn is over.
func (s *State) turnTimer(n ServerNumber) {
	if t := s.turns[n]; t != nil {
		t.due = time.Time{}
		s.grant(n)
	}
}

// clientGone records that a client has gone for good: its calls count for less long.
func (s *State) clientGone(client string) {
	s.gone.add(s.now, client)
	for _, n := range slices.Sorted(maps.Keys(s.turns)) {
		if _, has := s.turns[n].clients[client]; has { // else nobody waits for it there
			s.grant(n)
		}
	}
}

// AwaitTurn returns how many requests wait for their turn.
func (s *State) AwaitTurn() (n int) {
	for _, t := range s.turns {
		n += len(t.waiting)
	}
	return n
}

// gone remembers the clients that have gone for as long as their calls may count. The zero value has none.
type gone struct {
	at    map[string]time.Time
	order []string
}

func (g *gone) add(now time.Time, client string) {
	if g.at == nil {
		g.at = map[string]time.Time{}
	}
	n := 0
	for n < len(g.order) && (now.Sub(g.at[g.order[n]]) > 2*mayAskAfter || len(g.order)-n >= maxGone) {
		delete(g.at, g.order[n])
		n++
	}
	g.order = g.order[n:]
	if !g.has(client) {
		g.order = append(g.order, client)
	}
	g.at[client] = now
}

func (g *gone) has(client string) bool { return !g.at[client].IsZero() }
