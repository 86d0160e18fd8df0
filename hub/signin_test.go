package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// guardedWorld is a world with one server s that requires a token.
func guardedWorld(t *testing.T, entries ...string) (*webWorld, *site) {
	t.Helper()
	if len(entries) == 0 {
		entries = []string{"s:" + allow}
	}
	w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), entries...)
	w.sites["s"].guarded = true
	return w, w.sites["s"]
}

// signIns gives the states of the sign-in that a window was told of, without repetition.
func (v *view) signIns() (list []event.SignInState) {
	for _, e := range eventsOf[*event.ServerChanged](v) {
		if len(list) == 0 || list[len(list)-1] != e.Server.SignIn {
			list = append(list, e.Server.SignIn)
		}
	}
	return list
}

// background runs do, which returns a server, in the background.
func background(do func() (event.ServerInfo, error)) *pendingServer {
	p := &pendingServer{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.info, p.err = do()
	}()
	return p
}

type pendingServer struct {
	done chan struct{}
	info event.ServerInfo
	err  error
}

func (p *pendingServer) over() bool {
	synctest.Wait()
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// A call of a server that requires a sign-in: consent, then the browser, then the call runs. The windows see each step.
func TestSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v, blind := w.person(), w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		first := v.prompt()
		q := first.SignIn
		if first.Kind != event.PromptSignIn || first.Server != "s" || q == nil || q.Waiting || q.URLHost != at.host ||
			q.Issuer != "http://"+at.host+"/as" || q.Resource != "http://"+at.host+"/mcp" {
			t.Fatalf("the prompt is %+v, %+v", first, q)
		}
		if n := len(eventsOf[*event.PromptOpened](blind)); n != 0 {
			t.Errorf("a window that shows no sign-ins was shown %d", n)
		}
		if r := w.request(first.RequestID); r.State != event.StateAwaitingInput || r.Method != "authorization" ||
			r.Subject != q.Issuer {
			t.Errorf("the question is shown as %+v", r)
		}
		if s := w.server("s"); s.SignIn != event.SignInAsking || s.State != event.ServerConnecting {
			t.Errorf("the server is %+v", s)
		}
		v.answer(event.PromptAnswer{PromptID: first.ID, Action: event.ActionAccept})
		second := v.prompt()
		if second.ID == first.ID || !second.SignIn.Waiting || w.server("s").SignIn != event.SignInAsking {
			t.Fatalf("the prompt is %+v, %+v", second, second.SignIn)
		}
		w.browse(q.URL)
		if r := c.ok(t); textOf(t, r) != "hello" {
			t.Errorf("%s", r.Result)
		}
		v.wantClosed(second.ID, event.CauseSuperseded, event.OriginUser, "the browser has come back")
		for _, id := range []string{first.RequestID, second.RequestID} {
			if end, ok := v.terminalOf(id).(*event.RequestFinished); !ok || end.State != event.StateDone {
				t.Errorf("the question ended as %+v", end)
			}
		}
		if got := v.signIns(); len(got) < 2 || got[len(got)-2] != event.SignInAsking ||
			got[len(got)-1] != event.SignInSignedIn {
			t.Errorf("the windows saw the states %v", got)
		}
		w.nothingLeft()
	})
}

// "I have finished" in the waiting prompt is no end: the browser may still be on its way.
func TestSignInFinishedByHand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		first := v.prompt()
		v.answer(event.PromptAnswer{PromptID: first.ID, Action: event.ActionAccept})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept})
		if s := w.server("s"); s.SignIn != event.SignInAsking {
			t.Errorf("the server is %+v", s)
		}
		pass(30 * time.Second)
		w.browse(first.SignIn.URL)
		c.ok(t)
	})
}

