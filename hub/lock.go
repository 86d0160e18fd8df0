package hub

import (
	"fmt"
	"runtime/debug"
)

// The hub's lock is taken in one place: lock. A critical section is either the rest of a function,
//
//	defer h.lock().unlock()
//
// or a part of one:
//
//	h.update(func() { ... })
//
// Both release the lock when the section panics, and both end the process then: see unlock. A function whose comment
// says "h.mu is held" belongs into a critical section: its caller holds the lock, and it does not take it.

// update runs f with the lock. f must not wait for anything.
func (h *Hub) update(f func()) {
	defer h.lock().unlock()
	f()
}

// locked is a critical section that is under way.
type locked struct{ h *Hub }

func (h *Hub) lock() locked {
	h.mu.Lock()
	h.taken++
	return locked{h}
}

// LockCount tells how often the lock has been taken before. Everybody waits for it, so what a call takes of it is
// measured.
func (h *Hub) LockCount() uint64 {
	defer h.lock().unlock()
	return h.taken - 1
}

// unlock ends a critical section; it is deferred. A panic in the section may have left the state half changed: a
// request that nobody ends, a server that nothing stops. Nothing above may recover it and go on, as gRPC's recovery
// does, so the process ends here, with the lock still held. Only a test's Options.Fatal returns.
func (l locked) unlock() {
	h := l.h
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
