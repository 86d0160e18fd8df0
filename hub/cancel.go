package hub

import (
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// CancelRequest cancels one request in any state. It is idempotent: for a request that is over or unknown it returns an
// outcome, not an error. server, if not "", must be the request's. The only error is for the start of a session, which
// MCP does not let a client cancel (basic/utilities/cancellation, every legacy revision).
func (h *Hub) CancelRequest(id, server, reason string, origin event.Origin) (event.Outcome, error) {
	cause := &event.CancelCause{Origin: origin, Reason: bounds.Reason(reason)}
	st := h.lock()
	defer st.unlock()
	return st.cancelByID(id, server, cause)
}

func (st *state) cancelByID(id, server string, cause *event.CancelCause) (event.Outcome, error) {
	server = st.canonical(server)
	r, ok := st.requests[id]
	switch {
	case ok && server != "" && r.server.name != server:
		return event.OutcomeUnknown, nil
	case ok && r.uncancellable:
		return 0, event.Fail(event.CodeFailedPrecondition, event.ReasonUncancellable,
			[]string{"request_id", id, "server", r.server.name},
			"the start of server %q cannot be cancelled as a request; stop the server instead", r.server.name)
	case ok:
		st.cancel(r, cause)
		return event.OutcomeCancelling, nil
	case st.ended.Has(id):
		if !strings.Contains(id, "-"+st.mark+"-") {
			// a host may reuse its id, and this may be the cancel of the new call, which the cancel has overtaken
			st.early.Remember(id, server, cause)
		}
		return event.OutcomeAlreadyFinished, nil
	}
	st.early.Remember(id, server, cause)
	st.log.Info("cancel of an unknown request", "request_id", bounds.Printable(id), "origin", cause.Origin.String(),
		"reason", bounds.Printable(cause.Reason))
	return event.OutcomeUnknown, nil
}

// CancelRequests cancels every open request of a scope and returns their ids. Requests of a server count as requests to
// it.
func (h *Hub) CancelRequests(scope CancelScope, reason string, origin event.Origin) []string {
	reason = bounds.Reason(reason)
	st := h.lock()
	defer st.unlock()
	scope.Server = st.canonical(scope.Server)
	var ids []string
	for _, r := range st.requestsInOrder() {
		in := scope.All || scope.Server != "" && r.server.name == scope.Server || scope.TaskLabel != "" &&
			r.taskLabel == scope.TaskLabel
		if !in || r.uncancellable || st.requests[r.id] != r { // a child ends with its parent
			continue
		}
		ids = append(ids, r.id)
		st.cancel(r, &event.CancelCause{Origin: origin, Reason: reason})
	}
	return ids
}

// cancel accepts a cancel: it tells the windows, withdraws what r asked of people, and ends r's context with the cause.
// The goroutine that runs r does the rest. A second cancel changes nothing.
func (st *state) cancel(r *request, cause *event.CancelCause) {
	if r.cancellation != nil || r.state.Terminal() {
		return
	}
	r.cancellation = &event.Cancellation{Origin: cause.Origin, Reason: cause.Reason, Time: time.Now()}
	r.cause = cause
	r.trace.Cancelled(r.cancellation)
	r.span.Cancelled(cause.Origin)
	st.moveTo(r, event.StateCancelling)
	st.log.Info("request cancelled", "request_id", r.id, "server", r.server.name, "method", r.method,
		"direction", r.direction.String(),
		"origin", cause.Origin.String(), "reason", bounds.Printable(cause.Reason))
	st.emit(&event.RequestCancelling{RequestID: r.id, Server: r.server.name, Cancellation: *r.cancellation})
	st.takenBack(r) // what the server withdraws after this counts as withdrawn after the cancel
	r.stop(cause)   // before r's prompts close: the goroutine that waits for an answer must see the cancel, not a no
	st.endOffspring(r, cause)
}
