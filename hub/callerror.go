package hub

import (
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// errCancelled returns the error for the caller of a cancelled request. The hub's lock is held.
func errCancelled(r *request) *event.Error {
	if r.cause.Err != nil { // a clock ran out
		return r.cause.Err
	}
	text := "was cancelled by " + r.cause.Origin.String()
	if r.cause.Reason != "" {
		text += ": " + bounds.Printable(r.cause.Reason)
	}
	return event.Fail(event.CodeCancelled, event.ReasonCancelled, []string{"server", r.server.name, "request_id", r.id,
		"origin", r.cause.Origin.String(), "cancel_reason", r.cause.Reason},
		"the call of %s of server %q %s", r.what(), r.server.name, text)
}

// what returns the words that name the target of r in error texts.
func (r *request) what() string {
	switch r.method {
	case methodReadResource:
		return fmt.Sprintf("resource %q", bounds.Printable(r.subject))
	case methodGetPrompt:
		return fmt.Sprintf("prompt template %q", bounds.Printable(r.subject))
	}
	return fmt.Sprintf("tool %q", r.tool)
}

// call returns what package outcome needs to know of r.
func (st *state) call(r *request) *outcome.Call {
	return &outcome.Call{Server: r.server.Server, ID: r.id, What: r.what(), Resent: r.resent, Handed: st.now(r).Handed,
		Task: r.task != nil}
}
