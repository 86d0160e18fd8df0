package hub

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// CallTool calls a tool for the user. When it returns without an error, the call is a request like any other: it is
// listed, it can be cancelled, it goes on when the window closes (unless that owns it) and ends with the hub. It runs
// on a goroutine of the hub, which calls over with what [Hub.CallTool] would have given; the windows are told of its
// result by the event of its end. An error says that nothing has begun; over is not called then.
func (w *Window) CallTool(c CallRequest, over func(*CallResult, error)) error {
	if c.Preapproved {
		return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
			[]string{"window_id", bounds.Printable(w.ID())},
			"a window cannot say that a call is preapproved: only a host can, that has asked the user itself; "+
				"leave it out, and the user is asked")
	}
	t, err := w.in.TakeTurn()
	if err != nil {
		return err
	}
	r, meta, err := w.h.beginTool(&c, true)
	if err != nil {
		t.Over(nil)
		return err
	}
	go func() {
		result, err := w.h.runRecovered(r, meta, &c)
		t.Over(func() { over(result, err) })
	}()
	return nil
}

// runRecovered is runTool on a goroutine of the hub, where a panic would end the process and every other call with it.
// No context of the caller's ends it, but its own, by Drain at the latest.
func (h *Hub) runRecovered(r *request, meta map[string]json.RawMessage,
	c *CallRequest) (result *CallResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, h.panicked(p)
		}
	}()
	return h.runTool(context.Background(), r, meta, c)
}
