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
	return w.carry(&c, w.h.beginTool, w.h.runTool, over)
}

// ReadResource reads a resource for the user, as CallTool calls a tool.
func (w *Window) ReadResource(c CallRequest, over func(*CallResult, error)) error {
	return w.carry(&c, w.h.beginReading, w.h.runReading, over)
}

// GetMcpPrompt fills a prompt template for the user, as CallTool calls a tool.
func (w *Window) GetMcpPrompt(c CallRequest, over func(*CallResult, error)) error {
	return w.carry(&c, w.h.beginFilling, w.h.runFilling, over)
}

// runner takes a request to its end.
type runner func(ctx context.Context, r *request, meta map[string]json.RawMessage, c *CallRequest) (*CallResult, error)

func (w *Window) carry(c *CallRequest,
	begin func(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error), run runner,
	over func(*CallResult, error)) error {
	t, err := w.in.TakeTurn()
	if err != nil {
		return err
	}
	r, meta, err := begin(c, true)
	if err != nil {
		t.Over(nil)
		return err
	}
	go func() {
		result, err := w.h.runRecovered(run, r, meta, c)
		t.Over(func() { over(result, err) })
	}()
	return nil
}

// runRecovered is run on a goroutine of the hub, where a panic would end the process and every other call with it. No
// context of the caller's ends it, but its own, by Drain at the latest.
func (h *Hub) runRecovered(run runner, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (result *CallResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, h.panicked(p)
		}
	}()
	return run(context.Background(), r, meta, c)
}
