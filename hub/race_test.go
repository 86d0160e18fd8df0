package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
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

// terminals returns the terminal events that v was told, in order, by request.
func (v *view) terminals() map[string]string {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	ends := map[string]string{}
	for _, e := range v.events {
		switch b := e.Body.(type) {
		case *event.RequestCancelled:
			ends[b.RequestID] += "cancelled "
		case *event.RequestFinished:
			ends[b.RequestID] += b.State.String() + " "
		}
	}
	return ends
}

// A cancel and the response in the same instant, in either order: one end, the same for everybody, and at most one
// cancel on the wire.
func TestCancelAndResponseInTheSameInstant_long(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		answer := make(chan struct{})
		s.Tool("race", func(c *fakeserver.CallContext) {
			<-answer
			c.Text("won")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		won := 0
		rounds := 400
		if testing.Short() {
			rounds = 150
		}
		for round := range rounds {
			id := fmt.Sprintf("r%d", round)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "race"})
			synctest.Wait()
			wire := w.hub.Requests("s")[0].WireID
			var out event.Outcome
			var both sync.WaitGroup
			cancel := func() { out, _ = v.win.Cancel(id, "race") }
			if round%2 == 0 {
				both.Go(cancel)
			}
			both.Go(func() { answer <- struct{}{} })
			if round%2 == 1 {
				both.Go(cancel)
			}
			both.Wait()
			<-c.done
			end := v.terminals()[id]
			sent := s.Count(fakeserver.CancelOf([]byte(wire)))
			switch {
			case c.err == nil:
				won++
				if end != "done " || sent > 0 {
					t.Fatalf("the caller got the result, the windows %q, the server %d cancels", end, sent)
				}
			default:
				e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
				if end != "cancelled " || out != event.OutcomeCancelling || sent > 1 || e.Meta["cancel_reason"] != "race" {
					t.Fatalf("the caller got %v, the windows %q, the user %v, the server %d cancels", c.err, end, out, sent)
				}
			}
			if out == event.OutcomeAlreadyFinished && c.err != nil {
				t.Fatal("the user was told that it had finished, and it was cancelled")
			}
		}
		t.Logf("the response won %d of %d", won, rounds)
		if left := w.hub.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
}

// A withdrawal and the answer in the same instant: the prompt closes once, and the server gets at most one response.
func TestWithdrawAndAnswerInTheSameInstant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		answered := 0
		for round := range 300 {
			c := w.call(hub.CallRequest{ID: fmt.Sprintf("r%d", round), Server: "s", Tool: "ask"})
			p := v.prompt()
			q := <-a.asked
			before := len(responses(a.Server))
			var both sync.WaitGroup
			var err error
			both.Go(func() { q.Cancel("never mind") })
			both.Go(func() {
				err = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			})
			both.Wait()
			synctest.Wait()
			closed := last[*event.PromptClosed](v)
			sent := len(responses(a.Server)) - before
			if closed.PromptID != p.ID || sent > 1 || sent == 1 && closed.Cause != event.CauseAnswered ||
				(err == nil) != (closed.Cause == event.CauseAnswered) {
				t.Fatalf("closed %v, answer %v, %d responses", closed.Cause, err, sent)
			}
			if err != nil {
				wantReason(t, err, event.ReasonPromptClosed)
			}
			if sent == 1 {
				answered++
			} else {
				a.finish <- struct{}{}
			}
			c.ok(t)
			if end := v.terminals()[p.RequestID]; end != "done " && end != "cancelled " || sent == 1 && end != "done " {
				t.Fatalf("the question ended %q with %d responses", end, sent)
			}
		}
		t.Logf("%d of 300 were answered", answered)
	})
}

// A server that exits while its call is being cancelled: the call has one terminal event.
func TestServerExitsMidCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for round := range 100 {
			id := fmt.Sprintf("r%d", round)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "hang"})
			synctest.Wait()
			var both sync.WaitGroup
			both.Go(func() { _, _ = v.win.Cancel(id, "") })
			both.Go(s.Disconnect)
			both.Wait()
			<-c.done
			e := event.AsError(c.err)
			if end := v.terminals()[id]; e == nil || !(e.Reason == event.ReasonCancelled && end == "cancelled " ||
				e.Reason == event.ReasonServerGone && end == "failed ") {
				t.Fatalf("the caller got %v, the windows %q", c.err, end)
			}
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		if left := w.hub.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
}

