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

// hasEnded tells whether the window has been told of the end of a request by now: it does not wait.
func (v *view) hasEnded(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended[id]
}

// stopWaiting gives up on an open request, and checks that it is over, for everybody, when that returns.
func (w *world) stopWaiting(v *view, id string) *event.RequestCancelled {
	w.t.Helper()
	if out, err := v.win.StopWaiting(id, "enough"); out != event.OutcomeCancelling || err != nil {
		w.t.Fatalf("outcome %v, error %v", out, err)
	}
	if !v.hasEnded(id) {
		w.t.Error("the window has not been told of the end")
	}
	for _, r := range w.hub.Requests("") {
		if r.ID == id {
			w.t.Errorf("it is still listed as %s", r.State)
		}
	}
	end, ok := v.terminalOf(id).(*event.RequestCancelled)
	if !ok || end.Cancellation.Origin != event.OriginUser || end.Cancellation.Reason != "enough" {
		w.t.Fatalf("the end is %+v", end)
	}
	return end
}

// In every state the request ends before StopWaiting returns; what was sent to the server is cancelled there once, and
// what was not is not.
func TestStopWaitingEndsAtOnceInEveryState(t *testing.T) {
	tools := `"approvals":{"hang":"allow","ask":"allow"}`
	for _, tc := range []struct {
		state, tool string
		server      func() *fakeserver.Server
		sent        bool
	}{
		{"awaiting_approval", "echo", func() *fakeserver.Server { return hanging() }, false},
		{"connecting", "hang", func() *fakeserver.Server { return hanging(fakeserver.WithSilentProbe()) }, false},
		{"running", "hang", func() *fakeserver.Server { return hanging() }, true},
		{"running", "hang", func() *fakeserver.Server { return hanging(fakeserver.WithModern()) }, true},
		{"awaiting_input", "ask", func() *fakeserver.Server { return asking(elicitation, formParams).Server }, true},
	} {
		t.Run(tc.state, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := tc.server()
				w := newWorld(t, serversOf("s", s), "s:"+tools)
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: tc.tool})
				if got := w.state("r1"); got != tc.state {
					t.Fatalf("the call is %s, want %s", got, tc.state)
				}
				end := w.stopWaiting(v, "r1")
				if end.ServerMayContinue != tc.sent {
					t.Errorf("the server may go on: %v, want %v", end.ServerMayContinue, tc.sent)
				}
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				want := 0
				if tc.sent {
					want = 1
				}
				if got := cancels(s); len(got) != want {
					t.Errorf("the server was sent %v", got)
				}
				if n := toolCalls(s); n != want {
					t.Errorf("%d calls reached the server", n)
				}
				if out, err := v.win.StopWaiting("r1", "again"); out != event.OutcomeAlreadyFinished || err != nil {
					t.Errorf("a second one: %v, %v", out, err)
				}
				if left := w.hub.Unleft(); left != 0 {
					t.Errorf("%d requests were not left by their goroutines", left)
				}
				pass(6 * time.Second) // the time of the probe, and that for a server to withdraw its question
				w.nothingLeft()
			})
		})
	}
}

// A task is cancelled by tasks/cancel, whose answer the end of the call does not wait for.
func TestStopWaitingEndsTask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		if end := w.stopWaiting(v, "r1"); !end.ServerMayContinue || end.Task == nil {
			t.Errorf("the end is %+v", end)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		synctest.Wait()
		if n := s.task("T-1").cancels; n != 1 || len(cancels(s.Server)) != 0 {
			t.Errorf("%d tasks/cancel, notifications %v", n, cancels(s.Server))
		}
		w.nothingLeft()
	})
}

