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

// A window's call goes on when the window closes, and ends with it only if the window owns the call.
func TestWindowCallGoesOnWithoutItsWindow(t *testing.T) {
	for _, final := range []bool{true, false} {
		for _, owned := range []bool{false, true} {
			t.Run(fmt.Sprintf("final %v owned %v", final, owned), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
					v, other := w.everything(), w.everything()
					c := hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}
					if owned {
						c.OwnerWindowID = v.win.ID()
					}
					over := make(chan error, 1)
					if err := v.win.CallTool(c, func(_ *hub.CallResult, err error) { over <- err }); err != nil {
						t.Fatal(err)
					}
					w.state("r1")
					v.win.Detach(final)
					pass(time.Minute)
					if ended := other.hasEnded("r1"); ended != owned {
						t.Errorf("the call has ended: %v", ended)
					}
					if !owned {
						if _, err := other.win.Cancel("r1", "enough"); err != nil {
							t.Error(err)
						}
					}
					if e := event.AsError(<-over); e == nil || e.Reason != event.ReasonCancelled {
						t.Errorf("it ended with %v", e)
					}
					w.nothingLeft()
				})
			})
		}
	}
}

// When CallTool has returned, the call is there: whatever the window says next finds it, a cancel of everything, too.
func TestCancelRightBehindAWindowCall(t *testing.T) {
	cancels := map[string]func(w *world, v *view) string{
		"of it": func(_ *world, v *view) string { out, err := v.win.Cancel("r1", "no"); return fmt.Sprint(out, err) },
		"of everything": func(w *world, _ *view) string {
			return fmt.Sprint(w.hub.CancelRequests(hub.CancelScope{All: true}, "no", event.OriginUser))
		},
	}
	for name, cancel := range cancels {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t) // connected
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
					e.Reason != event.ReasonQueueFull ||
					!strings.Contains(e.Message, "256") {
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
		for i := range 256 {
			if _, err := again.win.Cancel(fmt.Sprintf("r%d", i), ""); err != nil {
				t.Error(err)
			}
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
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		v := w.everything()
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
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
				v := w.everything()
				causes, going := make(chan error, 1), make(chan context.Context, 1)
				release := make(chan struct{})
				_ = v.win.GoAttached(func(ctx context.Context) func() {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return nil
				})
				_ = v.win.Go(func(ctx context.Context) func() {
					going <- ctx
					<-release
					return nil
				})
				ctx := <-going
				want := end(w, v)
				if e := event.AsError(<-causes); e.Reason != want {
					t.Errorf("the cause is %v", e)
				}
				if synctest.Wait(); ctx.Err() != nil {
					t.Errorf("what is to be carried out was ended: %v", context.Cause(ctx))
				}
				close(release)
			})
		})
	}
}

// Only a host can say that it has asked the user.
func TestWindowCallIsNeverPreapproved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()))
		v := w.everything()
		err := v.win.CallTool(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo", Preapproved: true},
			func(*hub.CallResult, error) {
				t.Error("called")
			})
		if e := event.AsError(err); e == nil || e.Code != event.CodeInvalidArgument ||
			!strings.Contains(e.Message, "only a host can") {
			t.Errorf("got %v", err)
		}
		if synctest.Wait(); len(eventsOf[*event.RequestStarted](v)) != 0 {
			t.Error("it has begun")
		}
		over := make(chan error, 1)
		if err := v.win.CallTool(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"}, func(_ *hub.CallResult, err error) {
			over <- err
		}); err != nil {
			t.Fatal(err)
		}
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept})
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// Calls that are cancelled by an order of a window were cancelled by the user.
func TestWindowOrdersAreTheUsers(t *testing.T) {
	ctx := context.Background()
	orders := map[string]func(win *hub.Window) error{
		"stop":    func(win *hub.Window) error { _, err := win.StopServer(ctx, "s", "why"); return err },
		"restart": func(win *hub.Window) error { _, err := win.RestartServer(ctx, "s", "why"); return err },
		"switch":  func(win *hub.Window) error { _, err := win.SetServerEnabled(ctx, "s", false); return err },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				w.state("r1")
				if err := order(v.win); err != nil {
					t.Fatal(err)
				}
				if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "user" {
					t.Errorf("the caller was told %v", e.Meta)
				}
			})
		})
	}
}

// How long a window may take to come back is the host's to choose.
func TestWindowReturnIsAnOption(t *testing.T) {
	for _, tc := range []struct{ said, holds time.Duration }{{0, 10 * time.Second}, {3 * time.Minute, 3 * time.Minute}} {
		t.Run(tc.said.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorldWith(t, hub.Options{WindowReturn: tc.said}, serversOf("s", hanging()), "s:"+allow)
				v, other := w.everything(), w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang", OwnerWindowID: v.win.ID()})
				w.state("r1")
				v.win.Detach(false)
				if pass(tc.holds - time.Millisecond); other.hasEnded("r1") {
					t.Error("it ended too early")
				}
				if pass(time.Millisecond); !other.hasEnded("r1") {
					t.Error("it did not end")
				}
				<-c.done
			})
		})
	}
}

// An edited sampling request is for a host that runs the model: the hub refuses it, and the prompt stays open.
func TestEditedSamplingRequestIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(sampling, sampleParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := v.prompt()
		for _, content := range []string{"", sampleYes} {
			err := v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Edited: sampleParams,
				Content: content})
			if e := event.AsError(err); e == nil || e.Code != event.CodeInvalidArgument ||
				e.Reason != event.ReasonInvalidContent {
				t.Errorf("got %v", err)
			}
			if v.prompt().ID != p.ID {
				t.Error("the prompt has closed")
			}
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: sampleYes})
		c.ok(t)
	})
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

// hasEnded tells whether the window has been told of the end of a request by now: it does not wait.
func (v *view) hasEnded(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended[id]
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
