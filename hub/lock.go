package hub

import (
	"fmt"
	"runtime/debug"
)

// What the hub's lock guards is of type state, and what needs the lock is a method of state. The lock is taken in one
// place: lock. A critical section is either the rest of a function,
//
//	st := h.lock()
//	defer st.unlock()
//
// or a part of one:
//
//	h.update(func(st *state) { ... })
//
// Both release the lock when the section panics, and both end the process then: see unlock. Methods of other types that
// run with the lock held get the state by held, or as a parameter.

// newState makes the state of a hub that nobody uses yet.
func newState(h *Hub) *state {
	h.state = state{
		fixed:    h.fixed,
		hub:      h,
		requests: map[string]*request{},
		leaving:  map[*request]struct{}{},
		early:    map[string]earlyCancel{},
		prompts:  map[string]*prompt{},
	}
	return &h.state
}

// update runs f with the lock. f must not wait for anything, and must not keep the state.
func (h *Hub) update(f func(st *state)) {
	st := h.lock()
	defer st.unlock()
	f(st)
}

// within is update for what a room keeps under the hub's lock.
func (h *Hub) within(f func()) {
	defer h.lock().unlock()
	f()
}

func (h *Hub) lock() *state {
	h.mu.Lock()
	h.taken++
	return &h.state
}

// held gives the state to a method of another type that is called with the lock held: by a method of state, or by a
// room that calls its house or owner so. A test ends where nobody holds the lock.
func (h *Hub) held() *state {
	if h.check != nil && h.mu.TryLock() {
		h.broken("somebody reached the state without the lock")
		h.mu.Unlock()
	}
	return &h.state
}

// LockCount tells how often the lock has been taken before. Everybody waits for it, so what a call takes of it is
// measured.
func (h *Hub) LockCount() uint64 {
	defer h.lock().unlock()
	return h.taken - 1
}

// checkInvariants is set by tests. It is the check of every hub that is made from then on: unlock calls it after each
// critical section, and it returns what is inconsistent in the hub, or "".
var checkInvariants func(*Hub) string

// unlock ends a critical section; it is deferred. A panic in the section may have left the state half changed: a
// request that nobody ends, a server that nothing stops. Nothing above may recover it and go on, as gRPC's recovery
// does, so the process ends here, with the lock still held. Only a test's Options.Fatal returns.
func (st *state) unlock() {
	h := st.hub
	if p := recover(); p != nil {
		h.broken(panicText(p))
		h.mu.Unlock()
		panic(p)
	}
	if h.check != nil {
		if wrong := h.check(h); wrong != "" {
			h.broken(wrong)
		}
	}
	h.mu.Unlock()
}

// broken ends the process because the state under the lock cannot be trusted any more; text is the panic, or the
// invariant that does not hold.
func (h *Hub) broken(text string) {
	h.log.Error("panic with the hub's lock held", "value", text, "stack", string(debug.Stack()))
	h.fatal(fmt.Sprintf("mcphub: a fault of the hub may have damaged its state (%s); "+
		"the process ends, so that nothing goes on with it", text))
}

// crash is Options.Fatal when there is none. The panic is on a goroutine of its own: there nobody recovers it, and the
// runtime writes it to the standard error.
func crash(text string) {
	go panic(text)
	select {}
}
