package hub

import (
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
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

// cancelled returns what is known at the end of a cancelled request: how its cancel was sent, and whether the server
// may go on with the request. err is how the request ended in the engine. sent says whether there is a session on which
// the request was to be sent. The server may go on unless nothing was sent, or it has answered, or it has said that it
// stopped, or its process is gone. That it received the cancel is no reason to say that it has stopped: 2026-07-28
// forbids a server to go on (basic/patterns/cancellation), but real servers do so.
func (c *endedCall) cancelled(sent bool, err error) (s event.Sending, mayContinue bool) {
	s.Delivery = event.DeliveryNotNeeded
	if !c.handed {
		return s, false
	}
	if ce, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && sent {
		s = sendingOf(c.server, ce)
		return s, s.Delivery != event.DeliveryNotNeeded
	}
	own, isOwn := errors.AsType[*event.Error](err)
	he, isHTTP := errors.AsType[*transport.HTTPError](err)
	ended, isEnd := errors.AsType[*mcp.EndedError](err)
	switch {
	case serverAnswered(err) && !isOwn:
		return s, false
	case c.task: // the task outlives its connection, and could not be cancelled on it
		return event.Sending{Delivery: event.DeliveryFailed, Err: notSentEnded}, true
	case isHTTP:
		if he.Delivery == transport.NotSent {
			return s, false
		}
		return event.Sending{Delivery: event.DeliveryFailed, Err: whyNotSent(c.server, err)}, true
	case isEnd || errors.Is(err, jsonrpc.ErrClosed):
		return event.Sending{Delivery: event.DeliveryFailed, Err: whyNotSent(c.server, err)}, !isEnd || !ended.ProcessGone
	case isOwn && own.Meta["server_may_continue"] == "true": // a fault of the hub
		return event.Sending{Delivery: event.DeliveryFailed, Err: own.Message}, true
	}
	return s, false // the request was stopped before it was sent
}

// serverAnswered reports whether err is the server's own answer to the request, or wraps it.
func serverAnswered(err error) bool {
	var (
		wire      *jsonrpc.Error
		large     *jsonrpc.ResultTooLargeError
		invalid   *jsonrpc.InvalidResponseError
		cancelled *mcp.TaskCancelledError
	)
	return errors.As(err, &wire) || errors.As(err, &large) || errors.As(err, &invalid) || errors.As(err, &cancelled)
}

// sendingOf converts what the engine reports about a cancel.
func sendingOf(s *server, ce *jsonrpc.CancelledError) event.Sending {
	switch d, failure := ce.Delivery(); d {
	case jsonrpc.Pending:
		return event.Sending{Delivery: event.DeliveryPending}
	case jsonrpc.Delivered:
		return event.Sending{Delivery: event.DeliveryDelivered}
	case jsonrpc.Failed:
		return event.Sending{Delivery: event.DeliveryFailed, Err: whyNotSent(s, failure)}
	}
	return event.Sending{Delivery: event.DeliveryNotNeeded}
}

// The reasons why a cancel does not reach its server, in words for people.
const (
	notSentEnded   = "the connection to the server ended first"
	notSentStalled = "the server has stopped reading its input"
)

// whyNotSent returns the reason why a cancel was not delivered, in words for people. The text is short, since one
// snapshot may hold a thousand of them.
func whyNotSent(s *server, err error) string {
	he, isHTTP := errors.AsType[*transport.HTTPError](err)
	we, isWire := errors.AsType[*jsonrpc.Error](err)
	switch {
	case isHTTP:
		return bounds.Reason(s.quote(he.Error()))
	case isWire:
		return bounds.Reason(s.quote(fmt.Sprintf("the server answered with error %d: %s", we.Code, we.Message)))
	case errors.Is(err, jsonrpc.ErrStalled):
		return notSentStalled
	case errors.Is(err, jsonrpc.ErrClosed), errors.Is(err, transport.ErrHTTPClosed),
		errors.Is(err, transport.ErrSessionExpired):
		return notSentEnded
	case err == nil:
		return ""
	}
	return bounds.Reason(s.quote(err.Error()))
}
