package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// MaxRequestID bounds a request id that the host chooses, in bytes.
const MaxRequestID = 128

// outgoing is a request of a host or a window.
type outgoing struct {
	*CallRequest
	method, tool, subject string
	given                 string // the arguments as JSON text, "" = none
	ofWindow              bool   // a window asked for it, and learns the outcome from the events
}

// sender sends a request that may be sent. tool is nil unless the request is a tool call.
type sender func(s *mcp.Session, tool *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error)

// accept registers a request of a host or a window, which can be cancelled from then on. The map is the _meta to send
// with it. accept does not block. Its caller must carry the request through.
func (h *Hub) accept(o *outgoing) (*request, map[string]json.RawMessage, error) {
	meta, err := checkOutgoing(o)
	if err != nil {
		return nil, nil, err
	}
	r, err := h.begin(o)
	if err != nil {
		return nil, nil, err
	}
	meta, traceID := journal.Propagate(meta, &o.Trace, r.span)
	if traceID != "" {
		r.trace.Identify(traceID)
	}
	return r, meta, nil
}

// carryThrough runs a request to its end, in the caller's goroutine. The end of ctx cancels it, with the cause of ctx
// if that is an *event.CancelCause, else with origin host.
func (h *Hub) carryThrough(ctx context.Context, r *request, meta map[string]json.RawMessage, c *CallRequest,
	send sender) (*CallResult, error) {
	unhook := context.AfterFunc(ctx, func() {
		cause, told := errors.AsType[*event.CancelCause](context.Cause(ctx))
		switch {
		case told:
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			cause = &event.CancelCause{Origin: event.OriginHost, Reason: "the host's deadline for the call passed"}
		default:
			cause = &event.CancelCause{Origin: event.OriginHost, Reason: "the host cancelled the call"}
		}
		st := h.lock()
		defer st.unlock()
		st.cancel(r, cause)
	})
	defer unhook()
	carried := false
	defer func() {
		if !carried {
			h.fellOver(r)
		}
	}()
	session, result, failed := h.carry(r, meta, c, send)
	awaitDelivery(failed)
	concluded, err := h.conclude(r, session, result, failed)
	carried = true
	r.inFlight.until(ctx, err == nil)
	h.deliveries.follow(r.delivery, r.server, failed)
	return concluded, err
}

func (h *Hub) carry(r *request, meta map[string]json.RawMessage, c *CallRequest,
	send sender) (*mcp.Session, *mcp.CallResult, error) {
	session, tool, err := h.pass(r, c)
	if err != nil {
		return nil, nil, err
	}
	var further json.RawMessage
	if c.Further != "" {
		further = json.RawMessage(c.Further)
	}
	session, result, err := h.execute(r, meta, session, tool, further, send)
	if errors.Is(err, jsonrpc.ErrClosed) {
		err = lastWords(r.ctx, session, err)
	}
	return session, result, err
}

// checkOutgoing returns an error for what cannot be a request. Otherwise it returns the _meta of the caller.
func checkOutgoing(o *outgoing) (map[string]json.RawMessage, *event.Error) {
	if len(o.ID) > MaxRequestID {
		return nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
			"request_id is %d bytes long; at most %d are allowed", len(o.ID), MaxRequestID)
	}
	if n := max(len(o.tool), len(o.subject)); n > bounds.SubjectBytes { // a gateway's clients send what they like
		return nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
			"the URI, or the name of the tool or prompt template, is %d bytes long; at most %d are allowed", n,
			bounds.SubjectBytes)
	}
	meta, err := mcp.CallersMeta(o.Meta, o.LogLevel)
	if err != nil {
		return nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidArguments, nil, "meta_json %s", err.Error())
	}
	return meta, nil
}

