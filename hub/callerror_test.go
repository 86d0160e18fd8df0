package hub

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// quietServer returns a server that was never started.
func quietServer() *server {
	h := New(Options{})
	h.redactor.Add(secret)
	return h.bareServer("s")
}

// cancelled is the engine's error of a cancelled call, after its cancel came to these ends.
func cancelled(told ...error) error {
	err, tell := jsonrpc.NewCancelledError(errors.New("the user"))
	for _, t := range told {
		tell(t)
	}
	return fmt.Errorf("call: %w", err)
}

func failed(delivery transport.Delivery) *transport.HTTPError {
	return &transport.HTTPError{Status: 502, Text: "bad " + secret, Delivery: delivery, Sent: 1}
}

// What may be said of a cancel: that the server has it is said only when that is known, and that it stopped only when
// nothing else can be.
func TestCancelled(t *testing.T) {
	notNeeded := event.Sending{Delivery: event.DeliveryNotNeeded}
	fails := func(why string) event.Sending { return event.Sending{Delivery: event.DeliveryFailed, Err: why} }
	gone := fails("the connection to the server ended first")
	for name, row := range map[string]struct {
		call   endedCall
		unsent bool // there was no session
		err    error
		want   event.Sending
		mayGo  bool
	}{
		"never handed to the engine": {endedCall{}, true, errors.New("x"), notNeeded, false},
		"on its way": {endedCall{handed: true}, false, cancelled(),
			event.Sending{Delivery: event.DeliveryPending}, true},
		"delivered": {endedCall{handed: true}, false, cancelled(nil),
			event.Sending{Delivery: event.DeliveryDelivered}, true},
		"delivered, and told again": {endedCall{handed: true}, false, cancelled(nil, errors.New("late")),
			event.Sending{Delivery: event.DeliveryDelivered}, true},
		"never written": {endedCall{handed: true}, false, cancelled(jsonrpc.ErrCancelNotNeeded), notNeeded, false},
		"refused by the other end": {endedCall{handed: true}, false, cancelled(failed(transport.MayHaveRun)),
			fails("HTTP status 502 (Bad Gateway): bad [redacted]"), true},
		"answered with an error": {endedCall{handed: true}, false,
			cancelled(&jsonrpc.Error{Code: -32601, Message: secret}),
			fails("the server answered with error -32601: [redacted]"), true},
		"stalled": {endedCall{handed: true}, false, cancelled(jsonrpc.ErrStalled),
			fails("the server has stopped reading its input"), true},
		"closed":            {endedCall{handed: true}, false, cancelled(jsonrpc.ErrClosed), gone, true},
		"without a session": {endedCall{handed: true}, true, cancelled(), notNeeded, false},
		"the server had answered": {endedCall{handed: true, task: true}, false, &jsonrpc.Error{Code: 1}, notNeeded,
			false},
		"its answer was too large": {endedCall{handed: true}, false, &jsonrpc.ResultTooLargeError{}, notNeeded, false},
		"its answer was none":      {endedCall{handed: true}, false, &jsonrpc.InvalidResponseError{}, notNeeded, false},
		"the server ended its task": {endedCall{handed: true, task: true}, false, &mcp.TaskCancelledError{},
			notNeeded, false},
		"a task without connection": {endedCall{handed: true, task: true}, false, jsonrpc.ErrClosed, gone, true},
		"surely not sent":           {endedCall{handed: true}, false, failed(transport.NotSent), notNeeded, false},
		"perhaps sent": {endedCall{handed: true}, false, failed(transport.MayHaveRun),
			fails("HTTP status 502 (Bad Gateway): bad [redacted]"), true},
		"its process is gone": {endedCall{handed: true}, false, &mcp.EndedError{Err: jsonrpc.ErrClosed, ProcessGone: true},
			gone, false},
		"its connection is gone": {endedCall{handed: true}, false, &mcp.EndedError{Err: jsonrpc.ErrClosed}, gone, true},
		"a fault of the hub": {endedCall{handed: true}, false, event.Fail(event.CodeInternal, event.ReasonProtocolError,
			[]string{"server_may_continue", "true"}, "it broke"), fails("it broke"), true},
		"stopped before it was sent": {endedCall{handed: true}, false, event.Fail(event.CodeCancelled,
			event.ReasonCancelled, nil, "stopped"), notNeeded, false},
	} {
		t.Run(name, func(t *testing.T) {
			row.call.server = quietServer()
			got, mayGo := row.call.cancelled(!row.unsent, row.err)
			if diff := cmp.Diff(row.want, got); diff != "" || mayGo != row.mayGo {
				t.Errorf("may continue: %v (-want +got):\n%s", mayGo, diff)
			}
		})
	}
	long := endedCall{server: quietServer(), handed: true}
	if s,
		_ := long.cancelled(true, cancelled(errors.New(strings.Repeat("x", 1<<20)))); len(s.Err) > bounds.ErrorTextBytes {
		t.Errorf("why it failed is told in %d bytes", len(s.Err))
	}
}

