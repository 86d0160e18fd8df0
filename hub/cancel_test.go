package hub_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A cancel sends exactly one notification, with the right id and the user's reason, and ends the call at once. Windows
// are told of it in order. In both eras, a server that was told may still continue. Finding B11.
func TestCancelRunningCall(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				if era == "modern" {
					s = hanging(fakeserver.WithModern())
				}
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				synctest.Wait()
				wire := w.hub.Requests("s")[0].WireID
				out, err := v.win.Cancel("r1", "enough")
				if out != event.OutcomeCancelling || err != nil {
					t.Fatalf("outcome %v, error %v", out, err)
				}
				e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
				if e.Meta["origin"] != "user" || e.Meta["cancel_reason"] != "enough" {
					t.Errorf("the caller was told %v", e.Meta)
				}
				got := cancels(s)
				if len(got) != 1 {
					t.Fatalf("%d cancels were sent: %v", len(got), got)
				}
				if p := object(t, got[0]); p["reason"] != "enough" || s.Count(fakeserver.CancelOf([]byte(wire))) != 1 {
					t.Errorf("the cancel says %v, want id %s", p, wire)
				}
				end := last[*event.RequestCancelled](v)
				if end.RequestID != "r1" || end.Cancellation.Origin != event.OriginUser || end.Cancellation.Reason != "enough" ||
					!end.ServerNotified() ||
					!end.ServerMayContinue || end.WireID != wire || end.Tool != "hang" {
					t.Errorf("mcpRequestCancelled says %+v", end)
				}
				var told []string
				for _, e := range v.events {
					switch b := e.Body.(type) {
					case *event.RequestStarted:
						told = append(told, "started "+b.Request.ID)
					case *event.RequestCancelling:
						told = append(told, "cancelling "+b.RequestID)
					case *event.RequestCancelled:
						told = append(told, "cancelled "+b.RequestID)
					}
				}
				told = slices.DeleteFunc(told, func(s string) bool { return !strings.HasSuffix(s, " r1") })
				if want := []string{"started r1", "cancelling r1", "cancelled r1"}; !slices.Equal(told, want) {
					t.Errorf("the window was told %q, want %q", told, want)
				}
			})
		})
	}
}

// A result that comes after the cancel is counted and shown to nobody, and the connection stays usable.
func TestLateResultNotShown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("stubborn", func(c *fakeserver.CallContext) {
			<-c.Cancelled()
			time.Sleep(time.Second)
			c.Text("too late")
			c.Text("twice")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "stubborn"})
		synctest.Wait()
		if _, err := v.win.Cancel("r1", "stop"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		time.Sleep(2 * time.Second)
		if n := len(eventsOf[*event.RequestFinished](v)); n != 1 { // only the start of the session
			t.Errorf("%d requests finished", n)
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		servers, _ := w.hub.Servers()
		if n := servers[0].Counters.LateResponses + servers[0].Counters.UnknownResponses; n != 2 {
			t.Errorf("%d late responses were counted, want 2", n)
		}
		if w.starts("s") != 1 {
			t.Error("the server was started again")
		}
	})
}

func TestCancelIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		synctest.Wait()
		for range 3 {
			if _, err := w.hub.CancelRequest("r1", "", "again", event.OriginHost); err != nil {
				t.Fatal(err)
			}
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		synctest.Wait()
		if out, err := w.hub.CancelRequest("r1", "", "once more", event.OriginHost); out != event.OutcomeAlreadyFinished ||
			err != nil {
			t.Errorf("a cancel of what is over: %v, %v", out, err)
		}
		if out, err := w.hub.CancelRequest("nothing", "", "x", event.OriginHost); out != event.OutcomeUnknown || err != nil {
			t.Errorf("a cancel of what never was: %v, %v", out, err)
		}
		if n := len(cancels(s)); n != 1 {
			t.Errorf("%d cancels on the wire", n)
		}
		if n := len(eventsOf[*event.RequestCancelled](v)); n != 1 {
			t.Errorf("%d terminal events", n)
		}
	})
}

