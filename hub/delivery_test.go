package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// deaf returns a world whose server has received call r1 and does not read any more, so that its pipe is full. resume
// makes it read again.
func deaf(t *testing.T) (w *world, v *view, c *pendingCall, resume func()) {
	t.Helper()
	s := hanging()
	w = newWorld(t, serversOf("s", s), "s:"+allow)
	v = w.everything()
	c = w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
	if got := w.state("r1"); got != "running" {
		t.Fatalf("the call is %s", got)
	}
	resume = s.PauseReading()
	w.call(hub.CallRequest{ID: "fill-1", Server: "s", Tool: "hang"})
	synctest.Wait()
	w.call(hub.CallRequest{ID: "fill-2", Server: "s", Tool: "hang"})
	synctest.Wait()
	return w, v, c, resume
}

// outcomes returns what a window was told about the delivery of a cancel after the end of its request.
func (v *view) outcomes(id string) (list []string) {
	for _, e := range eventsOf[*event.RequestCancelDelivery](v) {
		if e.RequestID == id {
			list = append(list, strings.TrimSpace(fmt.Sprint(e.Server, " ", e.Sending.Delivery, " ", e.Sending.Err)))
		}
	}
	return list
}

func (v *view) cancelled(id string) *event.RequestCancelled {
	v.t.Helper()
	end, ok := v.terminalOf(id).(*event.RequestCancelled)
	if !ok {
		v.t.Fatalf("the end of %s is %+v", id, v.terminalOf(id))
	}
	return end
}

// keptDelivery returns the delivery of a request's cancel in the history.
func (w *world) keptDelivery(id string) event.Sending {
	w.t.Helper()
	for _, e := range w.history(1000) {
		if c, ok := e.Body.(*event.RequestCancelled); ok && c.RequestID == id {
			return c.Sending
		}
	}
	w.t.Fatalf("the history has no cancelled %s", id)
	return event.Sending{}
}

// If the server does not read, the terminal event says that the cancel is pending. The outcome follows once, to the
// attached windows and to one that resumes, and is then in the history. Finding B2.
func TestOutcomeOfACancelFollowsItsEnd(t *testing.T) {
	for _, tc := range []struct {
		name    string
		become  func(w *world, v *view, resume func())
		outcome event.Sending
		within  time.Duration
	}{
		{"it reads again", func(_ *world, _ *view, resume func()) {
			resume()
		}, event.Sending{Delivery: event.DeliveryDelivered}, 0},
		{"it never reads", func(*world, *view, func()) { pass(30 * time.Second) },
			event.Sending{Delivery: event.DeliveryFailed, Err: "the server did not take it within 30s"}, 30 * time.Second},
		{"it is killed", func(w *world, _ *view, _ func()) { w.procs["s"][0].Kill() },
			event.Sending{Delivery: event.DeliveryFailed, Err: "the connection to the server ended first"}, 5 * time.Second},
		{"it is stopped", func(_ *world, v *view, _ func()) {
			go func() { _, _ = v.win.StopServer(context.Background(), "s", "enough") }()
			pass(time.Minute)
		},
			event.Sending{Delivery: event.DeliveryFailed, Err: "the connection to the server ended first"}, 30 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, v, c, resume := deaf(t)
				gone := w.everything()
				if _, err := v.win.Cancel("r1", "too slow"); err != nil {
					t.Fatal(err)
				}
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				end := v.cancelled("r1")
				if end.Sending != (event.Sending{Delivery: event.DeliveryPending}) || end.ServerNotified() ||
					!end.ServerMayContinue {
					t.Errorf("the end says %+v, notified %t, may continue %t", end.Sending, end.ServerNotified(),
						end.ServerMayContinue)
				}
				if got := w.keptDelivery("r1"); got.Delivery != event.DeliveryPending {
					t.Errorf("the history says %+v", got)
				}
				gone.win.Detach(false)
				ended := time.Now()
				tc.become(w, v, resume)
				synctest.Wait()
				want := []string{strings.TrimSpace(fmt.Sprint("s ", tc.outcome.Delivery, " ", tc.outcome.Err))}
				if diff := cmp.Diff(want, v.outcomes("r1")); diff != "" {
					t.Errorf("the window was told (-want +got):\n%s", diff)
				}
				for _, e := range v.events {
					if b, ok := e.Body.(*event.RequestCancelDelivery); ok && b.RequestID == "r1" && e.Time.Sub(ended) > tc.within {
						t.Errorf("it was told after %v", e.Time.Sub(ended))
					}
				}
				for _, e := range w.back(gone, allKinds).start.Snapshot.History {
					if b, ok := e.Body.(*event.RequestCancelled); ok && b.Sending != tc.outcome {
						t.Errorf("the window that came back was told %+v", b.Sending)
					}
				}
				if got := w.keptDelivery("r1"); got != tc.outcome {
					t.Errorf("the history says %+v", got)
				}
				resume()
				pass(2 * time.Minute)
				if n := len(v.outcomes("r1")); n != 1 {
					t.Errorf("it was told %d times", n)
				}
				if lines := w.timeline("r1"); !slices.Contains(lines, "cancel pending") ||
					!slices.Contains(lines, "cancel"+strings.TrimPrefix(want[0], "s")) {
					t.Errorf("the trace has %q", lines)
				}
			})
		})
	}
}

