package hub

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
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
func errNoApprover(r *request) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNoApprover,
		[]string{"server", r.server.name, "request_id", r.id, "setting",
			"approvals"},
		"tool %q of server %q needs an approval and no window can show the question; attach a window that shows tool approvals, set approvals%s, or call it preapproved",
		r.tool, r.server.name, r.server.Where())
}

// errUnseenChange: h.mu is held.
func errUnseenChange(r *request) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNoApprover,
		[]string{"server", r.server.name, "request_id", r.id, "setting",
			"approvals"},
		"the definition of tool %q of server %q is not the one that was called before, and no window can show the change; attach a window that shows tool approvals, or call it preapproved",
		r.tool, r.server.name)
}

// errCancelled is what the caller of a request that was cancelled is told. h.mu is held.
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

// what names what r asks for, in error texts.
func (r *request) what() string {
	switch r.method {
	case methodReadResource:
		return fmt.Sprintf("resource %q", bounds.Printable(r.subject))
	case methodGetPrompt:
		return fmt.Sprintf("prompt template %q", bounds.Printable(r.subject))
	}
	return fmt.Sprintf("tool %q", r.tool)
}

// callError says what ended a call, for people and programs.
func callError(r *request, err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](err); ok {
		return he
	}
	meta := []string{"server", r.server.name, "request_id", r.id}
	e := event.Fail(event.CodeInternal, event.ReasonProtocolError, meta, "%s of server %q: %s", r.what(), r.server.name,
		r.server.Quote(err.Error()))
	e.Err = err
	if declined, ok := errors.AsType[*mcp.DeclinedError](err); ok {
		e.Code, e.Reason = event.CodeFailedPrecondition, event.ReasonInputDeclined
		e.Message = fmt.Sprintf("%s of server %q needed an answer that was not given: %s", r.what(), r.server.name,
			r.server.Quote(declined.Error()))
		return e
	}
	if _, ok := errors.AsType[*mcp.ArgumentsError](err); ok {
		e.Code, e.Reason = event.CodeInvalidArgument, event.ReasonInvalidArguments
		return e
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return errNotOffered(r.server, refused)
	}
	if _, ok := errors.AsType[*mcp.TaskLostError](err); ok {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonTaskLost
		e.Meta["server_may_continue"] = "true"
		return e
	}
	if he := exchangeError(r.server, r.id, fmt.Sprintf("%s of server %q", r.what(), r.server.name), r.resent,
		err); he != nil {
		return he
	}
	if _, ok := errors.AsType[*jsonrpc.QueueFullError](err); ok {
		e.Code, e.Reason = event.CodeResourceExhausted, event.ReasonQueueFull
		return e
	}
	if _, ok := errors.AsType[*jsonrpc.ResultTooLargeError](err); ok {
		e.Code, e.Reason = event.CodeResourceExhausted, event.ReasonResultTooLarge
		e.Meta["setting"] = "maxMessageBytes"
		return e
	}
	if he := r.server.MemoryError(r.id, err); he != nil {
		return he
	}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok || errors.Is(err, jsonrpc.ErrClosed) {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonServerGone
		if ok && ended.ProcessGone {
			e.Message = fmt.Sprintf("server %q ended while %s ran: %s; the call may have had effects and %s", r.server.name,
				r.what(), r.server.Quote(howEnded(err)), timesSent(1+r.resent))
			return e
		}
		e.Meta["server_may_continue"] = "true"
		e.Message = fmt.Sprintf(
			"the connection to server %q ended while %s ran: %s; the call may have had effects, may still go on, and %s",
			r.server.name, r.what(), r.server.Quote(howEnded(err)), timesSent(1+r.resent))
		return e
	}
	return e
}

// howEnded says how a connection ended under a call.
func howEnded(err error) string {
	var how []string
	if errors.Is(err, jsonrpc.ErrStalled) {
		how = append(how, "it has stopped reading its input")
	}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok && ended.Ended != "" {
		how = append(how, ended.Ended)
	}
	if len(how) == 0 {
		return "its connection closed"
	}
	return strings.Join(how, "; ")
}

// exchangeError is the error of a request that failed below JSON-RPC, nil for any other. requestID is "" for what is no
// request of its own; what begins the text; before is how often it was sent to sessions that were over.
func exchangeError(s *server, requestID, what string, before int, err error) *event.Error {
	if e := s.SignInError(err); e != nil {
		return e
	}
	if e := boundError(s, requestID, what, err); e != nil {
		return e
	}
	he, ok := errors.AsType[*transport.HTTPError](err)
	if !ok {
		return nil
	}
	meta := []string{"server", s.name}
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
	}
	if errors.Is(he, transport.ErrTooLong) {
		e := event.Fail(event.CodeResourceExhausted, event.ReasonResultTooLarge, append(meta, "setting", "maxMessageBytes"),
			"%s: %s", what,
			s.Quote(he.Text))
		e.Err = err
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonExchangeFailed, append(meta,
		"server_may_continue", strconv.FormatBool(he.Delivery == transport.MayHaveRun)), "%s: %s", what, s.Quote(he.Error()))
	if he.Status != 0 {
		e.Meta["http_status"] = strconv.Itoa(he.Status)
	}
	if he.Delivery == transport.MayHaveRun {
		e.Message += "; the call may have had effects, may still go on, and " + timesSent(before+he.Sent)
	}
	e.Err = err
	return e
}

// boundError is the error of what went over a bound of the hub, nil for any other.
func boundError(s *server, requestID, what string, err error) *event.Error {
	meta := []string{"server", s.name}
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
	}
	text := ""
	if exceeded, ok := errors.AsType[*bounds.Exceeded](err); ok {
		text, meta = exceeded.Error(), append(meta, "bound", exceeded.What, "limit_bytes", strconv.Itoa(exceeded.Limit))
	} else if over, ok := errors.AsType[*mcp.BoundError](err); ok {
		text = over.Text
	} else {
		return nil
	}
	e := event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, meta, "%s: %s", what, s.Quote(text))
	e.Err = err
	return e
}

// timesSent says whether a call that failed was sent more than once, and what that means: only what surely did nothing
// is sent again (transport.Repeats).
func timesSent(n int) string {
	if n <= 1 {
		return "was not repeated"
	}
	return fmt.Sprintf("was sent %d times, because the server did nothing with it before the last time", n)
}

// notRun tells whether a server has refused a request because it had forgotten the session: then the request has not
// run, and may go to a new one, as often as transport.Repeats says of transport.GroundSessionOver: once.
func notRun(err error) bool {
	he, ok := errors.AsType[*transport.HTTPError](err)
	return ok && he.Delivery == transport.NotSent && errors.Is(err, transport.ErrSessionExpired)
}
