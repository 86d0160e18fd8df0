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

// deliveryLimit is how long a cancel may be on its way before it counts as failed.
const deliveryLimit = 30 * time.Second

// deliveryPatience is how long the end of a cancelled request waits for the outcome of its cancel, so that where a
// server is near the terminal event says it, and no second event is needed. Nothing else waits for that: the cancel is
// on its way, and what the request had asked of people is closed.
const deliveryPatience = 100 * time.Millisecond

// House is the hub that the requests are of.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Delivered tells the outcome of a cancel. It is called with the lock.
	Delivered(d *Delivery, s event.Sending)
}

// Delivery is the cancel of a request that ended while the cancel was on its way to the server.
type Delivery struct {
	Request, Server string
	Trace           *journal.Timeline
	Ended           uint64 // number of the event that told the end of the request

	clock *time.Timer
}

// Deliveries are the cancels that are on their way. Settle is their one transition: from pending to the outcome. They
// are guarded by the lock of the house; a method that takes it says so, all others are called with it.
type Deliveries struct {
	house   House
	log     *slog.Logger
	pending map[*Delivery]struct{}
}

// NewDeliveries makes them.
func NewDeliveries(house House, log *slog.Logger) *Deliveries {
	return &Deliveries{house: house, log: log, pending: map[*Delivery]struct{}{}}
}

// Pending counts them.
func (t *Deliveries) Pending() int { return len(t.pending) }

// Expect begins to wait for an outcome.
func (t *Deliveries) Expect(d *Delivery) {
	t.pending[d] = struct{}{}
	d.clock = time.AfterFunc(deliveryLimit, func() {
		t.house.Update(func() {
			t.Settle(d, event.Sending{Delivery: event.DeliveryFailed,
				Err: fmt.Sprintf("the server did not take it within %s", deliveryLimit)})
		})
	})
}

// Settle tells the outcome of a cancel that was on its way. The first outcome counts; nothing happens for a nil d,
// which was never pending.
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

// Fail settles what is still on its way when the hub ends.
func (t *Deliveries) Fail(why string) {
	for _, d := range slices.SortedFunc(maps.Keys(t.pending),
		func(a, b *Delivery) int { return cmp.Compare(a.Ended, b.Ended) }) {
		t.Settle(d, event.Sending{Delivery: event.DeliveryFailed, Err: why})
	}
}

// Follow waits for the outcome of a cancel that was on its way when a request of s ended with err. It is called after
// that, without the lock, because the engine may tell the outcome at once, and takes it.
func (t *Deliveries) Follow(d *Delivery, s *servers.Server, err error) {
	ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
	if d == nil || !ok {
		return
	}
	ce.OnDelivery(func(jsonrpc.Delivery, error) {
		t.house.Update(func() { t.Settle(d, sendingOf(s, ce)) })
	})
}

// AwaitDelivery waits for the outcome of the cancel with which a request ended, for a short time.
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