// If the outcome of a cancel is known when the request ends, the terminal event says it, and nothing follows. Finding
// B2.
func TestNoOutcomeFollowsWhatTheEndSays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), `s:"approvals":{"*":"allow","echo":"ask"}`)
		v := w.everything()
		sent := w.call(hub.CallRequest{ID: "sent", Server: "s", Tool: "hang"})
		asked := w.call(hub.CallRequest{ID: "asked", Server: "s", Tool: "echo"})
		synctest.Wait()
		w.hub.CancelRequests(hub.CancelScope{All: true}, "enough", event.OriginUser)
		sent.want(t, event.CodeCancelled, event.ReasonCancelled)
		asked.want(t, event.CodeCancelled, event.ReasonCancelled)
		if end := v.cancelled("sent"); end.Sending.Delivery != event.DeliveryDelivered || !end.ServerMayContinue {
			t.Errorf("sent: %+v, may continue %t", end.Sending, end.ServerMayContinue)
		}
		if end := v.cancelled("asked"); end.Sending.Delivery != event.DeliveryNotNeeded || end.ServerMayContinue {
			t.Errorf("asked: %+v, may continue %t", end.Sending, end.ServerMayContinue)
		}
		pass(time.Minute)
		if n := len(eventsOf[*event.RequestCancelDelivery](v)); n != 0 {
			t.Errorf("%d outcomes followed", n)
		}
		w.nothingLeft()
	})
}

// Of a thousand cancels that are never delivered, each outcome is told once and nothing is left over, when their time
// is over and when the hub is closed first. Finding B2.
func TestManyPendingCancelsLeaveNothing(t *testing.T) {
	for _, end := range []string{"time", "close"} {
		t.Run(end, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const n = 1000
				s := hanging()
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				for i := range n {
					w.call(hub.CallRequest{ID: fmt.Sprint("r", i), Server: "s", Tool: "hang"})
				}
				synctest.Wait()
				resume := s.PauseReading()
				w.call(hub.CallRequest{ID: "fill-1", Server: "s", Tool: "hang"})
				synctest.Wait()
				w.call(hub.CallRequest{ID: "fill-2", Server: "s", Tool: "hang"})
				synctest.Wait()
				if ids := w.hub.CancelRequests(hub.CancelScope{All: true}, "enough", event.OriginUser); len(ids) != n+2 {
					t.Fatalf("%d are cancelled", len(ids))
				}
				pass(time.Second)
				if end == "close" {
					if err := w.hub.Close(context.Background()); err != nil {
						t.Error(err)
					}
				}
				pass(time.Minute)
				pending, told := 0, map[string]int{}
				for _, e := range eventsOf[*event.RequestCancelled](v) {
					if e.Sending.Delivery == event.DeliveryPending {
						pending++
						told[e.RequestID]--
					}
				}
				for _, e := range eventsOf[*event.RequestCancelDelivery](v) {
					if told[e.RequestID]++; e.Sending.Delivery != event.DeliveryFailed {
						t.Errorf("told %+v, want a failed delivery", e)
					}
				}
				for id, off := range told {
					if off != 0 {
						t.Errorf("%s: %d outcomes too many", id, off)
					}
				}
				if pending < n {
					t.Errorf("%d were pending", pending)
				}
				resume()
				pass(time.Second)
				if left := w.hub.Leftovers(); left != "" {
					t.Errorf("left: %s", left)
				}
			})
		})
	}
}

