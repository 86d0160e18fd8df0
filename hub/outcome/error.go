package outcome

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
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Call is a request to a server that is over, in the form in which the hub passes it to this package.
type Call struct {
	Server *servers.Server
	ID     string
	What   string // words for its target, for error texts
	Resent int    // how often it was sent again
	Handed bool   // the engine may have sent it
	Task   bool   // a task carries it out
}

// Error returns the error for the end of a call, for people and programs.
func (c *Call) Error(err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](err); ok {
		return he
	}
	meta := []string{"server", c.Server.Name(), "request_id", c.ID}
	e := event.Fail(event.CodeInternal, event.ReasonProtocolError, meta, "%s of server %q: %s", c.What, c.Server.Name(),
		c.Server.Quote(err.Error()))
	e.Err = err
	if declined, ok := errors.AsType[*mcp.DeclinedError](err); ok {
		e.Code, e.Reason = event.CodeFailedPrecondition, event.ReasonInputDeclined
		e.Message = fmt.Sprintf("%s of server %q needed an answer that was not given: %s", c.What, c.Server.Name(),
			c.Server.Quote(declined.Error()))
		return e
	}
	if _, ok := errors.AsType[*mcp.ArgumentsError](err); ok {
		e.Code, e.Reason = event.CodeInvalidArgument, event.ReasonInvalidArguments
		return e
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return NotOffered(c.Server, refused)
	}
	if _, ok := errors.AsType[*mcp.TaskLostError](err); ok {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonTaskLost
		e.Meta["server_may_continue"] = "true"
		return e
	}
	if he := exchangeError(c.Server, c.ID, fmt.Sprintf("%s of server %q", c.What, c.Server.Name()), c.Resent,
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
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok || errors.Is(err, jsonrpc.ErrClosed) {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonServerGone
		if ok && ended.ProcessGone {
			e.Message = fmt.Sprintf("server %q ended while %s ran: %s; the call may have had effects and %s", c.Server.Name(),
				c.What, c.Server.Quote(howEnded(err)), timesSent(1+c.Resent))
			return e
		}
		e.Meta["server_may_continue"] = "true"
		e.Message = fmt.Sprintf(
			"the connection to server %q ended while %s ran: %s; the call may have had effects, may still go on, and %s",
			c.Server.Name(), c.What, c.Server.Quote(howEnded(err)), timesSent(1+c.Resent))
		return e
	}
	return e
}

// howEnded returns words for how a connection ended during a call.
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

// Exchange returns the error for a short exchange with a server, such as a list or a completion, that is not a request
// of its own. what is the beginning of the text.
func Exchange(s *servers.Server, what string, err error) *event.Error {
	if e := exchangeError(s, "", what, 0, err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.Name()}, "%s: %s", what,
		s.Quote(err.Error()))
	e.Err = err
	return e
}

// NotOffered returns the error for a request that was not sent because the server does not declare the capability.
func NotOffered(s *servers.Server, err *mcp.CapabilityError) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", s.Name(), "capability", err.Capability},
		"server %q does not offer %s", s.Name(), err.Capability)
}

// exchangeError returns the error for a request that failed below JSON-RPC, nil for any other failure. requestID is ""
// for an exchange that is not a request of its own. what is the beginning of the text. before is how often the request
// was sent on sessions that were over.
func exchangeError(s *servers.Server, requestID, what string, before int, err error) *event.Error {
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
	meta := []string{"server", s.Name()}
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

// boundError returns the error for a failure by a bound of the hub, nil for any other failure.
func boundError(s *servers.Server, requestID, what string, err error) *event.Error {
	meta := []string{"server", s.Name()}
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

// timesSent returns words for how often a failed call was sent. Only a call that certainly did nothing is sent again
// (transport.Repeats).
func timesSent(n int) string {
	if n <= 1 {
		return "was not repeated"
	}
	return fmt.Sprintf("was sent %d times, because the server did nothing with it before the last time", n)
}

// Disconnected reports whether a call failed because its connection or its session had ended. Over HTTP the exchange
// fails a moment before the connection does, and everything that the call caused ends for the same reason.
func Disconnected(e *event.Error) bool {
	return e != nil && (e.Reason == event.ReasonServerGone || errors.Is(e, transport.ErrSessionExpired))
}

// NotRun reports whether a server has refused a request because it had forgotten the session. Then the request has not
// run, and may be sent on a new session, as often as transport.Repeats allows for transport.GroundSessionOver: once.
func NotRun(err error) bool {
	he, ok := errors.AsType[*transport.HTTPError](err)
	return ok && he.Delivery == transport.NotSent && errors.Is(err, transport.ErrSessionExpired)
}

// lastWordsWait bounds how long the end of a call waits to learn how its server ended.
const lastWordsWait = 2 * time.Second

// LastWords waits for the end of the session and returns its error, which says how the server ended. That is known a
// moment later than err, once the process is gone. If it takes too long, or ctx ends, LastWords returns err.
func LastWords(ctx context.Context, session *mcp.Session, err error) error {
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