// What ended a call, for programs: one reason for each, whether the server may go on, and no secret in any.
func TestError(t *testing.T) {
	own := event.Fail(event.CodeUnavailable, event.ReasonDraining, nil, "bye")
	for name, row := range map[string]struct {
		err    error
		code   event.Code
		reason string
		mayGo  string // server_may_continue
		says   string
	}{
		"the hub's own": {own, event.CodeUnavailable, event.ReasonDraining, "", "bye"},
		"unknown":       {errors.New(secret), event.CodeInternal, event.ReasonProtocolError, "", "[redacted]"},
		"nothing was chosen": {&mcp.DeclinedError{}, event.CodeFailedPrecondition, event.ReasonInputDeclined, "",
			"not given"},
		"wrong arguments": {&mcp.ArgumentsError{Text: "arguments is no object"}, event.CodeInvalidArgument,
			event.ReasonInvalidArguments, "", "no object"},
		"not offered": {&mcp.CapabilityError{Capability: "tasks"}, event.CodeFailedPrecondition, event.ReasonNotOffered, "",
			"does not offer tasks"},
		"a task that is lost": {&mcp.TaskLostError{TaskID: "t", Err: &jsonrpc.Error{}}, event.CodeUnavailable,
			event.ReasonTaskLost, "true", ""},
		"surely not sent": {failed(transport.NotSent), event.CodeUnavailable, event.ReasonExchangeFailed, "false",
			"bad [redacted]"},
		"perhaps sent": {failed(transport.MayHaveRun), event.CodeUnavailable, event.ReasonExchangeFailed, "true",
			"may still go on, and was sent 3 times"},
		"an answer too long over HTTP": {&transport.HTTPError{Text: "long", Err: transport.ErrTooLong},
			event.CodeResourceExhausted, event.ReasonResultTooLarge, "", "long"},
		"a full queue": {&jsonrpc.QueueFullError{}, event.CodeResourceExhausted, event.ReasonQueueFull, "", ""},
		"an answer too long": {&jsonrpc.ResultTooLargeError{}, event.CodeResourceExhausted, event.ReasonResultTooLarge, "",
			"maxMessageBytes"},
		"no room for an answer": {&jsonrpc.ResultTooLargeError{Err: &bounds.Exceeded{Server: "s", What: "results"}},
			event.CodeResourceExhausted, event.ReasonBoundExceeded, "", "results"},
		"a bound of the protocol": {&mcp.BoundError{Text: "the form is too deep"}, event.CodeResourceExhausted,
			event.ReasonBoundExceeded, "", "too deep"},
		"its process is gone": {&mcp.EndedError{Err: jsonrpc.ErrClosed, Ended: "exit status 3", ProcessGone: true},
			event.CodeUnavailable, event.ReasonServerGone, "",
			"exit status 3; the call may have had effects and was sent 3 times"},
		"its connection is gone": {jsonrpc.ErrClosed, event.CodeUnavailable, event.ReasonServerGone, "true",
			"its connection closed"},
		"it stopped reading": {errors.Join(jsonrpc.ErrStalled, jsonrpc.ErrClosed), event.CodeUnavailable,
			event.ReasonServerGone, "true", "has stopped reading"},
	} {
		t.Run(name, func(t *testing.T) {
			call := endedCall{server: quietServer(), id: "r1", what: `tool "t"`, resent: 2, handed: true}
			e := call.Error(row.err)
			if e.Code != row.code || e.Reason != row.reason || e.Meta["server_may_continue"] != row.mayGo ||
				!strings.Contains(e.Message, row.says) || strings.Contains(e.Message, secret) {
				t.Errorf("%s %s, may continue: %q: %s", e.Code, e.Reason, e.Meta["server_may_continue"], e.Message)
			}
			if row.err != own && (e.Meta["server"] != "s" || !errors.Is(e, row.err) && e.Reason != event.ReasonNotOffered) {
				t.Errorf("it says %v, and is not %v", e.Meta, row.err)
			}
		})
	}
}

// The error of an exchange that is no request of its own has no request id and no secret. It says whether the server
// may go on only if the exchange failed on its way.
func TestExchange(t *testing.T) {
	for _, row := range []struct {
		delivery transport.Delivery
		mayGo    bool
	}{{transport.MayHaveRun, true}, {transport.NotSent, false}} {
		e := exchangeFailed(quietServer(), "no tools", failed(row.delivery))
		if _, has := e.Meta["request_id"]; has || e.Reason != event.ReasonExchangeFailed || e.Meta["http_status"] != "502" ||
			e.Meta["server_may_continue"] != fmt.Sprint(row.mayGo) ||
			strings.Contains(e.Message, "may still go on") != row.mayGo || strings.Contains(e.Message, secret) {
			t.Errorf("the exchange failed with %v, %v; the server may go on: %v", e, e.Meta, row.mayGo)
		}
	}
	e := exchangeFailed(quietServer(), "no tools", errors.New(secret))
	if _, has := e.Meta["server_may_continue"]; has || e.Reason != event.ReasonServerFailed ||
		e.Message != "no tools: [redacted]" {
		t.Errorf("the exchange failed with %v, %v", e, e.Meta)
	}
}

// Only what surely did not run, because its session was over, goes to a new one.
func TestNotRun(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"session over":            {&transport.HTTPError{Err: transport.ErrSessionExpired}, true},
		"session over, in a wrap": {fmt.Errorf("x: %w", &transport.HTTPError{Err: transport.ErrSessionExpired}), true},
		"session over, perhaps run": {&transport.HTTPError{Err: transport.ErrSessionExpired,
			Delivery: transport.MayHaveRun}, false},
		"another refusal":   {failed(transport.NotSent), false},
		"the session alone": {transport.ErrSessionExpired, false},
		"no error":          {nil, false},
	} {
		if got := notRun(row.err); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
