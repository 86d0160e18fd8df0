package hub

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// CallTool calls a tool for the user. If it returns nil, the call is a request like any other: it is listed, it can be
// cancelled, it goes on when the window closes (unless the window owns it), and it ends with the hub. It runs on a
// goroutine of the hub, which calls over with the results that [Hub.CallTool] would have returned. The windows learn
// its result from the event of its end. If CallTool returns an error, nothing has begun, and over is not called.
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

// runner runs a request to its end.
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

// runRecovered calls run on a goroutine of the hub, where a panic would end the process and with it every other call.
// The request does not end with a context of its caller: Drain ends it at the latest.
func (h *Hub) runRecovered(run runner, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (result *CallResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, h.panicked(p)
		}
	}()
	return run(context.Background(), r, meta, c)
}