// A person may think for as long as timeouts.human; neither the call's clocks nor that of the start run, also for a
// call that comes later.
func TestSignInTakesItsTime(t *testing.T) {
	for _, tool := range []string{"first call", "later"} {
		t.Run(tool, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, at := guardedWorld(t)
				v := w.person()
				limits := hub.Timeouts{Idle: ptr(10 * time.Second), Total: ptr(20 * time.Second)}
				if tool == "later" {
					at.set(func() { at.guarded = false })
					w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
					at.set(func() { at.guarded = true })
				}
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo", Timeouts: limits})
				first := v.prompt()
				pass(20 * time.Minute)
				late := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo", Timeouts: limits})
				v.answer(event.PromptAnswer{PromptID: first.ID, Action: event.ActionAccept})
				second := v.prompt()
				pass(20 * time.Minute)
				if c.over() || late.over() {
					t.Fatalf("ended while a person thought: %v, %v", c.err, late.err)
				}
				w.browse(first.SignIn.URL)
				if r := c.ok(t); r.Timings.Human < 40*time.Minute {
					t.Errorf("timings %+v", r.Timings)
				}
				if r := late.ok(t); r.Timings.Human < 20*time.Minute {
					t.Errorf("timings of the late one %+v", r.Timings)
				}
				v.wantClosed(second.ID, event.CauseSuperseded, event.OriginUser, "the browser has come back")
				if got := w.server("s"); got.SignIn != event.SignInSignedIn || got.State != event.ServerReady {
					t.Errorf("%+v", got)
				}
				if got := v.signIns(); got[len(got)-1] != event.SignInSignedIn {
					t.Errorf("the windows saw the states %v", got)
				}
				w.nothingLeft()
			})
		})
	}
}

// A list that meets the sign-in waits for it as well: its own limit does not run.
func TestSignInDuringAList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t, `s:"timeouts":{"connect":"30s"}`)
		v := w.person()
		at.set(func() { at.guarded = false })
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		at.set(func() { at.guarded = true })
		done := make(chan error, 2)
		go func() { _, _, err := w.hub.Tools(context.Background(), "s"); done <- err }()
		go func() { done <- w.hub.SetLogLevel(context.Background(), "s", "info") }()
		v.prompt()
		pass(20 * time.Minute)
		w.signIn(v)
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("after the sign-in: %v", err)
			}
		}
		w.nothingLeft()
	})
}

// A declined or dismissed question ends the start with a clear error; for a minute nobody is asked again, except by a
// sign-in by hand.
func TestSignInDeclinedAndDismissed(t *testing.T) {
	for _, action := range []event.Action{event.ActionDecline, event.ActionDismiss} {
		for _, waiting := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				w, _ := guardedWorld(t)
				v := w.person()
				c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
				p := v.prompt()
				if waiting {
					v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept})
					p = v.prompt()
				}
				v.answer(event.PromptAnswer{PromptID: p.ID, Action: action})
				c.want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
				if s := w.server("s"); s.State != event.ServerFailed || s.SignIn != event.SignInNeeded || s.LastError == "" {
					t.Errorf("the server is %+v", s)
				}
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
				v.noPrompt()
				pass(30 * time.Second)
				s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
				w.signIn(v)
				if !s.over() || s.err != nil || s.info.SignIn != event.SignInSignedIn || s.info.State != event.ServerReady {
					t.Fatalf("by hand: %+v, %v", s.info, s.err)
				}
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				w.nothingLeft()
			})
		}
	}
}

// After the minute the next call asks again.
func TestSignInAsksAgainAfterAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
		pass(time.Minute)
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
	})
}

// Nobody can be asked: the call fails at once and says what to do. A window that comes later is asked at once.
func TestSignInNoApprover(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.everything()
		e := w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		if e.Meta["server"] != "s" {
			t.Errorf("%+v", e)
		}
		v.noPrompt()
		if _, err := w.hub.SignIn(context.Background(), "s"); event.AsError(err).Reason != event.ReasonNoApprover {
			t.Errorf("SignIn: %v", err)
		}
		if s := w.server("s"); s.SignIn != event.SignInNeeded {
			t.Errorf("%+v", s)
		}
		p := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(p)
		c.ok(t)
	})
}

// The last window that could show the question goes: nobody can be asked, and that is no refusal by a person.
func TestSignInWindowGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		witness, v := w.everything(), w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		p := v.prompt()
		v.win.Detach(true)
		c.want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		witness.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, "no window is left that can show it")
		v = w.person()
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		w.nothingLeft()
	})
}

