package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// deliveryOf returns the error of a call that was cancelled, which knows the delivery of the cancel.
func deliveryOf(t *testing.T, got outcome) *jsonrpc.CancelledError {
	t.Helper()
	var c *jsonrpc.CancelledError
	if !errors.As(got.err, &c) {
		t.Fatalf("error %v (%T), want a CancelledError", got.err, got.err)
	}
	return c
}

func isDelivery(t *testing.T, c *jsonrpc.CancelledError, want jsonrpc.Delivery, why error) {
	t.Helper()
	if got, err := c.Delivery(); got != want || !errors.Is(err, why) || (err == nil) != (why == nil) {
		t.Fatalf("the cancel is %v (%v), want %v (%v)", got, err, want, why)
	}
}

// A cancel counts as delivered when its bytes are in the pipe: at once if the other side reads, and not while the
// cancel is queued because the other side does not read. Finding B2.
func TestCancelIsDeliveredWhenItIsInThePipe(t *testing.T) {
	for name, wrap := range map[string]func(*wire) jsonrpc.Conn{
		"writer goroutine": func(w *wire) jsonrpc.Conn { return w },
		"fast path":        func(w *wire) jsonrpc.Conn { return &tryWire{wire: w} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWire()
				p := jsonrpc.NewPeer(wrap(w), jsonrpc.Options{StallLimit: -1})
				t.Cleanup(func() { p.Close(errTestOver) })
				ctx, cancel := cancellable()
				_, reads := begin(t, p, ctx, "a", "")
				synctest.Wait()
				cancel("enough")
				first := deliveryOf(t, <-reads)
				synctest.Wait()
				isDelivery(t, first, jsonrpc.Delivered, nil)

				ctx, cancel = cancellable()
				_, stuck := begin(t, p, ctx, "b", "")
				synctest.Wait()
				w.fill()
				cancel("enough")
				second := deliveryOf(t, <-stuck)
				synctest.Wait()
				isDelivery(t, second, jsonrpc.Pending, nil)
				told := 0
				second.OnDelivery(func(d jsonrpc.Delivery, err error) {
					if told++; d != jsonrpc.Delivered || err != nil {
						t.Errorf("told %v (%v)", d, err)
					}
				})
				w.drain()
				synctest.Wait()
				isDelivery(t, second, jsonrpc.Delivered, nil)
				if told != 1 {
					t.Errorf("told %d times", told)
				}
				w.expect(t, called("1", "a"), cancelled("1", "enough"), called("2", "b"), cancelled("2", "enough"))
			})
		})
	}
}

// A cancel that is still queued when the connection ends has failed, however the connection ends; a request that was
// itself still queued when it was cancelled needed no cancel. Finding B2.
func TestCancelInTheQueueFailsWithTheConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		stall time.Duration
		end   func(p *jsonrpc.Peer, w *wire)
		why   error
	}{
		"closed":  {-1, func(p *jsonrpc.Peer, _ *wire) { p.Close(errTestOver) }, errTestOver},
		"aborted": {-1, func(p *jsonrpc.Peer, _ *wire) { p.Abort(errTestOver); <-p.Done() }, errTestOver},
		"broken":  {-1, func(p *jsonrpc.Peer, w *wire) { _ = w.Close(); <-p.Done() }, jsonrpc.ErrClosed},
		"stalled": {0, func(p *jsonrpc.Peer, _ *wire) { <-p.Done() }, jsonrpc.ErrStalled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := start(t, jsonrpc.Options{StallLimit: tc.stall})
				ctx, cancel := cancellable()
				_, sent := begin(t, p, ctx, "a", "")
				synctest.Wait()
				w.fill()
				cancel("enough")
				inHand := deliveryOf(t, <-sent) // the writer goroutine has it

				blocked, cancelBlocked := cancellable()
				_, queued := begin(t, p, blocked, "b", "")
				synctest.Wait()
				cancelBlocked("never mind")
				isDelivery(t, deliveryOf(t, <-queued), jsonrpc.NotNeeded, nil)
				synctest.Wait()
				isDelivery(t, inHand, jsonrpc.Pending, nil)
				tc.end(p, w)
				synctest.Wait()
				isDelivery(t, inHand, jsonrpc.Failed, tc.why)
			})
		})
	}
}

