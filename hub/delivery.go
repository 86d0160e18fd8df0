package hub

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// deliveryLimit is how long a cancel may be on its way before it counts as failed.
const deliveryLimit = 30 * time.Second

// deliveryPatience is how long the end of a cancelled request waits for the outcome of its cancel, so that where a
// server is near the terminal event says it, and no second event is needed. Nothing else waits for that: the cancel is
// on its way, and what the request had asked of people is closed.
const deliveryPatience = 100 * time.Millisecond

// delivery is the cancel of a request that ended while the cancel was on its way to the server. settleDelivery is its
// one transition: from pending to the outcome. Guarded by Hub.mu.
type delivery struct {
	request, server string
	trace           *journal.Timeline
	ended           uint64 // Seq of the terminal event of the request
	clock           *time.Timer
}

// expectDelivery begins to wait for the outcome of the cancel of r, whose terminal event was the last one told. h.mu is
// held.
func (h *Hub) expectDelivery(r *request) {
	d := &delivery{request: r.id, server: r.server.name, trace: r.trace, ended: h.seq}
	r.delivery = d
	h.deliveries[d] = struct{}{}
	d.clock = time.AfterFunc(deliveryLimit, func() {
		defer h.lock().unlock()
		h.settleDelivery(d, event.Sending{Delivery: event.DeliveryFailed,
			Err: fmt.Sprintf("the server did not take it within %s", deliveryLimit)})
	})
}

// settleDelivery tells the outcome of a cancel that was on its way. The first outcome counts; nothing happens for a nil
// d, which was never pending. h.mu is held.
func (h *Hub) settleDelivery(d *delivery, s event.Sending) {
	if _, pending := h.deliveries[d]; !pending {
		return
	}
	delete(h.deliveries, d)
	d.clock.Stop()
	h.log.Info("a cancel that was on its way is settled", "request_id", d.request, "server", d.server,
		"delivery", s.Delivery.String(), "error", bounds.Printable(s.Err))
	d.trace.Delivered(s)
	h.history.Delivered(d.ended, s)
	h.emit(&event.RequestCancelDelivery{RequestID: d.request, Server: d.server, Sending: s})
}

// failDeliveries settles what is still on its way when the hub ends. h.mu is held.
func (h *Hub) failDeliveries(why string) {
	for _, d := range inOrder(h.deliveries, func(d *delivery) uint64 { return d.ended }) {
		h.settleDelivery(d, event.Sending{Delivery: event.DeliveryFailed, Err: why})
	}
}

// awaitDelivery waits for the outcome of the cancel with which a request ended, for a short time.
func awaitDelivery(err error) {
	ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
	if !ok {
		return
	}
	if d, _ := ce.Delivery(); d != jsonrpc.Pending {
		return
	}
	settled := make(chan struct{})
	ce.OnDelivery(func(jsonrpc.Delivery, error) { close(settled) })
	late := time.NewTimer(deliveryPatience)
	defer late.Stop()
	select {
	case <-settled:
	case <-late.C:
	}
}

// followCancel waits for the outcome of a cancel that was on its way when conclude ended r with err. It is called after
// that, without the lock, because the engine may tell the outcome at once.
func (h *Hub) followCancel(r *request, err error) {
	ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
	if r.delivery == nil || !ok {
		return
	}
	ce.OnDelivery(func(jsonrpc.Delivery, error) {
		defer h.lock().unlock()
		h.settleDelivery(r.delivery, sendingOf(r.server, ce))
	})
}

// sendingOf is what the engine knows of a cancel.
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

// The reasons for which a cancel does not get to its server, for people.
const (
	notSentEnded   = "the connection to the server ended first"
	notSentStalled = "the server has stopped reading its input"
)

// whyNotSent is short: up to a thousand of them stand in one snapshot.
func whyNotSent(s *server, err error) string {
	he, isHTTP := errors.AsType[*transport.HTTPError](err)
	we, isWire := errors.AsType[*jsonrpc.Error](err)
	switch {
	case isHTTP:
		return bounds.Reason(s.Quote(he.Error()))
	case isWire:
		return bounds.Reason(s.Quote(fmt.Sprintf("the server answered with error %d: %s", we.Code, we.Message)))
	case errors.Is(err, jsonrpc.ErrStalled):
		return notSentStalled
	case errors.Is(err, jsonrpc.ErrClosed), errors.Is(err, transport.ErrHTTPClosed),
		errors.Is(err, transport.ErrSessionExpired):
		return notSentEnded
	case err == nil:
		return ""
	}
	return bounds.Reason(s.Quote(err.Error()))
}

// cancelKnown is what is known at the end of a cancelled request: of the way of its cancel, and whether the server may
// go on with it. err is how the request ended in the engine, session the one that it was sent on. The server may go on
// unless nothing was sent, or it has answered, said that it stopped, or its process is gone. That it was told changes
// nothing: 2026-07-28 forbids a server to go on (basic/patterns/cancellation), and real ones do so. h.mu is held.
func cancelKnown(r *request, session *mcp.Session, err error) (s event.Sending, mayContinue bool) {
	s.Delivery = event.DeliveryNotNeeded
	if !r.handed {
		return s, false
	}
	if ce, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && session != nil {
		s = sendingOf(r.server, ce)
		return s, s.Delivery != event.DeliveryNotNeeded
	}
	own, isOwn := errors.AsType[*event.Error](err)
	he, isHTTP := errors.AsType[*transport.HTTPError](err)
	ended, isEnd := errors.AsType[*mcp.EndedError](err)
	switch {
	case serverAnswered(err) && !isOwn:
		return s, false
	case r.task != nil: // it outlives its connection, over which it could not be cancelled
		return event.Sending{Delivery: event.DeliveryFailed, Err: notSentEnded}, true
	case isHTTP:
		if he.Delivery == transport.NotSent {
			return s, false
		}
		return event.Sending{Delivery: event.DeliveryFailed, Err: whyNotSent(r.server, err)}, true
	case isEnd || errors.Is(err, jsonrpc.ErrClosed):
		return event.Sending{Delivery: event.DeliveryFailed, Err: whyNotSent(r.server, err)}, !isEnd || !ended.ProcessGone
	case isOwn && own.Meta["server_may_continue"] == "true": // a fault of the hub
		return event.Sending{Delivery: event.DeliveryFailed, Err: own.Message}, true
	}
	return s, false // it was stopped before it was sent
}

// serverAnswered tells whether err is, or comes of, an answer of the server to the request itself.
func serverAnswered(err error) bool {
	var (
		wire      *jsonrpc.Error
		large     *jsonrpc.ResultTooLargeError
		invalid   *jsonrpc.InvalidResponseError
		cancelled *mcp.TaskCancelledError
	)
	return errors.As(err, &wire) || errors.As(err, &large) || errors.As(err, &invalid) || errors.As(err, &cancelled)
}
