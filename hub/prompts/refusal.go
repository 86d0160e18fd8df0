package prompts

import (
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Unasked returns the error for a question about a server that no window can show.
func (w *Words) Unasked(server string, p *event.PromptInfo) *event.Error {
	e := event.Unasked(fmt.Sprintf("server %q wants %s", server, w.Wants), p.Kind, "attach a window that shows "+w.Shows,
		"server", server)
	if p.Input != nil {
		e.Meta["input"] = bounds.Printable(p.Input.InputID)
	}
	return e
}

// Stopped returns the error for a question about a server that was stopped meanwhile.
func (w *Words) Stopped(server string) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", server},
		"server %q was stopped while it wanted %s", server, w.Wants)
}

// ErrTimeout returns the error for a question that nobody answered in time. where names the place of the server's
// config.
func ErrTimeout(p *event.PromptInfo, limit time.Duration, where string) *event.Error {
	return event.Fail(event.CodeDeadlineExceeded, event.ReasonHumanTimeout,
		[]string{"server", p.Server, "request_id", p.RequestID, "setting", "timeouts.human", "limit", limit.String()},
		"nobody answered the %s question of server %q within %s; raise timeouts.human of the server%s or of the call",
		p.Kind, p.Server, limit, where)
}

// ErrRefused returns the error for a tool call whose approval ended with a choice other than yes, nil for any other
// end.
func ErrRefused(server, tool, requestID string, cause event.PromptCause, reason string) error {
	meta := []string{"server", server, "request_id", requestID, "reason", reason}
	switch {
	case cause == event.CauseDeclined && reason != "":
		return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByUser, meta,
			"the user denied tool %q of server %q: %s", tool, server, bounds.Printable(reason))
	case cause == event.CauseDeclined:
		return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByUser, meta,
			"the user denied tool %q of server %q", tool, server)
	case cause == event.CauseDismissed:
		return event.Fail(event.CodePermissionDenied, event.ReasonDismissedByUser, meta,
			"the user closed the question about tool %q of server %q without a choice; it was not called", tool, server)
	}
	return nil
}

// ErrClosed returns the error for an answer that came too late.
func ErrClosed(id string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonPromptClosed, []string{"prompt_id", id},
		"prompt %q is closed already; the answer changed nothing", id)
}

// ErrNotFound returns the error for an answer to a prompt that never existed.
func ErrNotFound(id string) *event.Error {
	id = bounds.Printable(id)
	return event.Fail(event.CodeNotFound, event.ReasonPromptNotFound, []string{"prompt_id", id},
		"there is no prompt %q", id)
}

// ErrKind returns the error for an answer of a window that has not been shown the prompt.
func ErrKind(window string, p *event.PromptInfo) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonPromptKind, []string{"prompt_id", p.ID},
		"window %q has not declared that it shows %s prompts", bounds.Printable(window), p.Kind)
}

// ErrFoldersMissing returns the error for a yes for the workspace folders of a window that has none.
func ErrFoldersMissing(window string, p *event.PromptInfo) *event.Error {
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent,
		[]string{"prompt_id", p.ID, "window_id", window},
		"window %q has no workspace folders, so nothing can be allowed for them; "+
			"set its roots first or choose another scope; the prompt is still open", bounds.Printable(window))
}
