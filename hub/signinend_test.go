package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The only call that waits is cancelled: the sign-in and the start end with it, and nobody is asked again at once.
func TestSignInAbandoned(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w, _ := guardedWorld(t)
			v := w.person()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			p := v.prompt()
			if waiting {
				v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept})
				p = v.prompt()
			}
			if _, err := v.win.Cancel("r1", "not now"); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "nobody waits for the sign-in any more")
			if end, ok := v.terminalOf(p.RequestID).(*event.RequestCancelled); !ok ||
				end.Cancellation.Origin != event.OriginParent {
				t.Errorf("the question ended as %+v", end)
			}
			if s := w.server("s"); s.State != event.ServerStopped || s.SignIn != event.SignInNeeded {
				t.Errorf("the server is %+v", s)
			}
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
			w.nothingLeft()
			pass(time.Minute)
			c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
			w.signIn(v)
			c.ok(t)
		})
	}
}

// In the middle of a session it is the call's own request that waits: its cancel ends the sign-in, and the session
// stays.
func TestSignInAbandonedInASession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		at.set(func() { at.guarded = false })
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		at.set(func() { at.guarded = true })
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		p := v.prompt()
		if _, err := v.win.Cancel("r1", "not now"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "nobody waits for the sign-in any more")
		if s := w.server("s"); s.State != event.ServerReady || s.SignIn != event.SignInNeeded {
			t.Errorf("the server is %+v", s)
		}
		if n := at.Count(func(m fakeserver.Message) bool { return m.Method == "tools/call" }); n != 1 {
			t.Errorf("%d calls reached the server", n)
		}
		w.nothingLeft()
	})
}

// Two calls had to list the tools first: the cancel of the last one ends the list, and the sign-in with it.
func TestSignInAbandonedInAList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		at.set(func() { at.guarded = false })
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		w.server("s") // what follows the handshake has been sent, too
		at.set(func() { at.guarded = true })
		first := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		second := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
		p := v.prompt()
		if _, err := v.win.Cancel("r1", "no"); err != nil {
			t.Fatal(err)
		}
		first.want(t, event.CodeCancelled, event.ReasonCancelled)
		if v.prompt().ID != p.ID || second.over() {
			t.Fatal("the second call was forgotten")
		}
		if _, err := v.win.Cancel("r2", "no"); err != nil {
			t.Fatal(err)
		}
		second.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.noPrompt()
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "nobody waits for the sign-in any more")
		w.nothingLeft()
	})
}

// Two calls share one question; the cancel of one leaves it to the other.
func TestSignInShared(t *testing.T) {
	for _, session := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w, at := guardedWorld(t)
			v := w.person()
			if session {
				at.set(func() { at.guarded = false })
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				at.set(func() { at.guarded = true })
			}
			first := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			second := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
			p := v.prompt()
			if _, err := v.win.Cancel("r1", "not this one"); err != nil {
				t.Fatal(err)
			}
			first.want(t, event.CodeCancelled, event.ReasonCancelled)
			if v.prompt().ID != p.ID {
				t.Fatal("another prompt")
			}
			w.signIn(v)
			second.ok(t)
			if n := at.visited("/authorize"); n != 1 {
				t.Errorf("%d visits to the page", n)
			}
			w.nothingLeft()
		})
	}
}

// The only call is cancelled before the address of the sign-in page is known: no prompt opens, and that counts as no
// refusal.
func TestSignInAbandonedBeforeItsPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		gate := make(chan struct{})
		at.set(func() { at.slow = gate })
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		pass(time.Second)
		if _, err := v.win.Cancel("r1", "too slow"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		close(gate)
		v.noPrompt()
		if n := len(eventsOf[*event.PromptOpened](v)); n != 0 {
			t.Errorf("%d prompts were shown", n)
		}
		if s := w.server("s"); s.State != event.ServerFailed || s.SignIn != event.SignInNeeded {
			t.Errorf("the server is %+v", s)
		}
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"}) // nobody has refused anything
		w.signIn(v)
		c.ok(t)
		w.nothingLeft()
	})
}

// The question can be cancelled by itself; that is a dismissal.
func TestSignInQuestionCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		p := v.prompt()
		if out, err := v.win.Cancel(p.RequestID, "go away"); err != nil || out != event.OutcomeCancelling {
			t.Fatal(out, err)
		}
		c.want(t, event.CodeFailedPrecondition, event.ReasonSignInDeclined)
		if end, ok := v.terminalOf(p.RequestID).(*event.RequestCancelled); !ok ||
			end.Cancellation.Origin != event.OriginUser ||
			end.Cancellation.Reason != "go away" {
			t.Errorf("the question ended as %+v", end)
		}
		w.nothingLeft()
	})
}