// begin registers the request.
func (h *Hub) begin(o *outgoing) (*request, *event.Error) {
	shown := h.preview(o.CallRequest)
	var answers event.Kinds
	if o.Caller != nil {
		answers = o.Caller.Answers() // without the lock: it reads what a client has declared, at whatever length
	}
	st := h.lock()
	defer st.unlock()
	if st.core.Draining() {
		return nil, event.ErrDraining()
	}
	s := st.server(o.Server)
	if s == nil {
		return nil, st.noServer(o.Server)
	}
	if err := cmp.Or(s.usable(), s.givenUp()); err != nil {
		return nil, err
	}
	if err := st.mayBeOfApp(o, s); err != nil {
		return nil, err
	}
	r := &request{tool: o.tool, subject: o.subject, method: o.method, direction: event.Outgoing,
		caller: o.Caller, callerName: bounds.Cut(o.CallerName, bounds.NameBytes), preview: shown, arguments: o.given,
		taskLabel: o.TaskLabel, server: s, launch: s.launchKey(), carried: true, ofWindow: o.ofWindow,
		ctx: h.tracer.CalledBy(context.Background(), &o.Trace)}
	known, _ := s.listedTools()
	if tool, ok := toolNamed(known, r.tool); ok {
		r.called(tool)
	}
	pick := func(call, conf *time.Duration, def time.Duration) time.Duration {
		switch {
		case call != nil:
			return *call
		case conf != nil:
			return *conf
		}
		return def
	}
	r.human = pick(o.Timeouts.Human, s.conf.Timeouts.Human, DefaultHumanTimeout)
	made := core.RequestMade{ID: o.ID, Prefix: "call", Server: s.number, Name: s.name, Call: true,
		Owner: o.OwnerWindowID, Label: o.TaskLabel,
		Idle:  pick(o.Timeouts.Idle, s.conf.Timeouts.Idle, DefaultIdleTimeout),
		Total: pick(o.Timeouts.Total, s.conf.Timeouts.Total, DefaultTotalTimeout),

		Client: r.client(), Answers: answers, Audience: o.Questions}
	if st.make(r, made) == core.IDInUse {
		return nil, event.Fail(event.CodeAlreadyExists, event.ReasonRequestIDInUse, []string{"request_id", o.ID},
			"request id %q is in use; choose another or leave it empty", bounds.Printable(o.ID))
	}
	s.allowance.called()
	return r, nil
}

// preview returns a line of c's arguments, by which people tell the request from others of the same kind.
func (h *Hub) preview(c *CallRequest) string {
	if c.McpPrompt != "" {
		return journal.PreviewMembers(c.PromptArguments, h.redactor)
	}
	return journal.PreviewArguments(c.Arguments, h.redactor)
}

// progressed records progress of r, which is a sign of life.
func (h *Hub) progressed(r *request, p mcp.Progress) {
	st := h.lock()
	defer st.unlock()
	if !st.isOpen(r) || r.cause != nil {
		return
	}
	if !p.Back {
		r.progress = &event.Progress{Progress: p.Progress, Message: bounds.Cut(p.Message, bounds.ProgressTextBytes)}
		if p.HasTotal {
			total := p.Total
			r.progress.Total = &total
		}
	}
	st.apply(core.Progressed{Request: r.number, Shown: !p.Back})
}

// tasked records the state of the server's task that carries out r, and tells the windows.
func (h *Hub) tasked(r *request, t mcp.TaskInfo) {
	st := h.lock()
	defer st.unlock()
	if !st.isOpen(r) {
		return
	}
	r.task = &event.TaskInfo{ID: bounds.Printable(t.ID), Status: bounds.Printable(t.Status),
		Message: bounds.Printable(t.Message)}
	st.apply(core.TaskReported{Request: r.number})
}

