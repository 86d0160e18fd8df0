package hub

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// deliveryLimit is how long a cancel may be pending before it counts as failed.
const deliveryLimit = 30 * time.Second

// deliveryPatience is how long the end of a cancelled request waits for the outcome of its cancel. If the server is
// near, the terminal event then holds the outcome, and no second event is needed. Nothing else is delayed: the cancel
// is being sent, and the questions of the request are closed.
const deliveryPatience = 100 * time.Millisecond

// delivery is the cancel of a request that ended before the cancel had reached the server.
type delivery struct {
	request, server string
	trace           *journal.Timeline
	ended           uint64 // number of the event that announced the end of the request

	clock *time.Timer
}

// deliveries are the cancels whose outcome is pending. Only Settle removes one. They are guarded by the hub's lock. A
// method that takes the lock says so; all others are called with it held.
type deliveries struct {
	hub     *Hub
	pending map[*delivery]struct{}
}

// expect adds a pending cancel.
func (t *deliveries) expect(d *delivery) {
	t.pending[d] = struct{}{}
	d.clock = time.AfterFunc(deliveryLimit, func() {
		t.hub.within(func() {
			t.settle(d, event.Sending{Delivery: event.DeliveryFailed,
				Err: fmt.Sprintf("the server did not take it within %s", deliveryLimit)})
		})
	})
}

// settle announces the outcome of a pending cancel. Only the first outcome counts. A nil d, of a cancel that was never
// pending, is ignored.
func (t *deliveries) settle(d *delivery, s event.Sending) {
	if _, pending := t.pending[d]; !pending {
		return
	}
	delete(t.pending, d)
	d.clock.Stop()
	t.hub.log.Info("a cancel that was on its way is settled", "request_id", d.request, "server", d.server,
		"delivery", s.Delivery.String(), "error", bounds.Printable(s.Err))
	d.trace.Delivered(s)
	t.hub.windows.history.Delivered(d.ended, s)
	t.hub.held().emit(&event.RequestCancelDelivery{RequestID: d.request, Server: d.server, Sending: s})
}

// fail settles all pending cancels as failed when the hub ends.
func (t *deliveries) fail(why string) {
	for _, d := range slices.SortedFunc(maps.Keys(t.pending),
		func(a, b *delivery) int { return cmp.Compare(a.ended, b.ended) }) {
		t.settle(d, event.Sending{Delivery: event.DeliveryFailed, Err: why})
	}
}

// follow settles d when the engine reports the outcome of the cancel of a request of s that ended with err. It takes
// the lock, and is called without it, because the engine may report at once.
func (t *deliveries) follow(d *delivery, s *server, err error) {
	ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
	if d == nil || !ok {
		return
	}
	ce.OnDelivery(func(jsonrpc.Delivery, error) {
		t.hub.within(func() { t.settle(d, sendingOf(s, ce)) })
	})
}

// awaitDelivery waits, up to deliveryPatience, for the outcome of the cancel with which a request ended.
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
