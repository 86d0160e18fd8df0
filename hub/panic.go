package hub

import (
	"fmt"
	"runtime/debug"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// panicked logs a panic with its stack, and gives the error that hides both from whoever asked. Only the text that the
// program or the runtime gave the panic is logged: any other value may be an argument or a result.
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

// errPanicked is for what a fault of the hub ended.
func errPanicked(mayContinue bool) *event.Error {
	e := event.Fail(event.CodeInternal, "INTERNAL", nil, "internal error")
	if mayContinue {
		e.Meta = map[string]string{"server_may_continue": "true"}
	}
	return e
}

// fellOver ends a request whose goroutine panicked (or ended otherwise) on its way. Whoever recovers goes on with a hub
// that has no request which nobody ends, and no connection in use for ever. The panic itself is left to those who know
// whom to tell.
func (h *Hub) fellOver(r *request) {
	var open, leaving, handed bool
	h.update(func(st *state) {
		_, leaving = st.leaving[r]
		open, handed = st.requests[r.id] == r, r.handed
	})
	if open || leaving {
		_, _ = h.conclude(r, nil, nil, errPanicked(handed)) // nobody is there to be told
	}
}
