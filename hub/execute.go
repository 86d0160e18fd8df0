package hub

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// execute sends the request on the session, or on its successor in two cases: the request has become a task, which
// outlives its connection; or the server has refused it because it had forgotten the session, so that it has not run.
// Nothing is sent twice otherwise. The session that is returned is the last one. r is running.
func (h *Hub) execute(r *request, meta map[string]json.RawMessage, session *mcp.Session, tool *mcp.Tool,
	further json.RawMessage, send sender) (*mcp.Session, *mcp.CallResult, error) {
	out := &mcp.CallRequest{
		Tag:     r,
		Client:  r.client(),
		Trace:   r.trace,
		Meta:    meta,
		Further: further,
		OnWire: func(id jsonrpc.ID) {
			st := h.lock()
			defer st.unlock()
			r.wireID = id.String()
			st.apply(core.Sent{Request: r.number, WireID: r.wireID})
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
			result, err = session.ResumeTask(r.ctx, out, interrupted.Task)
		case outcome.NotRun(err) && h.resend(r):
			var next *mcp.Session
			if next, err = r.server.Renew(r.ctx, r.number, session); err != nil {
				return session, nil, err
			}
			session = next
			result, err = send(session, tool, out)
		default:
			return session, nil, err
		}
	}
	return session, result, nil
}

// resend reports whether r may be sent on a new session, and counts the attempt.
func (h *Hub) resend(r *request) bool {
	defer h.lock().unlock()
	if r.resent >= transport.Repeats(transport.GroundSessionOver, r.method) {
		return false
	}
	r.resent++
	return true
}

// The delays between attempts to reconnect a server that runs a task of a request.
const (
	reacquireDelay    = time.Second
	reacquireMaxDelay = 30 * time.Second
)

// reacquire reconnects the server of a running task. It tries as often as necessary, until a clock, a cancel, the
// config, or a person who does not sign in ends that.
func (h *fixed) reacquire(r *request) (*mcp.Session, error) {
	for delay := reacquireDelay; ; delay = min(2*delay, reacquireMaxDelay) {
		session, err := r.server.Acquire(r.ctx, r.number)
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

// mayPass reports whether another attempt may succeed after the error e.
func mayPass(e *event.Error) bool {
	switch e.Reason {
	case event.ReasonDraining, event.ReasonHumanTimeout:
		return false
	case event.ReasonNoApprover: // a window that can show the sign-in may come
		return true
	}
	return e.Code == event.CodeUnavailable || e.Code == event.CodeDeadlineExceeded
}
