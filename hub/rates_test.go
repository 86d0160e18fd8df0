package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A server's notices of changes are bounded per second. What is over the bound is told later, once for each list, so
// that no window goes on showing an old one. The log is bounded as well. Finding A6.
func TestNoticesOfAServerAreBounded_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, l := hanging(), &logText{}
		w := newWorldWith(t, hub.Options{Logger: slog.New(slog.NewJSONHandler(l, nil))}, serversOf("s", s), "s:"+allow)
		v := w.everything()
		w.begin("", "echo").ok(t)
		const each = 2000
		long := strings.Repeat("x", bounds.URIBytes)
		for i := range each {
			for method, params := range map[string]string{
				"notifications/tools/list_changed": "", "notifications/prompts/list_changed": "",
				"notifications/resources/list_changed": "", "notifications/resources/updated": fmt.Sprintf(`{"uri":"file:///%d"}`,
					i),
			} {
				if err := s.Notify(method, params); err != nil {
					t.Fatal(err)
				}
			}
			if i < 100 {
				if err := s.Notify("notifications/resources/updated", `{"uri":"`+long+`x"}`); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		count := func() (n int) {
			return len(eventsOf[*event.ToolsChanged](v)) + len(eventsOf[*event.McpPromptsChanged](v)) +
				len(eventsOf[*event.ResourcesChanged](v)) + len(eventsOf[*event.ResourceUpdated](v))
		}
		at := count()
		if at > bounds.NoticeBurst || at < bounds.NoticeBurst/2 {
			t.Errorf("%d notices passed at once", at)
		}
		pass(2 * time.Second)
		if late := count() - at; late != 3 {
			t.Errorf("%d notices were told later, want one of each list", late)
		}
		said := notes(v, "noticesDropped")
		if want := fmt.Sprintf(`"count":"%d"`, 4*each+100-bounds.NoticeBurst); len(said) != 1 ||
			!strings.Contains(said[0], want) {
			t.Errorf("people were told %q, want %s", said, want)
		}
		if n := strings.Count(l.String(), "\n"); n > 40 {
			t.Errorf("%d lines are in the log", n)
		}
	})
}

// A server may ask a bounded number of questions per second, and more for each call that it was sent; a question over
// the bound is refused, and windows are told. Finding A4.
func TestQuestionsOfAServerAreBoundedInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		refused, withdrawn := 0, 0
		s.Tool("flood", func(c *fakeserver.CallContext) {
			for range bounds.QuestionBurst + bounds.QuestionsPerCall + 100 { // each is taken back at once
				q := c.Request(elicitation, formParams)
				synctest.Wait()
				select {
				case m := <-q.Response():
					if m.Error == nil || m.Error.Code != -32000 || !strings.Contains(m.Error.Message, "questions a second") {
						t.Errorf("refused with %+v", m)
					}
					refused++
				default:
					q.Cancel("never mind")
					withdrawn++
				}
			}
			c.Text("done")
		})
		w, v := withWindow(t, s)
		w.call(hub.CallRequest{Server: "s", Tool: "flood"}).ok(t)
		if refused != 100 {
			t.Errorf("%d questions were refused and %d asked, want 100 and the others", refused, withdrawn)
		}
		if said := notes(v, "questionsTooFast"); len(said) == 0 || len(said) > bounds.ComplaintBurst {
			t.Errorf("people were told %d times", len(said))
		}
	})
}

// The subscriptions at one server and those of one window are bounded, also when all are asked for at once; one that is
// given up makes room, and another window has its own bound.
func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"of a server": bounds.Subscriptions,
		"of a window": bounds.ClientSubscriptions} {
		subtest(t, name, func(t *testing.T) {
			w := newWorld(t, serversOf("s", offering().Server))
			ctx, subscribe, unsubscribe := context.Background(), w.hub.SubscribeResource, w.hub.UnsubscribeResource
			if name == "of a window" {
				win := w.everything().win
				subscribe, unsubscribe = win.SubscribeResource, win.UnsubscribeResource
			}
			var mu sync.Mutex
			var taken []string
			var all sync.WaitGroup
			for i := range most + 10 {
				all.Go(func() {
					uri := fmt.Sprintf("file:///%d", i)
					err := subscribe(ctx, "s", uri)
					mu.Lock()
					defer mu.Unlock()
					if e := event.AsError(err); err == nil {
						taken = append(taken, uri)
					} else if e.Code != event.CodeResourceExhausted || e.Reason != event.ReasonBoundExceeded {
						t.Error(err)
					}
				})
			}
			if all.Wait(); len(taken) != most {
				t.Fatalf("%d subscriptions were taken, want %d", len(taken), most)
			}
			if err := unsubscribe(ctx, "s", taken[0]); err != nil {
				t.Fatal(err)
			}
			if err := subscribe(ctx, "s", "file:///new"); err != nil {
				t.Errorf("there is room again, and: %v", err)
			}
			err := w.everything().win.SubscribeResource(ctx, "s", "file:///other")
			if (err != nil) != (name == "of a server") {
				t.Errorf("another window: %v", err)
			}
		})
	}
}

// A notice that is told a second later is not told after the end of the hub: Close waits for the goroutine.
func TestNothingIsToldAfterTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, l := hanging(), &logText{}
		w := newWorldWith(t, hub.Options{Logger: slog.New(slog.NewJSONHandler(l, nil))}, serversOf("s", s), "s:"+allow)
		w.begin("", "echo").ok(t)
		for range 2 * bounds.NoticeBurst {
			if err := s.Notify("notifications/resources/list_changed", ""); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := w.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		before := l.String()
		pass(2 * time.Second)
		if after := l.String(); after != before {
			t.Errorf("after the end the log goes on: %s", strings.TrimPrefix(after, before))
		}
	})
}
