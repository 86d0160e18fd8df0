package hub

import (
	"fmt"
	"runtime/debug"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

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
