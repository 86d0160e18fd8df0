package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

func (v *view) cancelled(id string) *event.RequestCancelled {
	v.t.Helper()
	end, ok := v.terminalOf(id).(*event.RequestCancelled)
	if !ok {
		v.t.Fatalf("the end of %s is %+v", id, v.terminalOf(id))
	}
	return end
}

// Of many cancels that are never delivered, each outcome is told once and nothing is left over, when their time
// is over and when the hub is closed first. Finding B2.
func TestManyPendingCancelsLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"time", "close"} {
		subtest(t, end, func(t *testing.T) {
			const n = 200
			s := hanging()
			w, v := withWindow(t, s)
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
	}
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
		subtest(t, name, func(t *testing.T) {
			s, l := hanging(), &logText{}
			logger := slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
			w := newWorldWith(t, hub.Options{Logger: logger}, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.begin("r1", "hang")
			v.cancel("r1", reason)
			want := reason
			if name == "long" {
				want = strings.Repeat("ü", 256)
			}
			e := c.cancelled(t)
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
	}
}
