package hub_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Two things happen at the same instant, or in adjacent lines of a server. The explorer of hub/core plays all orders of
// what the core is told; these tests have the goroutines around it.

// A cancel and the response, in either order: one end, the same for everybody, and at most one cancel on the wire.
func TestCancelAndResponseInTheSameInstant_long(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, answer := hanging(), make(chan struct{})
		s.Tool("race", func(c *fakeserver.CallContext) {
			<-answer
			c.Text("won")
		})
		w, v := withWindow(t, s)
		rounds := 400
		if testing.Short() {
			rounds = 150
		}
		for round := range rounds {
			id := fmt.Sprintf("r%d", round)
			c := w.begin(id, "race")
			wire := w.hub.Requests("s")[0].WireID
			var out event.Outcome
			both := []func(){func() { out, _ = v.win.Cancel(id, "race") }, func() { answer <- struct{}{} }}
			together(both[round%2], both[1-round%2])
			<-c.done
			end, sent := v.terminals()[id], s.Count(fakeserver.CancelOf([]byte(wire)))
			if c.err == nil {
				if end != "done " || sent > 0 {
					t.Fatalf("the caller got the result, the windows %q, the server %d cancels", end, sent)
				}
				continue
			}
			if e := c.cancelled(t); end != "cancelled " || out != event.OutcomeCancelling || sent > 1 ||
				e.Meta["cancel_reason"] != "race" {
				t.Fatalf("the caller got %v, the windows %q, the user %v, the server %d cancels", c.err, end, out, sent)
			}
		}
		w.nothingLeft()
	})
}

// A withdrawal and the answer: the prompt closes once, and the server gets at most one response.
func TestWithdrawAndAnswerInTheSameInstant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w, v := withWindow(t, a.Server)
		for round := range 100 {
			c := w.begin(fmt.Sprintf("r%d", round), "ask")
			p, q, before := v.prompt(), <-a.asked, len(responses(a.Server))
			var err error
			together(func() { q.Cancel("never mind") }, func() {
				err = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			})
			closed, sent := last[*event.PromptClosed](v), len(responses(a.Server))-before
			if closed.PromptID != p.ID || sent > 1 || sent == 1 && closed.Cause != event.CauseAnswered ||
				(err == nil) != (closed.Cause == event.CauseAnswered) {
				t.Fatalf("closed %v, answer %v, %d responses", closed.Cause, err, sent)
			}
			if err != nil {
				wantReason(t, err, event.ReasonPromptClosed)
			}
			if sent == 0 {
				a.finish <- struct{}{}
			}
			c.ok(t)
			if end := v.terminals()[p.RequestID]; end != "done " && end != "cancelled " || sent == 1 && end != "done " {
				t.Fatalf("the question ended %q with %d responses", end, sent)
			}
		}
	})
}

// Two windows answer: one answer is taken, the other window is told that the prompt is closed, and the server gets the
// answer that was taken.
func TestFirstAnswerTakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w, v := withWindow(t, a.Server)
		views := []*view{v, w.everything()}
		wants := []string{`{"action":"accept","content":{"name":"Ada"}}`, `{"action":"decline"}`}
		for round := range 100 {
			c := w.begin("", "ask")
			p := v.prompt()
			var errs [2]error
			both := []func(){func() {
				errs[0] = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			}, func() {
				errs[1] = views[1].win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
			}}
			together(both[round%2], both[1-round%2])
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			if errs[winner] != nil {
				t.Fatalf("nobody won: %v", errs)
			}
			wantReason(t, errs[1-winner], event.ReasonPromptClosed)
			if got := textOf(t, c.ok(t)); got != wants[winner] {
				t.Fatalf("window %d won, and the server got %s", winner, got)
			}
			for _, v := range views {
				if closed := last[*event.PromptClosed](v); closed.WindowID != views[winner].win.ID() || closed.PromptID != p.ID {
					t.Fatalf("%+v", closed)
				}
			}
		}
	})
}

// A server exits while its call is being cancelled: the call has one terminal event.
func TestServerExitsMidCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, v := withWindow(t, s)
		for round := range 100 {
			id := fmt.Sprintf("r%d", round)
			c := w.begin(id, "hang")
			together(func() { _, _ = v.win.Cancel(id, "") }, s.Disconnect)
			<-c.done
			e := event.AsError(c.err)
			if end := v.terminals()[id]; e == nil || !(e.Reason == event.ReasonCancelled && end == "cancelled " ||
				e.Reason == event.ReasonServerGone && end == "failed ") {
				t.Fatalf("the caller got %v, the windows %q", c.err, end)
			}
		}
		w.begin("", "echo").ok(t)
		w.nothingLeft()
	})
}

// A cancel and an answer between two rounds: the call ends once, and is not sent again if the cancel has closed the
// prompt. If it is sent again, at most one cancel follows.
func TestCancelAndAnswerBetweenRounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(1)
		w, v := withWindow(t, s)
		for i := range 100 {
			id := fmt.Sprintf("r%d", i)
			c := w.begin(id, "ask")
			p, sent, cancelled := v.prompt(), toolCalls(s), len(cancels(s))
			together(func() { _, _ = v.win.Cancel(id, "no") }, func() {
				_ = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			})
			if <-c.done; c.err != nil {
				c.cancelled(t)
			}
			retried := toolCalls(s) - sent
			if last[*event.PromptClosed](v).Cause == event.CauseParent && retried != 0 {
				t.Fatal("the call was tried again after its prompt was closed by the cancel")
			}
			if n := len(cancels(s)) - cancelled; n > retried {
				t.Fatalf("%d cancels were sent for %d retries", n, retried)
			}
		}
	})
}