// Drain ends every request, prompt and server with origin shutdown, and refuses everything new. Windows stay attached
// until Close.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		starting := hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, map[string]*fakeserver.Server{"s": a.Server, "m": rounds(1), "starting": starting}, "m:"+
			allow, "starting:"+allow, `s:"alwaysAllow":["hang","ask"]`)
		v := w.everything()
		calls := []*pendingCall{
			w.call(hub.CallRequest{Server: "s", Tool: "hang"}), w.call(hub.CallRequest{Server: "s", Tool: "ask"}),
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}),
			w.call(hub.CallRequest{Server: "m", Tool: "ask"}), w.call(hub.CallRequest{Server: "starting", Tool: "echo"}),
		}
		synctest.Wait()
		cancelled, stopped := w.hub.Drain(context.Background(), "update")
		if cancelled < len(calls) || stopped != 3 || !w.hub.Draining() {
			t.Errorf("%d cancelled, %d stopped", cancelled, stopped)
		}
		for _, c := range calls {
			if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "shutdown" ||
				e.Meta["cancel_reason"] != "update" {
				t.Errorf("%v", e.Meta)
			}
		}
		v.noPrompt()
		closed := eventsOf[*event.PromptClosed](v)
		if len(closed) != 3 {
			t.Errorf("%d prompts closed", len(closed))
		}
		for _, c := range closed {
			if c.Cause != event.CauseShutdown || c.Origin != event.OriginShutdown || c.Reason != "update" {
				t.Errorf("%+v", c)
			}
		}
		for _, c := range eventsOf[*event.RequestCancelled](v) {
			if c.Cancellation.Origin != event.OriginShutdown {
				t.Errorf("%+v", c)
			}
		}
		for _, name := range []string{"s", "m", "starting"} {
			if info := w.server(name); info.State != event.ServerStopped {
				t.Errorf("%+v", info)
			}
		}
		ctx := context.Background()
		w.call(hub.CallRequest{Server: "s", Tool: "hang"}).want(t, event.CodeUnavailable, event.ReasonDraining)
		_, err := w.hub.StartServer(ctx, "s")
		wantReason(t, err, event.ReasonDraining)
		_, err = w.tryAttach(hub.Hello{})
		wantReason(t, err, event.ReasonDraining)
		_, _, _, err = w.hub.LoadConfig(ctx, nil)
		wantReason(t, err, event.ReasonDraining)
		if v.closed != nil {
			t.Error("the window was ended before Close: it could not see how things ended")
		}
		if err := w.hub.Close(ctx); err != nil || v.closed == nil || v.closed.Reason != event.ReasonDraining {
			t.Errorf("%v, window %v", err, v.closed)
		}
		if left := w.hub.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
}

// Closing twice, at once and again, is one close; what comes afterwards is refused and harms nothing.
func TestCloseIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		synctest.Wait()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := w.hub.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() { w.hub.Drain(context.Background(), "x") })
		}
		all.Wait()
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		n := len(v.events)
		v.win.Detach(true)
		v.win.Detach(false)
		v.win.SetRoots([]hub.Root{{URI: "file:///a"}})
		v.win.SetCapabilities(allKinds, true, nil)
		wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: "prompt-1", Action: event.ActionDecline}),
			event.ReasonWindowDetached)
		if out, err := v.win.Cancel("r1", ""); out != event.OutcomeAlreadyFinished || err != nil {
			t.Errorf("%v %v", out, err)
		}
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Error(err)
		}
		pass(time.Hour)
		if len(v.events) != n {
			t.Errorf("a window was told something after its end")
		}
		if end := v.terminals()["r1"]; end != "cancelled " {
			t.Errorf("%q", end)
		}
	})
}

// count is a window that only counts its events.
type count struct {
	opened, closed, cancelled, finished int
}

func (c *count) Deliver(e event.Event) {
	switch e.Body.(type) {
	case *event.PromptOpened:
		c.opened++
	case *event.PromptClosed:
		c.closed++
	case *event.RequestCancelled:
		c.cancelled++
	case *event.RequestFinished:
		c.finished++
	}
}

func (c *count) Closed(*event.Error) {}

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
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		var seen count
		if _, _, err := w.hub.Attach(hub.Hello{Kinds: allKinds, SamplingTools: true}, &seen); err != nil {
			t.Fatal(err)
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
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
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
			}
		}
		synctest.Wait()
		if n := s.Count(fakeserver.Method("notifications/cancelled")); n != all || seen.cancelled != all {
			t.Errorf("%d cancels on the wire, %d told", n, seen.cancelled)
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
		if n := len(responses(s)); n != 0 || seen.cancelled != 2*all || seen.opened != all || seen.closed != all {
			t.Errorf("%d responses, %+v", n, seen)
		}
		if left := w.hub.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
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
		if _, err := v.win.Cancel("mine", "two\nlines\x1b[31m"+strings.Repeat("é", 1000)); err != nil {
			t.Fatal(err)
		}
		outgoing.want(t, event.CodeCancelled, event.ReasonCancelled)
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
