package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// Traces returns the timelines of all open requests, and of the latest ones that are over, oldest first.
func (h *Hub) Traces(f event.TraceFilter) []event.TraceInfo {
	want := func(id, server string) bool {
		return (f.RequestID == "" || f.RequestID == id) && (f.Server == "" || f.Server == server)
	}
	var all []journal.Traced
	h.update(func(st *state) {
		f.Server = st.canonical(f.Server)
		all = h.record.Ended(want)
		for _, r := range st.requests {
			if want(r.id, r.server.name) {
				all = append(all, journal.Traced{Timeline: r.trace, Request: tracedInfo(st.info(r, st.now(r)))})
			}
		}
	})
	return journal.Read(all, f.Max, h.redactor)
}

// tracedInfo returns what a timeline shows of its request. That includes neither arguments nor anything that the server
// has said.
func tracedInfo(i event.RequestInfo) event.RequestInfo {
	i.Progress, i.Subject, i.Preview = nil, "", ""
	if i.Task != nil {
		i.Task = &event.TaskInfo{ID: i.Task.ID, Status: i.Task.Status}
	}
	return i
}

// newTrace makes the timeline for a message of a server that may become a request. The method question attaches it to
// the request.
func (h *fixed) newTrace() any { return h.record.NewTimeline() }

// tap observes the messages of all requests. It is called with locks of the engine held.
func (h *fixed) tap(trace any, m jsonrpc.Observed) {
	if t, ok := trace.(*journal.Timeline); ok && t != nil {
		t.Message(m)
	}
}

// traced adds what the core has ordered to the timelines and spans that it concerns.
func (st *state) traced(e core.Effect) {
	n, callers := journal.Concerns(e)
	for r := st.requests[n]; r != nil; r = r.parent {
		r.trace.Ordered(e)
		r.span.Ordered(e)
		if !callers {
			return
		}
	}
}

// tracedEnd adds the end of r to its timeline.
func (st *state) tracedEnd(r *request, e *ending) {
	if e.state == event.StateCancelled && e.sending.Delivery > event.DeliveryNotNeeded {
		r.trace.Delivered(e.sending)
	}
	err := e.err
	if e.state == event.StateCancelled {
		if err = r.cause.Err; err == nil {
			err = &event.Error{Code: event.CodeCancelled, Reason: event.ReasonCancelled,
				Meta: map[string]string{"origin": r.cause.Origin.String()}}
		}
	}
	if err != nil {
		r.trace.Failed(err, e.mayContinue)
	}
	i := r.base()
	i.State, i.Cancellation = e.state, e.cancellation
	r.trace.End(tracedInfo(i))
}

// startSpan begins the span of r, if the host wants spans.
func (st *state) startSpan(ctx context.Context, r *request) {
	of := journal.SpanRequest{Method: r.method, Server: r.server.name, ID: r.id, Tool: r.tool,
		Incoming: r.direction == event.Incoming, Start: r.start}
	if r.method == methodGetPrompt {
		of.Prompt = r.subject
	}
	var parent *journal.Span
	if r.parent != nil {
		parent = r.parent.span
	}
	r.span = st.tracer.Start(ctx, parent, of)
}

// endSpan ends the span of r with its outcome.
func (st *state) endSpan(r *request, e *ending) {
	if r.span == nil {
		return
	}
	end := journal.SpanEnd{State: e.state, WireID: r.wireID, Transport: r.server.transport(), McpError: e.mcpError,
		Err: e.err, ToolError: e.isError}
	if e.state == event.StateCancelled {
		end.Cancelled = r.cause
	}
	if session := r.server.session(); session != nil {
		end.Revision = session.Revision()
	}
	r.span.End(end)
}

// TraceBundle returns what a bug report needs besides the timelines, as the JSON members of one object. It holds no
// arguments, environments, headers or URLs with queries, and no text of a server. Secrets that are in it nevertheless
// are removed at the end.
func (h *Hub) TraceBundle() map[string]any { return h.redactor.Members(h.about().Members()) }

// about returns the content of TraceBundle before the secrets are removed.
func (h *Hub) about() *journal.Bundle {
	st := h.lock()
	defer st.unlock()
	b := &journal.Bundle{Version: h.version, HubID: h.id, Began: h.record.Began(), Problems: h.config.Problems(),
		OpenRequests: st.core.Len(), Windows: h.windows.count(), Flight: h.record.Flight()}
	for _, s := range st.servers {
		b.Servers = append(b.Servers, journal.BundledServer{ServerInfo: s.info(), Fault: faultOf(s.cause),
			Connected: s.up()})
	}
	return b
}