// A legacy server that offers no tasks/cancel is sent nothing, and the windows are told why. Finding B2.
func TestDeliveryWithoutTasksCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false,
			fakeserver.WithCapabilities(`{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}`))
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		if _, err := v.win.Cancel("r1", "too slow"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		want := event.Sending{Delivery: event.DeliveryFailed, Err: "the server offers no way to cancel a task"}
		if end := v.cancelled("r1"); end.Sending != want || !end.ServerMayContinue {
			t.Errorf("the end says %+v, may continue %t; want %+v, true", end.Sending, end.ServerMayContinue, want)
		}
		if n := s.task("T-1").cancels; n != 0 || len(cancels(s.Server)) != 0 {
			t.Errorf("%d tasks/cancel, notifications %v; want none", n, cancels(s.Server))
		}
		w.nothingLeft()
	})
}

// A task is cancelled with tasks/cancel. The cancel is delivered when the server has answered, and has failed if the
// answer is an error. Finding B2.
func TestDeliveryOfTheCancelOfATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		var answer func(c *fakeserver.CallContext)
		hold := make(chan struct{})
		s.Handle("tasks/cancel", func(c *fakeserver.CallContext) { answer(c) })
		for _, tc := range []struct {
			name    string
			answer  func(c *fakeserver.CallContext)
			atEnd   event.Sending
			outcome []string
		}{
			{"answered", s.cancel, event.Sending{Delivery: event.DeliveryDelivered}, nil},
			{"refused", func(c *fakeserver.CallContext) { c.Error(-32602, "no such task") },
				event.Sending{Delivery: event.DeliveryFailed, Err: "the server answered with error -32602: no such task"}, nil},
			{"slow", func(c *fakeserver.CallContext) {
				<-hold
				s.cancel(c)
			}, event.Sending{Delivery: event.DeliveryPending}, []string{"s delivered"}},
		} {
			answer = tc.answer
			w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
			v, c := taskWorld(w, hub.CallRequest{})
			if _, err := v.win.Cancel("r1", "too slow"); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			if end := v.cancelled("r1"); end.Sending != tc.atEnd || !end.ServerMayContinue {
				t.Errorf("%s: the end says %+v, may continue %t", tc.name, end.Sending, end.ServerMayContinue)
			}
			if tc.name == "slow" {
				close(hold)
			}
			if got := v.outcomes("r1"); !slices.Equal(got, tc.outcome) {
				t.Errorf("%s: told %q", tc.name, got)
			}
			w.nothingLeft()
		}
	})
}

func unprintable(r rune) bool {
	return r < ' ' || r == '\u202e' || r == '\u2066' || r == '\u009b' || r == '\u2028'
}

// The reason of a cancel reaches the server and the windows word for word, in any script, but at most 256 code points
// of it. In the text of an error and in the log it is escaped. Finding B19.
func TestReasonReachesTheServerWordForWord(t *testing.T) {
	long := strings.Repeat("ü", 300)
	for name, reason := range map[string]string{
		"ideographic space": "もう\u3000いい",
		"no-break space":    "100\u00a0%",
		"joined emoji":      "\U0001F469\u200d\U0001F4BB says no",
		"Hindi":             "बहुत धीमा है, क्\u200dष",
		"lines and tabs":    "one\n\ttwo\r\n",
		"turned":            "abc\u202edcb\u2066",
		"control":           "a\x00\x1b[31mb\u009b",
		"quotes":            `"\\/` + "\u2028\u2029",
		"long":              long,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, l := hanging(), &logText{}
				logger := slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
				w := newWorldWith(t, hub.Options{Logger: logger}, serversOf("s", s), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				synctest.Wait()
				if _, err := v.win.Cancel("r1", reason); err != nil {
					t.Fatal(err)
				}
				want := reason
				if name == "long" {
					want = strings.Repeat("ü", 256)
				}
				e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
				got := cancels(s)
				if len(got) != 1 {
					t.Fatalf("%d cancels: %q", len(got), got)
				}
				if r := object(t, got[0])["reason"]; r != want {
					t.Errorf("the server got %q, want %q", r, want)
				}
				if r := v.cancelled("r1").Cancellation.Reason; r != want {
					t.Errorf("the window got %q, want %q", r, want)
				}
				if e.Meta["cancel_reason"] != want {
					t.Errorf("the caller's program got %q", e.Meta["cancel_reason"])
				}
				if strings.ContainsFunc(e.Message, unprintable) {
					t.Errorf("the error for people is not escaped: %q", e.Message)
				}
				logged := 0
				for line := range strings.Lines(l.String()) {
					if text, ok := object(t, line)["reason"].(string); ok {
						if logged++; strings.ContainsFunc(text, unprintable) {
							t.Errorf("the reason in the log is not escaped: %q", text)
						}
					}
				}
				if logged == 0 {
					t.Error("the reason is not in the log")
				}
			})
		})
	}
}