// A cancel that overtakes its own call is remembered for 30 s; the call is refused and nothing is sent.
func TestCancelBeforeItsCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		if out, _ := w.hub.CancelRequest("early", "", "changed my mind", event.OriginUser); out != event.OutcomeUnknown {
			t.Fatalf("outcome %v", out)
		}
		time.Sleep(29 * time.Second)
		e := w.call(hub.CallRequest{ID: "early", Server: "s", Tool: "echo"}).want(t, event.CodeCancelled,
			event.ReasonCancelled)
		if e.Meta["cancel_reason"] != "changed my mind" {
			t.Errorf("told %v", e.Meta)
		}
		if w.starts("s") != 0 {
			t.Error("the server was started")
		}
		if end := last[*event.RequestCancelled](v); end.ServerNotified() {
			t.Errorf("the end of the request is %+v", end)
		}
		w.hub.CancelRequest("stale", "", "", event.OriginUser)
		time.Sleep(31 * time.Second)
		w.call(hub.CallRequest{ID: "stale", Server: "s", Tool: "echo"}).ok(t)
	})
}

func TestCancelDuringApprovalSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		p := v.prompt()
		if p.Kind != event.PromptToolApproval || p.RequestID != "r1" {
			t.Fatalf("the prompt is %+v", p)
		}
		w.hub.CancelRequest("r1", "", "no", event.OriginHost)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if cl := last[*event.PromptClosed](v); cl.PromptID != p.ID || cl.Cause != event.CauseParent || cl.Reason != "no" {
			t.Errorf("promptClosed says %+v", cl)
		}
		if toolCalls(s) != 0 || len(cancels(s)) != 0 {
			t.Error("something was sent")
		}
		if err := v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept}); event.AsError(
			err).Reason != event.ReasonPromptClosed {
			t.Errorf("a late yes: %v", err)
		}
	})
}

// The start of a session is never cancelled on the wire: not by its id, not by the calls that wait for it, not when it
// times out.
func TestStartIsNeverCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New(fakeserver.WithSilentProbe())
		s.Handle("initialize", func(c *fakeserver.CallContext) { _ = c.Hang() })
		w := newWorld(t, serversOf("s", s), `s:"alwaysAllow":["*"],"timeouts":{"connect":"20s"}`)
		v := w.everything()
		c1 := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		c2 := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
		time.Sleep(10 * time.Second)
		var start event.RequestInfo
		for _, r := range w.hub.Requests("") {
			if r.Method == "initialize" {
				start = r
			}
		}
		_, err := w.hub.CancelRequest(start.ID, "", "no", event.OriginUser)
		if e := event.AsError(err); e == nil || e.Code != event.CodeFailedPrecondition ||
			e.Reason != event.ReasonUncancellable {
			t.Fatalf("cancelling the start: %v", err)
		}
		w.hub.CancelRequest("r1", "", "stop", event.OriginUser)
		c1.want(t, event.CodeCancelled, event.ReasonCancelled)
		e := c2.want(t, event.CodeDeadlineExceeded, event.ReasonConnectTimeout)
		if e.Meta["setting"] != "timeouts.connect" {
			t.Errorf("the error has %+v", e.Meta)
		}
		if got := cancels(s); len(got) != 0 {
			t.Errorf("cancels on the wire: %v", got)
		}
		if end := last[*event.RequestFinished](v); end.State != event.StateFailed {
			t.Errorf("the end of the request is %+v", end)
		}
	})
}

func TestHostContextIsACancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		ctx, stop := context.WithCancelCause(context.Background())
		c := w.callContext(ctx, hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		synctest.Wait()
		stop(nil)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if end := last[*event.RequestCancelled](v); end.Cancellation.Origin != event.OriginHost || !end.ServerNotified() {
			t.Errorf("the end of the request is %+v", end)
		}
		if len(cancels(s)) != 1 {
			t.Error("want one cancel on the wire")
		}
	})
}