// Nobody answers within timeouts.human: the call fails with an error that names the setting.
func TestSignInHumanTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t, `s:"timeouts":{"human":"5m"},`+allow)
		v := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		p := v.prompt()
		if !p.Deadline.Equal(p.Open.Add(5 * time.Minute)) {
			t.Errorf("deadline %v", p.Deadline)
		}
		pass(5 * time.Minute)
		if e := c.want(t, event.CodeDeadlineExceeded, event.ReasonHumanTimeout); e.Meta["setting"] != "timeouts.human" {
			t.Errorf("%+v", e.Meta)
		}
		if end, ok := v.terminalOf(p.RequestID).(*event.RequestCancelled); !ok ||
			end.Cancellation.Origin != event.OriginTimeout {
			t.Errorf("the question ended as %+v", end)
		}
		w.nothingLeft()
	})
}

// Many want the first sign-in of a server at once: one question, and all are told the same.
func TestSignInManyAtOnce(t *testing.T) {
	for range 20 {
		bubble(t, func(t *testing.T) {
			w, at := guardedWorld(t)
			v := w.person()
			var all []*pendingServer
			for range 8 {
				all = append(all, background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") }))
			}
			w.signIn(v)
			for _, one := range all {
				if !one.over() {
					t.Error("a SignIn still waits after the sign-in")
				} else if one.err != nil {
					t.Errorf("SignIn: %v", one.err)
				}
			}
			if n := at.visited("/authorize"); n != 1 {
				t.Errorf("%d visits to the page", n)
			}
			w.nothingLeft()
		})
	}
}

// After the sign-in a list has what was left of its time, no more and no less.
func TestLimitOfAListAfterASignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t, `s:"timeouts":{"connect":"30s"}`)
		v := w.person()
		at.set(func() { at.guarded = false })
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		w.server("s")
		at.set(func() { at.guarded = true })
		at.http.On("POST tools/list", 0, fakeserver.Act{Silent: true})
		done := make(chan error, 1)
		go func() { _, _, err := w.hub.Tools(context.Background(), "s"); done <- err }()
		v.prompt()
		pass(20 * time.Minute)
		signedIn := time.Now()
		w.signIn(v)
		wantReason(t, <-done, event.ReasonConnectTimeout)
		if d := time.Since(signedIn); d < 29*time.Second || d > 32*time.Second {
			t.Errorf("it ended %v after the sign-in", d)
		}
		w.nothingLeft()
	})
}

// A sign-in by hand goes on when the call that began it is cancelled, whether its page is shown already or not.
func TestSignInByHandOutlivesTheCall(t *testing.T) {
	for _, shown := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w, at := guardedWorld(t)
			v := w.person()
			gate := make(chan struct{})
			at.set(func() { at.slow = gate })
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			pass(time.Second)
			s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
			if shown {
				close(gate)
				v.prompt()
			}
			synctest.Wait()
			if _, err := v.win.Cancel("r1", "no"); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			if !shown {
				close(gate)
			}
			w.signIn(v)
			if !s.over() || s.err != nil || s.info.State != event.ServerReady {
				t.Errorf("%+v, %v", s.info, s.err)
			}
			w.nothingLeft()
		})
	}
}

// The config gives a URL without a type; behind it is an HTTP+SSE server that requires a sign-in.
func TestSignInToAnSSEServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		_, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{{Scope: "host", Path: "test.json",
			JSON: `{"mcpServers":{"s":{"url":"http://` + at.host + `/sse",` + allow + `}}}`}})
		if err != nil {
			t.Fatal(err)
		}
		v := w.person()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		v.prompt()
		pass(20 * time.Minute)
		w.signIn(v)
		c.ok(t)
		if i := w.server("s"); i.Transport != event.TransportSSE || i.Era != event.EraLegacy ||
			i.SignIn != event.SignInSignedIn ||
			i.URL != "http://"+at.host+"/sse" {
			t.Errorf("%+v", i)
		}
		hang := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
		w.state("r2")
		if _, err := v.win.Cancel("r2", "enough"); err != nil {
			t.Fatal(err)
		}
		hang.want(t, event.CodeCancelled, event.ReasonCancelled)
		if got := cancels(at.Server); len(got) != 1 {
			t.Errorf("cancels %v", got)
		}
		w.nothingLeft()
	})
}
