package outcome_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// house is a hub that notes the outcomes that it is told, with the lock.
type house struct {
	*outcome.Deliveries
	log bytes.Buffer

	mu   sync.Mutex
	told []string
}

func newHouse() *house {
	h := &house{}
	h.Deliveries = outcome.NewDeliveries(h, slog.New(slog.NewTextHandler(&h.log, nil)))
	return h
}

func (h *house) Update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *house) Delivered(d *outcome.Delivery, s event.Sending) {
	if h.mu.TryLock() {
		panic("told without the lock")
	}
	h.told = append(h.told, fmt.Sprintf("%s %s %s", d.Request, s.Delivery, s.Err))
}

// expect begins to wait for the cancel of a request.
func (h *house) expect(request string, ended uint64) *outcome.Delivery {
	d := &outcome.Delivery{Request: request, Server: "s", Ended: ended}
	h.Update(func() { h.Expect(d) })
	return d
}

func (h *house) want(t *testing.T, pending int, told ...string) {
	t.Helper()
	h.Update(func() {
		if diff := cmp.Diff(told, h.told); diff != "" || h.Pending() != pending {
			t.Errorf("%d are pending, told (-want +got):\n%s", h.Pending(), diff)
		}
	})
}

var delivered = event.Sending{Delivery: event.DeliveryDelivered}

// The first outcome counts: a late one, and one of a cancel that never was on its way, change nothing.
func TestOneOutcomeForEachCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		d := h.expect("r1", 1)
		h.want(t, 1)
		h.Update(func() {
			h.Settle(nil, delivered)
			h.Settle(&outcome.Delivery{Request: "never"}, delivered)
			h.Settle(d, delivered)
			h.Settle(d, event.Sending{Delivery: event.DeliveryFailed, Err: "late"})
			h.Fail("the hub ends")
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		h.want(t, 0, "r1 delivered ")
	})
}

// A cancel that the server never takes has failed after the limit.
func TestCancelThatIsNeverTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		d := h.expect("r1", 1)
		time.Sleep(30*time.Second - time.Nanosecond)
		synctest.Wait()
		h.want(t, 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		h.want(t, 0, "r1 failed the server did not take it within 30s")
		h.Update(func() { h.Settle(d, delivered) })
		h.want(t, 0, "r1 failed the server did not take it within 30s")
	})
}

// Cancels that are on their way when the hub ends have failed, told in the order in which the requests ended.
func TestOutcomesAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		for _, n := range []uint64{5, 3, 9, 1, 7} {
			h.expect(fmt.Sprint("r", n), n)
		}
		h.Update(func() { h.Fail("bye") })
		failed := []string{"r1 failed bye", "r3 failed bye", "r5 failed bye", "r7 failed bye", "r9 failed bye"}
		h.want(t, 0, failed...)
		time.Sleep(time.Hour)
		synctest.Wait()
		h.want(t, 0, failed...)
	})
}

// The outcome that the engine tells is taken, whether it is told at once or later; the server's words make no line of
// their own in the log.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		now, tellNow := jsonrpc.NewCancelledError(errors.New("user"))
		tellNow(nil)
		h.Follow(h.expect("r1", 1), server(), now)
		later, tellLater := jsonrpc.NewCancelledError(errors.New("user"))
		h.Follow(h.expect("r2", 2), server(), fmt.Errorf("call: %w", later))
		h.want(t, 1, "r1 delivered ")
		tellLater(errors.New("no\nlevel=ERROR " + secret))
		h.want(t, 0, "r1 delivered ", "r2 failed no\nlevel=ERROR [redacted]")
		h.Follow(nil, server(), now)                               // it was never pending
		h.Follow(h.expect("r3", 3), server(), errors.New("other")) // nothing was on its way
		h.want(t, 1, "r1 delivered ", "r2 failed no\nlevel=ERROR [redacted]")
		h.Update(func() { h.Fail("bye") })
		if log := h.log.String(); strings.Contains(log, "\nlevel=ERROR") || strings.Contains(log, secret) {
			t.Errorf("log: %s", log)
		}
	})
}

// The end of a request waits a moment for a cancel that is on its way, and for nothing else.
func TestAwaitDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(err error) time.Duration {
			from := time.Now()
			outcome.AwaitDelivery(err)
			return time.Since(from)
		}
		settled, tell := jsonrpc.NewCancelledError(errors.New("user"))
		tell(nil)
		for _, err := range []error{nil, errors.New("other"), settled} {
			if d := wait(err); d != 0 {
				t.Errorf("%v: waited %s", err, d)
			}
		}
		near, tell := jsonrpc.NewCancelledError(errors.New("user"))
		time.AfterFunc(40*time.Millisecond, func() { tell(nil) })
		if d := wait(near); d != 40*time.Millisecond {
			t.Errorf("waited %s for a server that is near", d)
		}
		far, tell := jsonrpc.NewCancelledError(errors.New("user"))
		if d := wait(far); d != 100*time.Millisecond {
			t.Errorf("waited %s for one that is not", d)
		}
		tell(nil) // nobody waits any more
	})
}
