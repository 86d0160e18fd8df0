package hub

import (
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
)

// keep stores the arguments and the result of r. Questions of servers and people's answers are not stored, since forms
// may contain secrets.
func (st *state) keep(r *request, e *ending) {
	if r.carried {
		st.kept.Keep(&journal.KeptRequest{ID: r.id, Server: r.server.name, Launch: r.launch, Tool: r.tool,
			Arguments: r.arguments, Result: e.raw})
	}
}

// ReadRequest returns a piece of the arguments or of the result of an ended tool call, read resource or filled prompt
// template, byte for byte. If several requests had this id, the latest counts. Of an open request only the arguments
// can be read. Errors: NOT_FOUND REQUEST_NOT_KEPT, NO_RESULT; FAILED_PRECONDITION REQUEST_OPEN.
func (h *Hub) ReadRequest(id string, part journal.Part, offset int64, limit int) (journal.Piece, error) {
	open, ours, given := false, false, ""
	h.update(func(st *state) {
		if r := st.requests[st.core.ByID(id)]; r != nil {
			open, ours, given = true, r.carried, r.arguments
		}
	})
	if ours && part == journal.Arguments {
		return journal.PieceOf(given, offset, limit), nil
	}
	p, err := h.kept.Read(id, part, offset, limit)
	if err != nil && open {
		return p, event.Fail(event.CodeFailedPrecondition, event.ReasonRequestOpen, []string{"request_id", id},
			"request %q has not ended yet: read it then", id)
	}
	return p, err
}