func TestCancelScopes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := hanging(), hanging()
		w := newWorld(t, map[string]*fakeserver.Server{"a": a, "b": b}, "a:"+allow, "b:"+allow)
		w.everything()
		start := func(id, server, label string) *pendingCall {
			return w.call(hub.CallRequest{ID: id, Server: server, Tool: "hang", TaskLabel: label})
		}
		c1, c2, c3, c4 := start("1", "a", "x"), start("2", "a", "y"), start("3", "b", "x"), start("4", "b", "")
		synctest.Wait()
		if ids := w.hub.CancelRequests(hub.CancelScope{TaskLabel: "x"}, "stop x", event.OriginUser); len(ids) != 2 {
			t.Errorf("label x: %v", ids)
		}
		c1.want(t, event.CodeCancelled, event.ReasonCancelled)
		c3.want(t, event.CodeCancelled, event.ReasonCancelled)
		synctest.Wait()
		if c2.over() || c4.over() {
			t.Fatal("others were stopped too")
		}
		if ids := w.hub.CancelRequests(hub.CancelScope{Server: "a"}, "", event.OriginUser); len(ids) != 1 || ids[0] != "2" {
			t.Errorf("server a: %v", ids)
		}
		c2.want(t, event.CodeCancelled, event.ReasonCancelled)
		if ids := w.hub.CancelRequests(hub.CancelScope{All: true}, "", event.OriginUser); len(ids) != 1 || ids[0] != "4" {
			t.Errorf("all: %v", ids)
		}
		c4.want(t, event.CodeCancelled, event.ReasonCancelled)
	})
}

// A server that reads nothing holds up neither a call nor its cancel.
func TestCancelWithFullPipe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		resume := s.PauseReading()
		before := time.Now()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		synctest.Wait()
		c2 := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"}) // one of these two fills the pipe
		synctest.Wait()
		c3 := w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "hang"})
		synctest.Wait()
		w.hub.CancelRequest("r3", "", "never sent", event.OriginUser)
		w.hub.CancelRequest("r2", "", "stuck", event.OriginUser)
		w.hub.CancelRequest("r1", "", "stuck", event.OriginUser)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		c2.want(t, event.CodeCancelled, event.ReasonCancelled)
		c3.want(t, event.CodeCancelled, event.ReasonCancelled)
		if d := time.Since(before); d > 100*time.Millisecond { // how long a call waits for its cancel
			t.Errorf("the cancels took %v", d)
		}
		if n := len(eventsOf[*event.RequestCancelled](v)); n != 3 {
			t.Errorf("%d cancelled", n)
		}
		resume()
		synctest.Wait()
		for _, m := range s.Received() {
			if m.Method == "notifications/cancelled" && object(t, string(m.Params))["reason"] == "never sent" {
				t.Error("a cancel went out for a request that was never written")
			}
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
	})
}

// Both sides may use the same ids: a cancel from the server with the id of our call does not end that call, and the
// server may ask with that id. A cancel of our call does not end a question that has its id and may be of another call.
func TestSameIDsInBothDirections(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		synctest.Wait()
		wire := w.hub.Requests("s")[0].WireID
		if err := s.Notify("notifications/cancelled", `{"requestId":`+wire+`,"reason":"not yours"}`); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if c.over() {
			t.Fatal("a server's cancel ended our call")
		}
		ask := func() *fakeserver.OutRequest {
			t.Helper()
			q, err := s.RequestWithID(wire, elicitation, formParams)
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		wantAnswer := func(q *fakeserver.OutRequest, want string) {
			t.Helper()
			pass(2 * time.Second) // the hub waits a moment for a withdrawal
			select {
			case m := <-q.Response():
				if string(m.Result) != want {
					t.Errorf("the server was answered %s, want %s", m.Raw, want)
				}
			default:
				t.Errorf("the server was not answered, want %s", want)
			}
		}
		q, p := ask(), v.prompt()
		if p.ParentRequestID != "r1" {
			t.Errorf("the question is of %q, want r1", p.ParentRequestID)
		}
		if _, err := v.win.Cancel("r1", "ours"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		wantAnswer(q, `{"action":"cancel"}`) // since its call is cancelled

		c = w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
		synctest.Wait()
		wire = w.hub.Requests("s")[0].WireID
		w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "hang"})
		synctest.Wait()
		q, p = ask(), v.prompt()
		if _, err := v.win.Cancel("r2", "ours"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if open := v.prompt(); open.ID != p.ID || p.ParentRequestID != "" {
			t.Errorf("%s is open, want %s, a question of either call", open.ID, p.ID)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		wantAnswer(q, `{"action":"accept","content":`+formYes+`}`)
	})
}