// A task that asks a person is given up: its prompt closes, and tasks/cancel is sent all the same.
func TestStopWaitingClosesThePromptOfATask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.ask("T-1")
		pass(2 * time.Second)
		asked := v.prompt().ID
		w.stopWaiting(v, "r1")
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.noPrompt()
		if closed := last[*event.PromptClosed](v); closed.PromptID != asked || closed.Cause != event.CauseParent {
			t.Errorf("the prompt closed as %+v", closed)
		}
		if n := s.task("T-1").cancels; n != 1 {
			t.Errorf("got %d tasks/cancel, want 1", n)
		}
		pass(6 * time.Second) // the time for a server to withdraw its question
		w.nothingLeft()
	})
}

// A StopServer right behind StopWaiting does not swallow the tasks/cancel: the task would go on for ever.
func TestStopWaitingThenStopServerStillCancelsTask(t *testing.T) {
	eras(t, func(t *testing.T, s *taskServer) {
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		w.stopWaitingThenStop(v)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if n := s.task("T-1").cancels; n != 1 {
			t.Errorf("%d tasks/cancel", n)
		}
		w.nothingLeft()
	})
}

func (w *world) stopWaitingThenStop(v *view) {
	w.t.Helper()
	if _, err := v.win.StopWaiting("r1", ""); err != nil {
		w.t.Error(err)
	}
	if _, err := v.win.StopServer(context.Background(), "s", "enough"); err != nil {
		w.t.Error(err)
	}
}

// A cancelled call can be held up by the disk: here by a read of the kept approvals that does not return. The request
// is over for everybody all the same; its goroutine finds that it comes too late, and nothing is sent.
func TestStopWaitingWhileTheDiskHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), `s:"approvals":{"hang":"ask"}`)
		gate := make(chan struct{})
		w.hub.HoldApprovals(gate)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		if got := w.state("r1"); got != "queued" {
			t.Fatalf("the call is %s", got)
		}
		if _, err := v.win.Cancel("r1", "too slow"); err != nil {
			t.Fatal(err)
		}
		if got := w.state("r1"); got != "cancelling" {
			t.Fatalf("the disk hangs, and the call is %s", got)
		}
		if out, err := v.win.StopWaiting("r1", "enough"); out != event.OutcomeCancelling || err != nil || !v.hasEnded("r1") {
			t.Errorf("outcome %v, error %v, told: %v", out, err, v.hasEnded("r1"))
		}
		end := last[*event.RequestCancelled](v)
		if end.Cancellation.Reason != "too slow" || end.ServerMayContinue || end.ServerNotified() {
			t.Errorf("the end is %+v", end)
		}
		if left := w.hub.Unleft(); left != 1 || c.over() {
			t.Errorf("%d goroutines are still with it; the call has returned: %v", left, c.over())
		}
		close(gate)
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["cancel_reason"] != "too slow" {
			t.Errorf("the caller was told %v", e)
		}
		if n := toolCalls(s); n != 0 {
			t.Errorf("%d calls reached the server", n)
		}
		w.nothingLeft()
	})
}

// An unknown id is remembered as by a cancel; the start of a session cannot be given up; a server's question is
// answered with cancel.
func TestStopWaitingOutcomes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams, fakeserver.WithSilentProbe())
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		if out, err := v.win.StopWaiting("r1", "never mind"); out != event.OutcomeUnknown || err != nil {
			t.Errorf("unknown: %v, %v", out, err)
		}
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"}).want(t, event.CodeCancelled, event.ReasonCancelled)
		if w.starts("s") != 0 {
			t.Error("the server was started")
		}
		c := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "ask"})
		synctest.Wait()
		for _, r := range w.hub.Requests("s") {
			if r.Method != "initialize" {
				continue
			}
			if _, err := v.win.StopWaiting(r.ID, ""); event.AsError(err) == nil ||
				event.AsError(err).Reason != event.ReasonUncancellable {
				t.Errorf("the start of a session: %v", err)
			}
		}
		<-a.asked
		p := v.prompt()
		if end := w.stopWaiting(v, p.RequestID); end.Direction != event.Incoming || end.ServerMayContinue {
			t.Errorf("the server's question ended with %+v", end)
		}
		if r := string(c.ok(t).Result); r == "" {
			t.Error("no result")
		}
		if got := responses(a.Server); len(got) != 1 {
			t.Errorf("the server got %v", got)
		}
		w.nothingLeft()
	})
}

