package hub_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Ten thousand cancels in each direction leave nothing behind: no goroutine (the bubble would not end), nothing in the
// hub's tables, and no call that still runs in the server.
func TestNothingLeaks10000Cancels_long(t *testing.T) {
	all, batch := 10000, 50
	if testing.Short() {
		all = 500
	}
	bubble(t, func(t *testing.T) {
		s := hanging()
		var running atomic.Int64
		s.Tool("hang", func(c *fakeserver.CallContext) {
			running.Add(1)
			_ = c.Hang()
			running.Add(-1)
		})
		w, v := withWindow(t, s)
		w.begin("", "echo").ok(t)
		for range all / batch {
			var calls []*pendingCall
			for range batch {
				calls = append(calls, w.call(hub.CallRequest{Server: "s", Tool: "hang"}))
			}
			synctest.Wait()
			if ids := w.hub.CancelRequests(hub.CancelScope{Server: "s"}, "stop", event.OriginUser); len(ids) != batch {
				t.Fatalf("%d cancelled", len(ids))
			}
			for _, c := range calls {
				c.cancelled(t)
			}
		}
		told := len(eventsOf[*event.RequestCancelled](v))
		if n := s.Count(fakeserver.Method("notifications/cancelled")); n != all || told != all {
			t.Errorf("%d cancels on the wire, %d told", n, told)
		}
		if n := running.Load(); n != 0 {
			t.Errorf("%d cancelled calls still run in the server", n)
		}
		pass(30 * time.Second) // a question that comes sooner may be of a cancelled call, and is not shown
		for range all / batch {
			var asked []*fakeserver.OutRequest
			for range batch {
				q, err := s.Request(elicitation, formParams)
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, q)
			}
			synctest.Wait()
			for _, q := range asked {
				q.Cancel("stop")
			}
			synctest.Wait()
		}
		told = len(eventsOf[*event.RequestCancelled](v))
		opened, closed := len(eventsOf[*event.PromptOpened](v)), len(eventsOf[*event.PromptClosed](v))
		if n := len(responses(s)); n != 0 || told != 2*all || opened != all || closed != all {
			t.Errorf("%d responses; %d cancelled, %d opened, %d closed", n, told, opened, closed)
		}
		w.nothingLeft()
	})
}

// Every cancel is logged with its request, direction, origin and reason, the reason bounded and escaped; arguments,
// results, answers and environment never are.
func TestLogsCarryNoPayload(t *testing.T) {
	const secret = "s3cr3t"
	var log logText
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, strings.Replace(formParams, "Who?", "Who? "+secret, 1))
		a.Tool("tell", func(c *fakeserver.CallContext) {
			c.Log("error", secret)
			c.Progress(1, 2, secret)
			c.Text(secret)
		})
		a.Tool("fail", func(c *fakeserver.CallContext) { c.ErrorData(-32000, secret, `"`+secret+`"`) })
		logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w := newWorldWith(t, hub.Options{Logger: logger, Environ: []string{"PATH=/bin", "TOKEN=" + secret}},
			serversOf("s", a.Server),
			`s:"alwaysAllow":["*"],"env":{"KEY":"`+secret+`"},"args":["--token=`+secret+`"]`)
		v := w.everything()
		arguments := `{"password":"` + secret + `"}`
		w.call(hub.CallRequest{Server: "s", Tool: "tell", Arguments: arguments, Meta: `{"x/y":"` + secret + `"}`}).ok(t)
		w.call(hub.CallRequest{Server: "s", Tool: "fail", Arguments: arguments}).ok(t)
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask", Arguments: arguments})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: `{"name":"` + secret +
			`"}`})
		c.ok(t)

		outgoing := w.call(hub.CallRequest{ID: "mine", Server: "s", Tool: "hang", Arguments: arguments})
		synctest.Wait()
		v.cancel("mine", "two\nlines\x1b[31m"+strings.Repeat("é", 1000))
		outgoing.cancelled(t)
		c = w.call(hub.CallRequest{ID: "again", Server: "s", Tool: "ask", Arguments: arguments})
		p := v.prompt()
		var q *fakeserver.OutRequest
		for len(a.asked) > 0 {
			q = <-a.asked
		}
		q.Cancel("mine\r\nforged=1" + strings.Repeat("x", 10000))
		synctest.Wait()
		close(a.finish)
		c.ok(t)

		text := log.String()
		if strings.Contains(text, secret) {
			t.Errorf("the log holds a payload:\n%s", text)
		}
		found := map[string]bool{}
		for line := range strings.Lines(text) {
			entry := object(t, line)
			if entry["msg"] != "request cancelled" || entry["level"] != "INFO" {
				continue
			}
			id, reason := fmt.Sprint(entry["request_id"]), fmt.Sprint(entry["reason"])
			found[fmt.Sprintf("%s %v %v", id, entry["direction"], entry["origin"])] = true
			if strings.ContainsFunc(reason, unicode.IsControl) || utf8.RuneCountInString(reason) > 300 || reason == "" {
				t.Errorf("%s: reason %q", id, reason)
			}
		}
		for _, want := range []string{"mine client_to_server user", p.RequestID + " server_to_client server"} {
			if !found[want] {
				t.Errorf("%q is not in the log: %v", want, found)
			}
		}
	})
}
