package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// A cancel and the response in the same instant: one outcome, and the wire agrees with it.
func TestCancelAndResponseRace(t *testing.T) {
	t.Run("response first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			ctx, cancel := cancellable()
			_, got := begin(t, p, ctx, "a", "")
			w.expect(t, called("1", "a"))
			w.send(answered("1", "1"))
			synctest.Wait()
			cancel("stop")
			check(t, "result", string((<-got).result), "1")
			w.expect(t)
		})
	})
	t.Run("cancel first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			ctx, cancel := cancellable()
			_, got := begin(t, p, ctx, "a", "")
			w.expect(t, called("1", "a"))
			cancel("stop")
			synctest.Wait()
			w.send(answered("1", "1"))
			isCancelled(t, (<-got).err, "stop", true)
			w.expect(t, cancelled("1", "stop"))
			check(t, "late", p.Stats().LateResponses, uint64(1))
		})
	})
	t.Run("together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow()
			close(s.step)
			p, w := start(t, jsonrpc.Options{HandleNotification: s.handle})
			won, lost := 0, 0
			for i := 1; i <= 300; i++ {
				id := fmt.Sprint(i)
				ctx, cancel := cancellable()
				c, got := begin(t, p, ctx, "a", "")
				w.expect(t, called(id, "a"))
				var both sync.WaitGroup
				both.Go(func() {
					if i%2 == 0 {
						w.send(note("n", "1"))
					}
					w.send(answered(id, id))
				})
				both.Go(func() {
					if i%3 == 0 {
						p.Tracker().Cancel(jsonrpc.Outgoing, c.ID(), errors.New("stop"))
					} else {
						cancel("stop")
					}
				})
				both.Wait()
				o := <-got
				if o.err == nil {
					won++
					check(t, "result", string(o.result), id)
					w.expect(t)
				} else {
					lost++
					isCancelled(t, o.err, "stop", true)
					w.expect(t, cancelled(id, "stop"))
				}
				cancel("over")
			}
			synctest.Wait()
			stats := p.Stats()
			check(t, "late", stats.LateResponses, uint64(lost))
			check(t, "sent", stats.CancelsSent, uint64(lost))
			check(t, "pending", len(p.Tracker().Pending()), 0)
		})
	})
}

// A withdrawal and the answer in the same instant: the answer is either written, or suppressed and counted.
func TestWithdrawAndAnswerRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		written, withdrawn := 0, 0
		for i := range 300 {
			w.send(ask("1", "elicitation/create")) // always the same id
			synctest.Wait()
			before := len(w.written())
			var both sync.WaitGroup
			both.Go(func() { d.answer(t, "1", "{}") })
			both.Go(func() { w.send(withdraw("1", fmt.Sprint(i))) })
			both.Wait()
			synctest.Wait()
			out := w.written()[before:]
			switch {
			case len(out) == 0:
				withdrawn++
			case len(out) == 1 && out[0] == answered("1", "{}"):
				written++
			default:
				t.Fatalf("written %q", out)
			}
		}
		s := p.Stats()
		check(t, "withdrawn", s.WithdrawnRequests, uint64(withdrawn))
		check(t, "unknown", s.UnknownCancels, uint64(written))
		check(t, "suppressed", s.SuppressedResponses, uint64(withdrawn))
	})
}

// A call that begins while the connection ends returns ErrClosed, and is not left pending.
func TestBeginAndCloseRace(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() {
					_, err := p.Call(context.Background(), "a", nil)
					if !errors.Is(err, jsonrpc.ErrClosed) {
						t.Errorf("error %v", err)
					}
				})
			}
			calls.Go(func() { p.Close(errTestOver) })
			calls.Go(func() { close(w.in) })
			calls.Wait()
			check(t, "pending", len(p.Tracker().Pending()), 0)
		})
	}
}

func TestNoGoroutinesLeft10000Cancels(t *testing.T) {
	const n = 10_000
	t.Run("outgoing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			synctest.Wait()
			before := engineGoroutines()
			check(t, "goroutines of a peer", before, 3)
			ctx, cancel := cancellable()
			calls := make([]*jsonrpc.Call, n)
			for i := range calls {
				var err error
				if calls[i], err = p.Begin("tools/call", nil); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			check(t, "goroutines in flight", engineGoroutines(), before)
			cancel("stop")
			for _, c := range calls {
				_, err := c.Wait(ctx)
				isCancelled(t, err, "stop", true)
			}
			for _, c := range calls {
				w.send(answered(c.ID().String(), "{}"))
			}
			synctest.Wait()
			check(t, "goroutines left", engineGoroutines(), before)
			check(t, "pending", len(p.Tracker().Pending()), 0)
			count := 0
			for _, msg := range w.written() {
				if strings.Contains(msg, "notifications/cancelled") {
					count++
				}
			}
			check(t, "cancels on the wire", count, n)
			s := p.Stats()
			check(t, "dropped responses", s.LateResponses+s.UnknownResponses, uint64(n))
		})
	})
	t.Run("incoming", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{}
			p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
			synctest.Wait()
			before := engineGoroutines()
			check(t, "goroutines of a peer", before, 3)
			for i := range n {
				w.send(ask(fmt.Sprint(i), "elicitation/create"), withdraw(fmt.Sprint(i), "never mind"))
				if i%50 == 49 {
					synctest.Wait()
				}
			}
			w.expect(t)
			check(t, "goroutines left", engineGoroutines(), before)
			check(t, "withdrawn", p.Stats().WithdrawnRequests, uint64(n))
			check(t, "suppressed", p.Stats().SuppressedResponses, uint64(n))
			check(t, "pending", len(p.Tracker().Pending()), 0)
		})
	})
}

// Bounds the heap that a call in flight holds, and what 10,000 cancelled calls leave behind.
func TestHeapOfCallsInFlight_nightly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		p, w := start(t, jsonrpc.Options{})
		w.out = make([]string, 0, 3*n)
		params := `{"name":"echo","arguments":{"text":"` + strings.Repeat("x", 100) + `"}}`
		heap := func() int64 {
			w.mu.Lock()
			clear(w.out)
			w.out = w.out[:0]
			w.mu.Unlock()
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		calls := make([]*jsonrpc.Call, n)
		for i := range calls {
			calls[i], _ = p.Begin("tools/call", []byte(params))
		}
		synctest.Wait()
		each := (heap() - before) / n
		if each > 2048 {
			t.Errorf("%d bytes for a call in flight", each)
		}
		ctx, cancel := cancellable()
		cancel("stop")
		for i, c := range calls {
			c.Wait(ctx)
			calls[i] = nil
		}
		synctest.Wait()
		if left := heap() - before; left > 1<<20 {
			t.Errorf("%d bytes left behind", left)
		}
		t.Logf("%d bytes for a call in flight, %d left behind by %d", each, heap()-before, n)
		runtime.KeepAlive(p)
	})
}
