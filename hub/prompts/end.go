package prompts

import (
	"errors"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// Withdrawn returns how a question of a server closes whose context has ended with cause, and the cause for its
// request.
func Withdrawn(cause error) (closes event.PromptCause, reason string, ends *event.CancelCause) {
	if w, ok := errors.AsType[*jsonrpc.WithdrawnError](cause); ok {
		reason = bounds.Reason(w.Reason)
		return event.CauseWithdrawn, reason, &event.CancelCause{Origin: event.OriginServer, Reason: reason}
	}
	if cc, ok := errors.AsType[*event.CancelCause](cause); ok {
		if cc.Origin == event.OriginShutdown {
			return event.CauseShutdown, cc.Reason, cc
		}
		return event.CauseParent, cc.Reason, &event.CancelCause{Origin: event.OriginParent, Reason: cc.Reason}
	}
	if _, ok := errors.AsType[*mcp.ElicitationCompleted](cause); ok {
		return event.CauseSuperseded, "the server reports that the page is done",
			&event.CancelCause{Origin: event.OriginServer}
	}
	if _, ok := errors.AsType[*mcp.SiblingError](cause); ok {
		reason = "another question of the same call ended it"
		return event.CauseParent, reason, &event.CancelCause{Origin: event.OriginParent, Reason: reason}
	}
	return event.CauseServerGone, core.ConnectionLost,
		&event.CancelCause{Origin: event.OriginTransport, Reason: core.ConnectionLost}
}

// SignInOver returns how the question of a sign-in closes that has ended with cause. cameBack reports whether the
// sign-in succeeded.
func SignInOver(cause error) (closes event.PromptCause, origin event.Origin, reason string, cameBack bool) {
	if _, cameBack = errors.AsType[*signin.Completed](cause); cameBack {
		return event.CauseSuperseded, event.OriginUser, "the browser has come back", true
	}
	switch {
	case errors.Is(cause, signin.ErrSignedOut):
		return event.CauseParent, event.OriginHost, "the user signed out", false
	case errors.Is(cause, signin.ErrClosed):
		return event.CauseParent, event.OriginHost, "the server was removed from the config or changed there", false
	}
	return event.CauseParent, event.OriginParent, "nobody waits for the sign-in any more", false
}
