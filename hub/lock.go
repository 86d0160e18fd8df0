package hub

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// The hub's lock guards a value of type state, and the code that needs the lock is a method of state. Only lock takes
// the lock. A critical section is either the rest of a function,
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
func newState(h *Hub) {
	h.state = state{
		fixed:    h.fixed,
		hub:      h,
		core:     core.New(h.mark),
		requests: map[core.RequestNumber]*request{}, turnTimers: map[core.ServerNumber]*time.Timer{},
		prompts: map[core.PromptNumber]*prompt{}, searches: searches{}, live: map[core.ServerNumber]*server{},
		waits: map[core.WaiterNumber]*serverWait{}, kills: map[*server]func(string){},
		subscribing: map[resourceKey]chan struct{}{},
	}
}

// update runs f with the lock. f must not wait for anything, and must not keep the state.
func (h *Hub) update(f func(st *state)) {
	st := h.lock()
	defer st.unlock()
	f(st)
}

// within is update for packages that keep a state of their own under the hub's lock.
func (h *Hub) within(f func()) {
	defer h.lock().unlock()
	f()
}

func (h *Hub) lock() *state {
	h.mu.Lock()
	h.taken++
	return &h.state
}

// held returns the state for a method of another type that is called with the lock held, either by a method of state or
// by package process. In tests, held ends the process if nobody holds the lock.
func (h *Hub) held() *state {
	if h.check != nil && h.mu.TryLock() {
		h.broken("somebody reached the state without the lock")
		h.mu.Unlock()
	}
	return &h.state
}

// LockCount returns how often the lock was taken before. All requests contend for the lock, so tests measure how often
// a call takes it.
func (h *Hub) LockCount() uint64 {
	defer h.lock().unlock()
	return h.taken - 1
}

// checkInvariants is set by tests. It is the check of every hub that is made from then on. unlock calls it after each
// critical section. It returns what is inconsistent in the hub, or "".
var checkInvariants func(*Hub) string

// unlock ends a critical section. It must be deferred. A panic in the section may have left the state half changed,
// with a request that nobody ends, or a server that nothing stops. A caller that recovers, as gRPC does, must not go on
// with that state. So the process ends here, with the lock still held. Only a test's Options.Fatal returns.
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

// crash is the default of Options.Fatal. It panics on a goroutine of its own, where nobody recovers the panic, so that
// the runtime writes it to the standard error.
func crash(text string) {
	go panic(text)
	select {}
}

// userHub is the hub as a process.User sees it.
type userHub struct{ h *Hub }

// Update runs f with the lock.
func (o userHub) Update(f func()) { o.h.within(f) }

// Go runs f on a goroutine that Close waits for.
func (o userHub) Go(f func()) { o.h.work.Go(f) }

// Draining reports whether new calls are refused.
func (o userHub) Draining() bool { return o.h.held().core.Draining() }

// panicked logs a panic with its stack, and returns an error that reveals neither to the caller. It logs the value of
// the panic only if that is an error or a string: any other value may be an argument or a result.
func (h *fixed) panicked(p any) *event.Error {
	h.log.Error("panic", "value", panicText(p), "stack", string(debug.Stack()))
	return errPanicked(false)
}

func panicText(p any) string {
	text := fmt.Sprintf("%T", p)
	switch p := p.(type) {
	case error:
		text = p.Error()
	case string:
		text = p
	}
	return bounds.Printable(text)
}

// errPanicked returns the error of a request that a fault of the hub has ended.
func errPanicked(mayContinue bool) *event.Error {
	e := event.Fail(event.CodeInternal, "INTERNAL", nil, "internal error")
	if mayContinue {
		e.Meta = map[string]string{"server_may_continue": "true"}
	}
	return e
}

// fellOver ends a request whose goroutine has panicked or exited early. Otherwise the request would stay open, and its
// connection in use, for ever. fellOver does not recover the panic.
func (h *Hub) fellOver(r *request) {
	var open, handed bool
	h.update(func(st *state) { open, handed = st.isOpen(r), st.now(r).Handed })
	if open {
		_, _ = h.conclude(r, nil, nil, errPanicked(handed)) // nobody is left to get the result
	}
}