// Giving up and the response in the same instant, in either order: one end, the same for everybody.
func TestStopWaitingAndResponseInTheSameInstant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		answer := make(chan struct{})
		s.Tool("race", func(c *fakeserver.CallContext) {
			<-answer
			c.Text("won")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for round := range 200 {
			id := fmt.Sprintf("r%d", round)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "race"})
			wire := w.request(id).WireID
			var both sync.WaitGroup
			both.Go(func() { answer <- struct{}{} })
			both.Go(func() { _, _ = v.win.StopWaiting(id, "race") })
			if round%2 == 0 {
				both.Go(func() { _, _ = v.win.Cancel(id, "race") })
			}
			both.Wait()
			<-c.done
			want := "done "
			if c.err != nil {
				want = "cancelled "
			}
			if got, sent := v.terminals()[id], s.Count(fakeserver.CancelOf([]byte(wire))); got != want || sent > 1 {
				t.Fatalf("the caller got %v, the windows %q, the server %d cancels", c.err, got, sent)
			}
		}
		w.nothingLeft()
	})
}

// A question of the hub's own ends at once, too, unless a person has answered it: an answer in hand wins, as what was
// allowed would start all the same.
func TestStopWaitingForAQuestionAboutAServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		w.stopWaiting(v, v.launch().RequestID)
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		w.nothingLeft()

		for range 50 {
			before := len(w.started())
			if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
				t.Fatal(err)
			}
			for _, r := range w.hub.Remembered("s") {
				w.hub.Forget([]string{r.ID})
			}
			started := make(chan error, 1)
			go func() {
				_, err := w.hub.StartServer(context.Background(), "s")
				started <- err
			}()
			p := v.launch()
			var both sync.WaitGroup
			both.Go(func() {
				_ = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: event.ScopeWindow})
			})
			both.Go(func() { _, _ = v.win.StopWaiting(p.RequestID, "race") })
			both.Wait()
			err := <-started
			end := v.terminals()[p.RequestID]
			if ran := len(w.started()) > before; ran != (err == nil) || ran != (end == "done ") {
				t.Fatalf("started: %v (%v), and the windows were told %q", ran, err, end)
			}
		}
		w.nothingLeft()
	})
}

// A cancel of such a question is no answer to it: a StopWaiting right behind it ends the question at once.
func TestStopWaitingRightBehindACancelOfAQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		id := v.launch().RequestID
		if !w.hub.CancelAndStopWaiting(id) || !v.hasEnded(id) {
			t.Error("the question was cancelled and given up, and is still there")
		}
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		w.nothingLeft()
	})
}

// A host may give up on a request, too: with its own origin, and only on one of the server that it names.
func TestStopWaitingOfAHost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		w.state("r1")
		if out, err := w.hub.StopWaiting("r1", "other", "enough", event.OriginHost); out != event.OutcomeUnknown ||
			err != nil ||
			v.hasEnded("r1") {
			t.Errorf("of another server: %v, %v, ended: %v", out, err, v.hasEnded("r1"))
		}
		if out, err := w.hub.StopWaiting("r1", "s", "enough", event.OriginHost); out != event.OutcomeCancelling ||
			err != nil ||
			!v.hasEnded("r1") {
			t.Errorf("outcome %v, error %v, ended: %v", out, err, v.hasEnded("r1"))
		}
		if end := last[*event.RequestCancelled](v); end.Cancellation.Origin != event.OriginHost ||
			end.Cancellation.Reason != "enough" || !end.ServerMayContinue {
			t.Errorf("the end is %+v", end)
		}
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "host" {
			t.Errorf("the caller was told %v", e)
		}
		if out, err := w.hub.StopWaiting("r1", "s", "again", event.OriginHost); out != event.OutcomeAlreadyFinished ||
			err != nil {
			t.Errorf("a second time: %v, %v", out, err)
		}
		w.nothingLeft()
	})
}
