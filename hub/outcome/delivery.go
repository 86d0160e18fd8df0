package outcome

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// deliveryLimit is how long a cancel may be pending before it counts as failed.
const deliveryLimit = 30 * time.Second

// deliveryPatience is how long the end of a cancelled request waits for the outcome of its cancel. If the server is
// near, the terminal event then holds the outcome, and no second event is needed. Nothing else is delayed: the cancel
// is being sent, and the questions of the request are closed.
const deliveryPatience = 100 * time.Millisecond

// House is the part of the hub that Deliveries needs.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Delivered announces the outcome of a cancel. It is called with the lock.
	Delivered(d *Delivery, s event.Sending)
}

// Delivery is the cancel of a request that ended before the cancel had reached the server.
type Delivery struct {
	Request, Server string
	Trace           *journal.Timeline
	Ended           uint64 // number of the event that announced the end of the request

	clock *time.Timer
}

// Deliveries are the cancels whose outcome is pending. Only Settle removes one. They are guarded by the lock of the
// house. A method that takes the lock says so; all others are called with it held.
type Deliveries struct {
	house   House
	log     *slog.Logger
	pending map[*Delivery]struct{}
}

// NewDeliveries returns Deliveries without any cancel.
func NewDeliveries(house House, log *slog.Logger) *Deliveries {
	return &Deliveries{house: house, log: log, pending: map[*Delivery]struct{}{}}
}

// Pending returns how many cancels are pending.
func (t *Deliveries) Pending() int { return len(t.pending) }

// Expect adds a pending cancel.
func (t *Deliveries) Expect(d *Delivery) {
	t.pending[d] = struct{}{}
	d.clock = time.AfterFunc(deliveryLimit, func() {
		t.house.Update(func() {
			t.Settle(d, event.Sending{Delivery: event.DeliveryFailed,
				Err: fmt.Sprintf("the server did not take it within %s", deliveryLimit)})
		})
	})
}

// Settle announces the outcome of a pending cancel. Only the first outcome counts. A nil d, of a cancel that was never
// pending, is ignored.
func (t *Deliveries) Settle(d *Delivery, s event.Sending) {
	if _, pending := t.pending[d]; !pending {
		return
	}
	delete(t.pending, d)
	d.clock.Stop()
	t.log.Info("a cancel that was on its way is settled", "request_id", d.Request, "server", d.Server,
		"delivery", s.Delivery.String(), "error", bounds.Printable(s.Err))
	d.Trace.Delivered(s)
	t.house.Delivered(d, s)
}

// Fail settles all pending cancels as failed when the hub ends.
func (t *Deliveries) Fail(why string) {
	for _, d := range slices.SortedFunc(maps.Keys(t.pending),
		func(a, b *Delivery) int { return cmp.Compare(a.Ended, b.Ended) }) {
		t.Settle(d, event.Sending{Delivery: event.DeliveryFailed, Err: why})
	}
}

// Follow settles d when the engine reports the outcome of the cancel of a request of s that ended with err. It takes
// the lock, and is called without it, because the engine may report at once.
func (t *Deliveries) Follow(d *Delivery, s *servers.Server, err error) {
	ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
	if d == nil || !ok {
		return
	}
	ce.OnDelivery(func(jsonrpc.Delivery, error) {
		t.house.Update(func() { t.Settle(d, sendingOf(s, ce)) })
	})
}

// AwaitDelivery waits, up to deliveryPatience, for the outcome of the cancel with which a request ended.
func AwaitDelivery(err error) {
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
