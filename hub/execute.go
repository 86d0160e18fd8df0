package hub

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// execute runs the request on the session, or on the one that takes its place: a task outlives its connection, and what
// a server refused because it had forgotten the session has not run. Nothing else is ever sent twice. The session is
// the last one. The state of r is running.
func (h *Hub) execute(r *request, meta map[string]json.RawMessage, session *mcp.Session, tool *mcp.Tool,
	send sender) (*mcp.Session, *mcp.CallResult, error) {
	out := &mcp.CallRequest{
		Tag:   r,
		Trace: r.trace,
		Meta:  meta,
		OnWire: func(id jsonrpc.ID) {
			defer h.lock().unlock()
			r.wireID = id.String()
			r.span.Round(r.wireID)
		},
		OnProgress: func(p mcp.Progress) {
			h.progressed(r, p)
			if r.caller != nil && !p.Back {
				r.caller.Progress(p.Params)
			}
		},
		OnTask: func(t mcp.TaskInfo) { h.tasked(r, t) },
		Keep:   r.inFlight.Set,
	}
	result, err := send(session, tool, out)
	for err != nil {
		interrupted, isTask := errors.AsType[*mcp.TaskInterruptedError](err)
		switch {
		case isTask:
			var next *mcp.Session
			if next, err = h.reacquire(r); err != nil {
				return session, nil, err
			}
			session = next
			if !h.movedTo(r, event.StateTaskWorking) {
				return session, nil, context.Cause(r.ctx)
			}
			result, err = session.ResumeTask(r.ctx, out, interrupted.Task)
		case outcome.NotRun(err) && h.resend(r):
			var next *mcp.Session
			if next, err = r.server.Renew(r.ctx, r, session); err != nil {
				return session, nil, err
			}
			session = next
			if !h.movedTo(r, event.StateRunning) {
				return session, nil, context.Cause(r.ctx)
			}
			result, err = send(session, tool, out)
		default:
			return session, nil, err
		}
	}
	return session, result, nil
}

// resend tells whether r may go to a new session, and counts it.
func (h *Hub) resend(r *request) bool {
	defer h.lock().unlock()
	if r.resent >= transport.Repeats(transport.GroundSessionOver, r.method) {
		return false
	}
	r.resent++
	return true
}

// movedTo tells whether r stands there now. false: it was cancelled, and its context has ended. A request that had
// nothing to wait for has stood there before.
func (h *Hub) movedTo(r *request, to event.RequestState) bool {
	st := h.lock()
	defer st.unlock()
	return st.moveTo(r, to) || r.state == to
}

// The waits between tries to get back to a server that has a task of ours.
const (
	reacquireDelay    = time.Second
	reacquireMaxDelay = 30 * time.Second
)

// reacquire connects the server of a running task anew, as often as it takes: only a clock, a cancel, the config or a
// person who does not sign in ends that.
func (h *fixed) reacquire(r *request) (*mcp.Session, error) {
	for delay := reacquireDelay; ; delay = min(2*delay, reacquireMaxDelay) {
		session, err := r.server.Acquire(r.ctx, r)
		he, ok := errors.AsType[*event.Error](err)
		if err == nil || !ok || !mayPass(he) {
			return session, err
		}
		wait := time.NewTimer(delay)
		select {
		case <-wait.C:
		case <-r.ctx.Done():
			wait.Stop()
			return nil, context.Cause(r.ctx)
		}
	}
}

// mayPass tells whether the trouble with a server may be over at another try.
func mayPass(e *event.Error) bool {
	switch e.Reason {
	case event.ReasonDraining, event.ReasonHumanTimeout:
		return false
	case event.ReasonNoApprover: // a window may come that shows the sign-in
		return true
	}
	return e.Code == event.CodeUnavailable || e.Code == event.CodeDeadlineExceeded
}