// conclude ends r with its outcome, and returns that for the caller. Exactly one of result and err is set.
func (h *Hub) conclude(r *request, session *mcp.Session, result *mcp.CallResult, err error) (*CallResult, error) {
	st := h.lock()
	defer st.unlock()
	if r.cause == nil {
		if he := r.server.refusedToAsk(session, r.id, r.what(), result, err); he != nil {
			st.end(r, ending{state: event.StateFailed, err: he}, core.CallOver{})
			return nil, he
		}
	}
	if err == nil {
		e := ending{state: event.StateDone, isError: result.IsError, raw: result.Raw}
		if r.ofWindow {
			e.result = journal.ShownResult(result.Raw)
		}
		st.end(r, e, core.CallOver{})
		return &CallResult{
			RequestID: r.id, Result: result.Raw, IsError: result.IsError, Rounds: result.Rounds, Timings: r.timings,
			Task: r.task,
		}, nil
	}
	over := core.CallOver{}
	if tc, byServer := errors.AsType[*mcp.TaskCancelledError](err); byServer {
		over.ByServer = &event.CancelCause{Origin: event.OriginServer, Reason: bounds.Reason(tc.Message)}
	}
	if r.cause != nil || over.ByServer != nil {
		e := ending{state: event.StateCancelled}
		e.sending, e.mayContinue = st.call(r).cancelled(session != nil, err)
		st.end(r, e, over)
		return nil, errCancelled(r)
	}
	_, own := errors.AsType[*event.Error](err) // a failure before the call, even if it wraps an error of a server
	if we, ok := errors.AsType[*jsonrpc.Error](err); ok && !own {
		me := &event.McpError{Code: we.Code, Message: we.Message, Data: string(we.Data)}
		st.end(r, ending{state: event.StateFailed, mcpError: me}, over)
		return &CallResult{RequestID: r.id, Error: me, Rounds: 1, Timings: r.timings, Task: r.task}, nil
	}
	he := st.call(r).Error(err)
	if r.task != nil && he.Meta["server_may_continue"] == "" { // the hub has lost track of the task
		with := *he // other requests may have been given the same error
		with.Meta = maps.Clone(he.Meta)
		if with.Meta == nil {
			with.Meta = map[string]string{}
		}
		with.Meta["server_may_continue"] = "true"
		he = &with
	}
	st.end(r, ending{state: event.StateFailed, err: he, mayContinue: he.Meta["server_may_continue"] == "true"}, over)
	return nil, he
}

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
		Keep:   r.inFlight.set,
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
		case notRun(err) && h.resend(r):
			var next *mcp.Session
			if next, err = r.server.renew(r.ctx, r.number, session); err != nil {
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
		session, err := r.server.acquire(r.ctx, r.number)
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

// Windows draw the views of tool calls (MCP Apps). What a view asks for comes as an order of its window that names the
// call. A view is a page that the call's server wrote: it may reach only that server, and only what that server offers
// to views. A server that gets the same name later, by a change of the config, is another server.

// mayBeOfApp returns an error if a view asks for something of a server that is not its own. Otherwise it makes the view
// the caller that people see, if no other caller is named.
func (st *state) mayBeOfApp(o *outgoing, s *server) *event.Error {
	if o.AppOf == "" {
		return nil
	}
	tool, of, launch := "", "", ""
	if open := st.requests[st.core.ByID(o.AppOf)]; open != nil && open.method == methodCallTool {
		tool, of, launch = open.tool, open.server.name, open.launch
	} else if open == nil {
		tool, of, launch = st.kept.Tool(o.AppOf)
	}
	switch {
	case tool == "":
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"the tool call %q whose view asks for this is not known any more: call the tool again, and open its view",
			bounds.Printable(o.AppOf))
	case of != s.name:
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"a view of server %q has asked for something of server %q: views reach their own server alone", of, s.name)
	case launch != s.launchKey():
		return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps,
			[]string{"server", s.name, "request_id", bounds.Printable(o.AppOf)},
			"the view of %q is not of what runs as server %q now, whose entry has changed: call the tool again, and open "+
				"its view", bounds.Printable(o.AppOf), s.name)
	}
	if o.CallerName == "" {
		o.CallerName = "view of " + tool
	}
	return nil
}
