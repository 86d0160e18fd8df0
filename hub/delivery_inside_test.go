package hub

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// deliveryWorld is a hub with a window that is told outcomes.
type deliveryWorld struct {
	*inside
	*deliveries
	log  bytes.Buffer
	view *view
}

func newDeliveryWorld(t *testing.T) *deliveryWorld {
	w := &deliveryWorld{}
	w.inside = newInside(t, Options{Logger: slog.New(slog.NewTextHandler(&w.log, nil))}, nil)
	w.deliveries, w.view = w.inside.deliveries, w.attach(Hello{})
	return w
}

// expect begins to wait for the cancel of a request.
func (w *deliveryWorld) expect(request string, ended uint64) *delivery {
	d := &delivery{request: request, server: "s", ended: ended}
	w.within(func() { w.deliveries.expect(d) })
	return d
}

// want checks how many cancels are pending, and what was told since it was called last.
func (w *deliveryWorld) want(t *testing.T, pending int, told ...string) {
	t.Helper()
	var got []string
	for _, e := range w.view.heard() {
		b := e.Body.(*event.RequestCancelDelivery)
		got = append(got, fmt.Sprintf("%s %s %s", b.RequestID, b.Sending.Delivery, b.Sending.Err))
	}
	w.within(func() {
		if diff := cmp.Diff(told, got); diff != "" || len(w.pending) != pending {
			t.Errorf("%d are pending, told (-want +got):\n%s", len(w.pending), diff)
		}
	})
}

// Cancels that are on their way when the hub ends have failed, told in the order in which the requests ended.
func TestOutcomesAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newDeliveryWorld(t)
		for _, n := range []uint64{5, 3, 9, 1, 7} {
			h.expect(fmt.Sprint("r", n), n)
		}
		h.within(func() { h.fail("bye") })
		failed := []string{"r1 failed bye", "r3 failed bye", "r5 failed bye", "r7 failed bye", "r9 failed bye"}
		h.want(t, 0, failed...)
	})
}

// The outcome that the engine tells is taken, whether it is told at once or later; the server's words make no line of
// their own in the log.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newDeliveryWorld(t)
		s := h.bareServer("s")
		now, tellNow := jsonrpc.NewCancelledError(errors.New("user"))
		tellNow(nil)
		h.follow(h.expect("r1", 1), s, now)
		later, tellLater := jsonrpc.NewCancelledError(errors.New("user"))
		h.follow(h.expect("r2", 2), s, fmt.Errorf("call: %w", later))
		h.want(t, 1, "r1 delivered ")
		tellLater(errors.New("no\nlevel=ERROR " + secret))
		h.want(t, 0, "r2 failed no\nlevel=ERROR [redacted]")
		h.follow(nil, s, now)                               // it was never pending
		h.follow(h.expect("r3", 3), s, errors.New("other")) // nothing was on its way
		h.want(t, 1)
		h.within(func() { h.fail("bye") })
		if log := h.log.String(); strings.Contains(log, "\nlevel=ERROR") || strings.Contains(log, secret) {
			t.Errorf("log: %s", log)
		}
	})
}