// A cancel is reported as delivered without waiting for the message that was queued behind it. Finding B2.
func TestCancelIsDeliveredBeforeWhatIsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{StallLimit: -1})
		ctx, cancel := cancellable()
		_, got := begin(t, p, ctx, "a", "")
		synctest.Wait()
		w.fill()
		check(t, "notify", p.Notify("in front", nil), nil) // the writer goroutine is stuck with it
		synctest.Wait()
		cancel("enough")
		c := deliveryOf(t, <-got)
		check(t, "notify", p.Notify("behind", nil), nil)
		w.passOne()
		synctest.Wait()
		w.passOne()
		synctest.Wait()
		isDelivery(t, c, jsonrpc.Delivered, nil)
		w.expect(t, called("1", "a"), `{"jsonrpc":"2.0","method":"in front"}`, cancelled("1", "enough"))
		w.drain()
		w.expect(t, `{"jsonrpc":"2.0","method":"behind"}`)
	})
}

// OnDelivery calls back exactly once for each cancel, and with the truth, however the pipe fills, drains and ends in
// the meantime. Finding B2.
func TestEveryCancelIsToldOfOnce(t *testing.T) {
	const rounds, calls = 30, 20
	for seed := range uint64(rounds) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			w := newWire()
			var conn jsonrpc.Conn = w
			if rng.IntN(2) == 0 {
				conn = &tryWire{wire: w}
			}
			p := jsonrpc.NewPeer(conn, jsonrpc.Options{StallLimit: -1})
			var settled atomic.Int64
			var mu sync.Mutex // guards delivered
			delivered := map[string]bool{}
			var all sync.WaitGroup
			w.fill()
			for range calls {
				at := time.Duration(rng.IntN(3)) * time.Millisecond
				all.Go(func() {
					ctx, cancel := context.WithCancelCause(context.Background())
					time.AfterFunc(at, func() { cancel(errors.New("stop")) })
					c, err := p.Begin("m", nil)
					if err != nil {
						settled.Add(1)
						return
					}
					_, err = c.Wait(ctx)
					var given *jsonrpc.CancelledError
					if !errors.As(err, &given) { // it ended with the connection
						settled.Add(1)
						return
					}
					given.OnDelivery(func(d jsonrpc.Delivery, _ error) {
						settled.Add(1)
						mu.Lock()
						defer mu.Unlock()
						delivered[c.ID().String()] = d == jsonrpc.Delivered
					})
				})
			}
			time.Sleep(time.Duration(rng.IntN(2)) * time.Millisecond)
			if rng.IntN(3) > 0 {
				w.drain()
			}
			time.Sleep(time.Duration(rng.IntN(2)) * time.Millisecond)
			_ = p.Close(errTestOver)
			all.Wait()
			synctest.Wait()
			if n := settled.Load(); n != calls {
				t.Errorf("%d of %d calls are settled", n, calls)
			}
			onWire := map[string]int{}
			for _, line := range w.written() {
				onWire[line]++
			}
			for id, said := range delivered {
				if n := onWire[cancelled(id, "stop")]; said && n != 1 || n > 1 {
					t.Errorf("call %s: delivered %t, and %d cancels were written", id, said, n)
				}
			}
		})
	}
}

// The delivery of an error of NewCancelledError is settled by the first call of told; a second call does nothing.
func TestNewCancelledError(t *testing.T) {
	e, told := jsonrpc.NewCancelledError(errTestOver)
	if !errors.Is(e, errTestOver) {
		t.Errorf("%v", e)
	}
	isDelivery(t, e, jsonrpc.Pending, nil)
	var heard []string
	hear := func(d jsonrpc.Delivery, err error) { heard = append(heard, fmt.Sprint(d, " ", err)) }
	e.OnDelivery(hear)
	why := errors.New("no")
	told(why)
	told(nil)
	isDelivery(t, e, jsonrpc.Failed, why)
	e.OnDelivery(hear)
	check(t, "heard", heard, []string{"failed no", "failed no"})
	e, told = jsonrpc.NewCancelledError(nil)
	told(fmt.Errorf("so: %w", jsonrpc.ErrCancelNotNeeded))
	isDelivery(t, e, jsonrpc.NotNeeded, nil)
}
