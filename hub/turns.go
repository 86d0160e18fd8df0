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
)

// turns is the order of calls of one server. Guarded by the hub's lock.
type turns struct {
	taken   bool               // the calls take turns
	running map[*turn]struct{} // of the calls that the server may ask in
	waiting []*turn            // in order of arrival
}

// turn is that of one request.
type turn struct {
	client  Client
	granted chan struct{} // closed when the request may be sent
	wireID  string        // of its last round
	settled bool          // the server has answered it after its cancel
	ended   time.Time     // it has ended, and keeps its turn because the server may go on; zero before that
}

// takeTurns makes the calls to s take turns from now on.
func (st *state) takeTurns(s *server) {
	t := &s.turns
	if t.taken {
		return
	}
	t.taken, t.running = true, map[*turn]struct{}{}
	for r := range st.callsOf(s) {
		if r.caller != nil && r.handed {
			r.turn = newTurn(r)
			t.start(r.turn)
		}
	}
	st.log.Info("a question of a server may belong to calls of different clients, so none of them can be asked; from now "+
		"on their calls are sent to it one after the other", "server", s.name)
}

func newTurn(r *request) *turn {
	return &turn{client: r.caller.Client(), granted: make(chan struct{}), wireID: r.wireID}
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
	_, has := t.running[r.turn]
	return has
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

// endTurn gives the turn of a request that has ended to others. mayContinue means that the server may go on with it.
func (st *state) endTurn(r *request, mayContinue bool) {
	t, turn := &r.server.turns, r.turn
	switch {
	case turn == nil:
	case t.unqueue(turn):
		t.grant()
	case mayContinue && !turn.settled:
		turn.ended = time.Now()
		keeps := mayAskAfter
		if turn.client.Gone() {
			keeps = cancelReadTime
		}
		time.AfterFunc(keeps, func() { st.hub.update(func(*state) { t.leave(turn) }) })
	default:
		t.leave(turn)
	}
}

// settled ends the turn of a cancelled call that the server has answered. The call itself may not have ended so far.
func (t *turns) settled(wireID string) {
	for turn := range t.running {
		if turn.wireID != wireID {
			continue
		}
		if turn.settled = true; !turn.ended.IsZero() {
			t.leave(turn)
		}
		return
	}
}

// fell ends the turns of the cancelled calls of a connection that has ended.
func (t *turns) fell() {
	for turn := range t.running {
		if !turn.ended.IsZero() {
			delete(t.running, turn)
		}
	}
	t.grant()
}

func (t *turns) start(turn *turn) {
	t.running[turn] = struct{}{}
	close(turn.granted)
}

func (t *turns) leave(turn *turn) {
	delete(t.running, turn)
	t.grant()
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
	for len(t.waiting) > 0 && t.free(t.waiting[0].client) {
		t.start(t.waiting[0])
		t.waiting = t.waiting[1:]
	}
}

// free reports whether the server can be asking no other client.
func (t *turns) free(client Client) bool {
	for other := range t.running {
		if other.client != client && !other.left() {
			return false
		}
	}
	return true
}

// left reports whether the client is gone and its server must have read that the call is cancelled: see whoAnswers.
func (t *turn) left() bool {
	return t.client.Gone() && !t.ended.IsZero() && time.Since(t.ended) >= cancelReadTime
}