// A cancel and the end of a task: one terminal event, and the caller is told the same.
func TestTaskCancelAndEndInTheSameInstant(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w, v := withWindow(t, s.Server)
		for i := range 50 {
			id := fmt.Sprintf("r%d", i)
			c := w.begin(id, "work")
			pass(999 * time.Millisecond)
			together(func() { <-time.NewTimer(time.Millisecond).C; _, _ = v.win.Cancel(id, "no") }, func() {
				s.set(fmt.Sprintf("T-%d", i+1), []string{"completed", "cancelled", "failed", ""}[i%4], "")
			})
			<-c.done
			_, cancelled := v.terminalOf(id).(*event.RequestCancelled)
			if e := event.AsError(c.err); (e != nil && e.Reason == event.ReasonCancelled) != cancelled {
				t.Errorf("%s: the caller was told %v, the windows cancelled: %v", id, c.err, cancelled)
			}
		}
		pass(time.Minute)
		w.nothingLeft()
	})
}

// Each of these lines of a server comes right behind the one before. The question belongs to the call, whose end closes
// it; a withdrawal counts, though the end of its call follows; and a withdrawal that follows the cancel of its call
// comes too late to be the cause.
func TestAdjacentLines_long(t *testing.T) {
	t.Parallel()
	type served = *fakeserver.CallContext
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for name, tc := range map[string]struct {
		serve     func(t *testing.T, s *fakeserver.Server, c served, now <-chan struct{})
		cancels   bool
		cause     event.PromptCause
		reason    string
		responses int
	}{
		"a question, and the result": {func(t *testing.T, s *fakeserver.Server, c served, _ <-chan struct{}) {
			if err := s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`+"\n"+
				`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", elicitation, formParams, c.ID)); err != nil {
				t.Error(err)
			}
		}, false, event.CauseParent, "the request that caused it is over", 1},
		"a withdrawal, and the result": {func(_ *testing.T, _ *fakeserver.Server, c served, now <-chan struct{}) {
			q := c.Request(elicitation, formParams)
			<-now
			q.Cancel("never mind")
			c.Text("done without you")
		}, false, event.CauseWithdrawn, "never mind", 0},
		"a withdrawal behind the cancel": {func(_ *testing.T, _ *fakeserver.Server, c served, _ <-chan struct{}) {
			q := c.Request(elicitation, formParams)
			<-c.Cancelled()
			q.Cancel("as you wish")
		}, true, event.CauseParent, "enough", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				synctest.Test(t, func(t *testing.T) {
					s, now := fakeserver.New(), make(chan struct{})
					s.Tool("ask", func(c *fakeserver.CallContext) { tc.serve(t, s, c, now) })
					w, v := withWindow(t, s)
					c := w.begin("r1", "ask")
					if close(now); tc.cancels {
						v.cancel("r1", "enough")
						c.cancelled(t)
					} else {
						c.ok(t)
					}
					if n := len(eventsOf[*event.PromptOpened](v)); n > 0 { // or the call was over before it could open
						closed := last[*event.PromptClosed](v)
						v.wantClosed(closed.PromptID, tc.cause, map[bool]event.Origin{true: event.OriginServer,
							false: event.OriginParent}[tc.cause == event.CauseWithdrawn], tc.reason)
					}
					v.noPrompt()
					pass(2 * time.Second) // the hub waits a moment for a withdrawal
					if got := responses(s); len(got) != tc.responses {
						t.Errorf("answered %v", got)
					}
				})
				if t.Failed() {
					return
				}
			}
		})
	}
}

// A server withdraws a question of which the hub does not know the call, and then its last call ends: the question is
// closed as withdrawn, with the server's reason, whichever of the two the hub sees first.
func TestWithdrawalBeforeTheLastCallEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		var end chan struct{}
		s.Tool("ends", func(c *fakeserver.CallContext) {
			<-end
			_ = s.Notify("notifications/cancelled", `{"requestId":"q","reason":"found it"}`)
			c.Text("done")
		})
		w, v := withWindow(t, s)
		for n := range 100 {
			end = make(chan struct{})
			before, call := w.begin(fmt.Sprint("a", n), "hang"), w.begin(fmt.Sprint("b", n), "ends")
			if _, err := s.RequestWithID(`"q"`, elicitation, formParams); err != nil {
				t.Fatal(err)
			}
			p := v.prompt()
			v.cancel(fmt.Sprint("a", n), "enough")
			before.cancelled(t)
			synctest.Wait()
			close(end)
			call.ok(t)
			v.wantClosed(p.ID, event.CauseWithdrawn, event.OriginServer, "found it")
			pass(time.Minute)
		}
		w.nothingLeft()
	})
}

// Closing twice, at once and again, is one close; what comes afterwards is refused and harms nothing.
func TestCloseIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, v := withWindow(t, hanging())
		c := w.begin("r1", "hang")
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
		c.cancelled(t)
		n := len(v.events)
		v.win.Detach(true)
		v.win.Detach(false)
		v.win.SetRoots([]hub.Root{{URI: "file:///a"}})
		v.win.SetCapabilities(allKinds, true, nil)
		if pass(time.Hour); len(v.events) != n || v.terminals()["r1"] != "cancelled " {
			t.Errorf("%d events after the end, which was %q", len(v.events)-n, v.terminals()["r1"])
		}
	})
}
