package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// When CallTool has returned, the call is there: whatever the window says next finds it, a cancel of everything, too.
func TestCancelRightBehindAWindowCall(t *testing.T) {
	cancels := map[string]func(w *world, v *view) string{
		"of it": func(_ *world, v *view) string { out, err := v.win.Cancel("r1", "no"); return fmt.Sprint(out, err) },
		"of everything": func(w *world, _ *view) string {
			return fmt.Sprint(w.hub.CancelRequests(hub.CancelScope{All: true}, "no", event.OriginUser))
		},
	}
	for name, cancel := range cancels {
		subtest(t, name, func(t *testing.T) {
			s := hanging()
			w, v := withWindow(t, s)
			w.begin("", "echo").ok(t) // connected
			for range 50 {
				over := make(chan error, 1)
				if err := v.win.CallTool(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}, func(_ *hub.CallResult, err error) {
					over <- err
				}); err != nil {
					t.Fatal(err)
				}
				if got := cancel(w, v); got != fmt.Sprint(event.OutcomeCancelling, nil) && got != "[r1]" {
					t.Fatalf("the cancel said %s", got)
				}
				if e := event.AsError(<-over); e == nil || e.Reason != event.ReasonCancelled || e.Meta["origin"] != "user" {
					t.Fatalf("it ended with %v", e)
				}
				v.mu.Lock()
				v.ended = map[string]bool{} // the id is used again
				v.mu.Unlock()
			}
			w.nothingLeft()
		})
	}
}

// A window may have 256 calls and orders under way, over all its attachments; a call that has ended makes room.
func TestWindowWorkIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		v, other := w.everything(), w.everything()
		over := make(chan error, 600)
		call := func(v *view, i int) error {
			return v.win.CallTool(hub.CallRequest{ID: fmt.Sprintf("r%d", i), Server: "s", Tool: "hang"},
				func(_ *hub.CallResult, err error) {
					over <- err
				})
		}
		for i := range 256 {
			if err := call(v, i); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		synctest.Wait()
		full := func(v *view) {
			t.Helper()
			for name, err := range map[string]error{
				"call": call(v, 256), "order": v.win.Go(func(context.Context) func() { t.Error("ran"); return nil }),
				"list": v.win.GoAttached(func(context.Context) func() { t.Error("ran"); return nil }),
			} {
				if e := event.AsError(err); e == nil || e.Code != event.CodeResourceExhausted ||
					e.Reason != event.ReasonQueueFull || !strings.Contains(e.Message, "256") {
					t.Errorf("one %s too many: %v", name, err)
				}
			}
		}
		full(v)
		if err := call(other, 256); err != nil {
			t.Errorf("another window: %v", err)
		}
		v.win.Detach(false)
		again := w.back(v, allKinds)
		full(again)
		for i := range 20 {
			again.cancel(fmt.Sprintf("r%d", i), "")
			<-over
			if err := call(again, 300+i); err != nil {
				t.Fatalf("after the end of one: %v", err)
			}
		}
	})
}