// StopServer in the middle of a sign-in ends it like an abandoned one: people are asked again after a minute, or at
// once by a sign-in by hand.
func TestStopServerDuringSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		p := v.prompt()
		if _, err := w.hub.StopServer(context.Background(), "s", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "enough")
		if s := w.server("s"); s.State != event.ServerStopped {
			t.Errorf("the server is %+v", s)
		}
		if _, err := w.hub.StartServer(context.Background(), "s"); event.AsError(err) == nil ||
			event.AsError(err).Reason != event.ReasonSignInDeclined {
			t.Errorf("%v", err)
		}
		s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		w.signIn(v)
		if !s.over() || s.err != nil {
			t.Errorf("%+v, %v", s.info, s.err)
		}
		w.nothingLeft()
	})
}

// The server goes from the config in the middle of a sign-in, by a call and by hand.
func TestServerRemovedDuringSignIn(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w, _ := guardedWorld(t)
			v := w.person()
			var c *pendingCall
			var s *pendingServer
			if byHand {
				s = background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
			} else {
				c = w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			}
			p := v.prompt()
			if _, _, _, err := w.hub.LoadConfig(context.Background(),
				[]hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: `{"mcpServers":{}}`}}); err != nil {
				t.Fatal(err)
			}
			if byHand {
				if !s.over() || s.err == nil {
					t.Errorf("%+v", s.info)
				}
			} else {
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
			}
			v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "the server was removed from the config")
			v.terminalOf(p.RequestID)
			w.nothingLeft()
		})
	}
}

// The hub shuts down in the middle of a sign-in.
func TestDrainDuringSignIn(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w, _ := guardedWorld(t)
			v := w.person()
			var c *pendingCall
			var s *pendingServer
			if byHand {
				s = background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
			} else {
				c = w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			}
			p := v.prompt()
			w.hub.Drain(context.Background(), "bye")
			v.wantClosed(p.ID, event.CauseShutdown, event.OriginShutdown, "bye")
			if byHand {
				if !s.over() || event.AsError(s.err).Reason != event.ReasonDraining {
					t.Errorf("%+v, %v", s.info, s.err)
				}
			} else {
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
			}
			if _, err := w.hub.SignIn(context.Background(), "s"); event.AsError(err).Reason != event.ReasonDraining {
				t.Errorf("SignIn: %v", err)
			}
			if err := w.hub.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// SignOut forgets the token, ends the connection, and the next use asks.
func TestSignOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		hang := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
		w.state("r2")
		info, err := w.hub.SignOut(context.Background(), "s")
		if err != nil || info.SignIn != event.SignInNeeded || info.State != event.ServerStopped {
			t.Errorf("%+v, %v", info, err)
		}
		hang.want(t, event.CodeCancelled, event.ReasonCancelled)
		if got := v.signIns(); got[len(got)-1] != event.SignInNeeded {
			t.Errorf("the windows saw the states %v", got)
		}
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		w.nothingLeft()
	})
}

// SignOut in the middle of a sign-in ends it.
func TestSignOutDuringSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		p := v.prompt()
		if _, err := w.hub.SignOut(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		if !s.over() || s.err == nil {
			t.Errorf("%+v", s.info)
		}
		v.noPrompt()
		v.terminalOf(p.RequestID)
		w.nothingLeft()
	})
}

// A technical failure of the sign-in says what failed; a server that has no sign-in says so.
func TestSignInFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		at.set(func() { at.noScheme = true })
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeUnavailable, event.ReasonSignInFailed)
		v.noPrompt()
		at.set(func() { at.noScheme = false })
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
	})
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t, `s:"headers":{"Authorization":"Bearer mine"}`)
		w.person()
		for _, do := range []func(context.Context, string) (event.ServerInfo, error){w.hub.SignIn, w.hub.SignOut} {
			if _, err := do(context.Background(), "s"); event.AsError(err) == nil ||
				event.AsError(err).Reason != event.ReasonNotOffered {
				t.Errorf("%v", err)
			}
			if _, err := do(context.Background(), "none"); event.AsError(err) == nil ||
				event.AsError(err).Reason != event.ReasonServerNotFound {
				t.Errorf("%v", err)
			}
		}
	})
}

// A sign-in by hand of a server that is switched off asks nobody.
func TestSignInOfADisabledServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t, `s:"disabled":true`)
		v := w.person()
		s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		v.noPrompt()
		if !s.over() || event.AsError(s.err).Reason != event.ReasonServerDisabled {
			t.Errorf("%v", s.err)
		}
	})
}

// Two sign-ins by hand and a call, all at once: one question.
func TestSignInByHandTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		one := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		two := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		if !one.over() || !two.over() || one.err != nil || two.err != nil {
			t.Errorf("%v, %v", one.err, two.err)
		}
		if n := at.visited("/authorize"); n != 1 {
			t.Errorf("%d visits to the page", n)
		}
		w.nothingLeft()
	})
}
