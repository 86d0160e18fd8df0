package hub

import (
	"context"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A question that a legacy server asks on its pipe does not say in which call. While calls of two clients run, neither
// may be asked, since the question may be the other's. A server that has once asked such a question gets the calls of
// different clients one after the other from then on. Calls of one client overlap as before. Requests without a Caller
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
)

// turns is the order of calls of one server. Guarded by the hub's lock.
type turns struct {
	taken   bool                    // the calls take turns
	clients map[Client]*clientTurns // those that the server may ask
	sent    map[string]*turn        // the calls that it may ask in, by wire id
	kept    []*turn                 // in order of their ends; one that is over stays in it
	waiting []*turn                 // in order of arrival
	timer   *time.Timer             // calls grant when kept turns expire; not nil once the calls take turns
	due     time.Time               // when it fires; zero if it does not run
}

// clientTurns counts the calls of one client that the server may ask in.
type clientTurns struct {
	running, kept int
	ended         time.Time // the last end of one that keeps its turn
}

// turn is that of one request.
type turn struct {
	client  Client
	granted chan struct{} // closed when the request may be sent
	wireID  string        // of its last round
	phase   turnPhase
	settled bool      // the server has answered it after its cancel
	ended   time.Time // set when it is kept
}

type turnPhase int

const (
	turnWaits turnPhase = iota
	turnRuns
	turnKept // the request has ended, and the server may go on with it
	turnOver
)

// takeTurns makes the calls to s take turns from now on.
func (st *state) takeTurns(s *server) {
	t := &s.turns
	if t.taken {
		return
	}
	t.taken, t.clients, t.sent = true, map[Client]*clientTurns{}, map[string]*turn{}
	hub := st.hub
	t.timer = time.AfterFunc(mayAskAfter, func() {
		hub.update(func(*state) {
			t.due = time.Time{}
			t.grant()
		})
	})
	t.timer.Stop()
	for _, n := range st.core.Calls(s.number) {
		if r := st.requests[n]; r.caller != nil && st.now(r).Handed {
			r.turn = newTurn(r)
			t.start(r.turn)
			t.onWire(r.turn, r.wireID)
		}
	}
	st.log.Info("a question of a server may belong to calls of different clients, so none of them can be asked; from now "+
		"on their calls are sent to it one after the other", "server", s.name)
}

func newTurn(r *request) *turn {
	return &turn{client: r.caller.Client(), granted: make(chan struct{})}
}

// hasTurn reports whether r may be sent. If not, r has its place among those that wait.
func (st *state) hasTurn(r *request) bool {
	t := &r.server.turns
	if !t.taken || r.caller == nil || r.server.Era() == event.EraModern {
		return true
	}
	if r.turn == nil {
		r.turn = newTurn(r)
		t.waiting = append(t.waiting, r.turn)
		t.grant()
	}
	return r.turn.phase != turnWaits
}

// awaitTurn returns when r has its turn, or has waited for long enough.
func (h *Hub) awaitTurn(r *request, turn *turn) error {
	limit := time.NewTimer(turnLimit)
	defer limit.Stop()
	select {
	case <-turn.granted:
	case <-limit.C:
		h.update(func(*state) {
			if t := &r.server.turns; t.unqueue(turn) {
				t.start(turn)
			}
		})
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
	return nil
}

// onWire records the wire id of a round of the turn's request.
func (t *turns) onWire(turn *turn, wireID string) {
	if t.forget(turn); wireID == "" || turn.phase == turnOver {
		return
	}
	turn.wireID = wireID
	t.sent[wireID] = turn
}

// forget removes the turn from those that are found by a wire id.
func (t *turns) forget(turn *turn) {
	if t.sent[turn.wireID] == turn { // a new connection may have the same ids
		delete(t.sent, turn.wireID)
	}
}

// end gives the turn of a request that has ended to others. mayContinue means that the server may go on with it.
func (t *turns) end(turn *turn, mayContinue bool) {
	switch {
	case turn == nil:
		return
	case t.unqueue(turn):
		turn.phase = turnOver
	case mayContinue && !turn.settled:
		turn.phase, turn.ended = turnKept, time.Now()
		of := t.clients[turn.client]
		of.running--
		of.kept++
		of.ended = turn.ended
		t.kept = append(t.kept, turn)
	default:
		t.leave(turn)
	}
	t.grant()
}

// settled ends the turn of a cancelled call that the server has answered. The call itself may not have ended so far.
func (t *turns) settled(wireID string) {
	turn := t.sent[wireID]
	if turn == nil {
		return
	}
	if turn.settled = true; turn.phase == turnKept {
		t.leave(turn)
		t.grant()
	}
}

// fell ends the turns of the cancelled calls of a connection that has ended.
func (t *turns) fell() {
	for _, turn := range t.kept {
		t.leave(turn)
	}
	t.kept = nil
	t.grant()
}

func (t *turns) start(turn *turn) {
	of := t.clients[turn.client]
	if of == nil {
		of = new(clientTurns)
		t.clients[turn.client] = of
	}
	of.running++
	turn.phase = turnRuns
	close(turn.granted)
}

// leave ends a turn that runs or is kept.
func (t *turns) leave(turn *turn) {
	of := t.clients[turn.client]
	switch turn.phase {
	case turnRuns:
		of.running--
	case turnKept:
		of.kept--
	default:
		return
	}
	turn.phase = turnOver
	t.forget(turn)
	if of.running == 0 && of.kept == 0 {
		delete(t.clients, turn.client)
	}
}

// unqueue removes a turn from those that wait. It returns false if it is not one of them.
func (t *turns) unqueue(turn *turn) bool {
	i := slices.Index(t.waiting, turn)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

// grant starts the turns of those that wait longest, as long as they are of the client whose calls run.
func (t *turns) grant() {
	now := time.Now()
	t.expire(now)
	var next time.Time
	if len(t.kept) > 0 {
		next = t.kept[0].ended.Add(mayAskAfter)
	}
	for len(t.waiting) > 0 {
		first := t.waiting[0]
		free, again := t.free(first.client, now)
		if !free {
			if !again.IsZero() && again.Before(next) {
				next = again
			}
			break
		}
		t.waiting = t.waiting[1:]
		t.start(first)
	}
	t.wake(now, next)
}

// wake makes the timer fire at that time, or not at all if it is zero.
func (t *turns) wake(now, at time.Time) {
	switch {
	case t.due.Equal(at):
	case at.IsZero():
		t.timer.Stop()
	default:
		t.timer.Reset(at.Sub(now))
	}
	t.due = at
}

// expire ends the kept turns whose time is over, or that are too many.
func (t *turns) expire(now time.Time) {
	n := 0
	for ; n < len(t.kept); n++ {
		first := t.kept[n]
		if first.phase == turnKept && now.Sub(first.ended) < mayAskAfter && len(t.kept)-n <= maxKeptTurns {
			break
		}
		t.leave(first)
	}
	if t.kept = t.kept[n:]; len(t.kept) == 0 {
		t.kept = nil
	}
}

// free reports whether the server can be asking no other client. If it can, because of a call that has ended, again is
// when to look again. The cancelled calls of a client that is gone count for less long: see whoAnswers.
func (t *turns) free(client Client, now time.Time) (free bool, again time.Time) {
	for other, of := range t.clients {
		if other == client {
			continue
		}
		if of.running > 0 {
			return false, time.Time{}
		}
		keeps := mayAskAfter
		if other.Gone() {
			keeps = cancelReadTime
		}
		if again = of.ended.Add(keeps); again.After(now) {
			return false, again
		}
	}
	return true, time.Time{}
}
