package hub

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
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
	r := st.requests[st.core.ByID(id)]
	if r != nil {
		st.seeWithdrawals(r)
	}
	got := st.apply(core.CancelAsked{ID: id, Server: st.canonical(server), Cause: cause})
	switch {
	case got.refused == core.Uncancellable:
		return 0, event.Fail(event.CodeFailedPrecondition, event.ReasonUncancellable,
			[]string{"request_id", id, "server", r.server.name},
			"the start of server %q cannot be cancelled as a request; stop the server instead", r.server.name)
	case got.outcome == event.OutcomeUnknown && r == nil:
		st.log.Info("cancel of an unknown request", "request_id", bounds.Printable(id), "origin", cause.Origin.String(),
			"reason", bounds.Printable(cause.Reason))
	}
	return got.outcome, nil
}

// CancelRequests cancels every open request of a scope and returns their ids. Requests of a server count as requests to
// it.
func (h *Hub) CancelRequests(scope CancelScope, reason string, origin event.Origin) []string {
	cause := &event.CancelCause{Origin: origin, Reason: bounds.Reason(reason)}
	st := h.lock()
	defer st.unlock()
	var ids []string
	for _, r := range st.cancelScope(core.Scope{All: scope.All, Name: st.canonical(scope.Server), Label: scope.TaskLabel},
		cause) {
		ids = append(ids, r.id)
	}
	return ids
}
