package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// lastWordsWait bounds how long the end of a call waits for how its server ended.
const lastWordsWait = 2 * time.Second

// lastWords is err with how the server ended, which is known once its process is gone: a moment later.
func lastWords(ctx context.Context, session *mcp.Session, err error) error {
	late := time.NewTimer(lastWordsWait)
	defer late.Stop()
	select {
	case <-session.Done():
		return session.Err()
	case <-ctx.Done():
	case <-late.C:
	}
	return err
}

// errNoApprover: h.mu is held.
func errNoApprover(r *request) *Error {
	return fail(CodeFailedPrecondition, ReasonNoApprover, []string{"server", r.server.name, "request_id", r.id, "setting", "approvals"},
		"tool %q of server %q needs an approval and no window can show the question; attach a window that shows tool approvals, set approvals%s, or call it preapproved",
		r.tool, r.server.name, r.server.where())
}

func errCancelled(r *request) *Error {
	text := "was cancelled by " + r.cause.Origin.String()
	if r.cause.Reason != "" {
		text += ": " + r.cause.Reason
	}
	return fail(CodeCancelled, ReasonCancelled, []string{"server", r.server.name, "request_id", r.id, "origin", r.cause.Origin.String(), "cancel_reason", r.cause.Reason},
		"the call of tool %q of server %q %s", r.tool, r.server.name, text)
}

// callError says what ended a call, for people and programs.
func callError(r *request, err error) *Error {
	if he, ok := errors.AsType[*Error](err); ok {
		return he
	}
	meta := []string{"server", r.server.name, "request_id", r.id}
	e := fail(CodeInternal, ReasonProtocolError, meta, "tool %q of server %q: %v", r.tool, r.server.name, err)
	e.Err = err
	if declined, ok := errors.AsType[*mcp.DeclinedError](err); ok {
		e.Code, e.Reason = CodeFailedPrecondition, ReasonInputDeclined
		e.Message = fmt.Sprintf("tool %q of server %q needed an answer that was not given: %v", r.tool, r.server.name, declined)
		return e
	}
	if _, ok := errors.AsType[*mcp.ArgumentsError](err); ok {
		e.Code, e.Reason = CodeInvalidArgument, ReasonInvalidArguments
		return e
	}
	if _, ok := errors.AsType[*jsonrpc.QueueFullError](err); ok {
		e.Code, e.Reason = CodeResourceExhausted, ReasonQueueFull
		return e
	}
	if _, ok := errors.AsType[*jsonrpc.ResultTooLargeError](err); ok {
		e.Code, e.Reason = CodeResourceExhausted, ReasonResultTooLarge
		e.Meta["setting"] = "maxMessageBytes"
		return e
	}
	if _, ok := errors.AsType[*mcp.EndedError](err); ok || errors.Is(err, jsonrpc.ErrClosed) {
		e.Code, e.Reason = CodeUnavailable, ReasonServerGone
		how := "its connection closed"
		if ended, ok := errors.AsType[*mcp.EndedError](err); ok && ended.Ended != "" {
			how = ended.Ended
		}
		e.Message = fmt.Sprintf("server %q ended while tool %q ran: %s; the call may have had effects and was not repeated", r.server.name, r.tool, how)
		return e
	}
	return e
}