// Close ends what windows have under way, and waits for it.
func TestCloseWithWindowCallsRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v := withWindow(t, hanging())
		var over, orders atomic.Int32
		for i := range 254 {
			if err := v.win.CallTool(hub.CallRequest{ID: fmt.Sprintf("r%d", i), Server: "s", Tool: "hang"},
				func(_ *hub.CallResult, err error) {
					if e := event.AsError(err); e == nil || e.Meta["origin"] != "shutdown" {
						t.Errorf("it ended with %v", err)
					}
					over.Add(1)
				}); err != nil {
				t.Fatal(err)
			}
		}
		for _, run := range []func(func(context.Context) func()) error{v.win.Go, v.win.GoAttached} {
			if err := run(func(ctx context.Context) func() {
				<-ctx.Done()
				return func() {
					if e := event.AsError(context.Cause(ctx)); e.Reason != event.ReasonDraining {
						t.Errorf("the cause is %v", e)
					}
					orders.Add(1)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if over.Load() != 254 || orders.Load() != 2 {
			t.Errorf("Close returned after %d calls and %d orders", over.Load(), orders.Load())
		}
		if err := v.win.Go(func(context.Context) func() {
			t.Error("ran")
			return nil
		}); event.AsError(err) == nil || event.AsError(err).Reason != event.ReasonWindowDetached {
			t.Errorf("after Close: %v", err)
		}
		w.nothingLeft()
	})
}

// What runs by GoAttached ends with the attachment, whichever way that ends; what runs by Go does not.
func TestOrdersAndTheEndOfTheStream(t *testing.T) {
	ends := map[string]func(w *world, v *view) string{
		"closed": func(_ *world, v *view) string { v.win.Detach(true); return event.ReasonCancelled },
		"broken": func(_ *world, v *view) string { v.win.Detach(false); return event.ReasonCancelled },
		"superseded": func(w *world, v *view) string {
			w.attach(hub.Hello{WindowID: v.win.ID(), ComesBackTo: w.hub.ID()})
			return event.ReasonWindowSuperseded
		},
	}
	for name, end := range ends {
		subtest(t, name, func(t *testing.T) {
			w, v := withWindow(t, hanging())
			causes, going := make(chan error, 2), make(chan context.Context, 1)
			release := make(chan struct{})
			for _, run := range []func(func(context.Context) func()) error{v.win.GoAttached, v.win.OrderAttached} {
				go run(func(ctx context.Context) func() {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return nil
				})
			}
			_ = v.win.Go(func(ctx context.Context) func() {
				going <- ctx
				<-release
				return nil
			})
			ctx := <-going
			synctest.Wait()
			want := end(w, v)
			for range 2 {
				if e := event.AsError(<-causes); e.Reason != want {
					t.Errorf("the cause is %v", e)
				}
			}
			if synctest.Wait(); ctx.Err() != nil {
				t.Errorf("what is to be carried out was ended: %v", context.Cause(ctx))
			}
			close(release)
		})
	}
}

// All windows together may have 4,096 under way: a page that comes back as another window each time does not get around
// the bound of one.
func TestWorkOfAllWindowsIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, nil)
		release := make(chan struct{})
		wait := func(context.Context) func() { <-release; return nil }
		for n := range 16 {
			v := w.attach(hub.Hello{})
			for i := range 256 {
				if err := v.win.Go(wait); err != nil {
					t.Fatalf("window %d, order %d: %v", n, i, err)
				}
			}
			v.win.Detach(true)
		}
		v := w.attach(hub.Hello{})
		if e := event.AsError(v.win.Go(wait)); e == nil || e.Code != event.CodeResourceExhausted ||
			e.Reason != event.ReasonQueueFull || !strings.Contains(e.Message, "4096") {
			t.Errorf("one too many: %v", e)
		}
		close(release)
		synctest.Wait()
		if err := v.win.Go(wait); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// What still runs for a window that is gone counts when a window of the same id attaches: it has not got more room by
// having closed. Once all that is over, nothing of it is left.
func TestWorkOfAWindowThatIsGoneCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, nil)
		v := w.attach(hub.Hello{WindowID: "w"})
		end := make(chan struct{})
		hangs := func(context.Context) func() { <-end; return nil }
		for range 256 {
			if err := v.win.Go(hangs); err != nil {
				t.Fatal(err)
			}
		}
		v.win.Detach(true)
		v = w.attach(hub.Hello{WindowID: "w"})
		if e := event.AsError(v.win.Go(hangs)); e == nil || e.Reason != event.ReasonQueueFull {
			t.Errorf("one more order: %v", e)
		}
		close(end)
		synctest.Wait()
		if err := v.win.Go(func(context.Context) func() { return nil }); err != nil {
			t.Error(err)
		}
		w.nothingLeft()
	})
}

// An approval holds while its window reloads, whatever its scope. Finding B14.
func TestApprovalsHoldWhileTheWindowReloads(t *testing.T) {
	for name, scope := range map[string]event.ApprovalScope{"window": event.ScopeWindow, "workspace": event.ScopeWorkspace,
		"always": event.ScopeAlways} {
		subtest(t, name, func(t *testing.T) {
			w := newWorld(t, serversOf("s", hanging()))
			v := w.attach(hub.Hello{WindowID: "w", Kinds: allKinds, Roots: []hub.Root{{URI: "file:///a"}}})
			c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: scope})
			c.ok(t)
			v.win.Detach(false) // the page is reloaded
			w.begin("", "echo").ok(t)
			pass(time.Minute) // it does not come back
			c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
			if scope == event.ScopeAlways {
				c.ok(t)
				return
			}
			c.want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		})
	}
}
