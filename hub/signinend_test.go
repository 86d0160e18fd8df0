package hub_test

import (
	"context"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

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

// A sign-in by hand ends with its server, and with a sign-out.
func TestSignInByHandEnds(t *testing.T) {
	for reason, end := range map[string]func(w *webWorld) error{
		"the server was removed from the config": func(w *webWorld) error {
			_, _, _, err := w.hub.LoadConfig(context.Background(),
				[]hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: `{"mcpServers":{}}`}})
			return err
		},
		"the user signed out": func(w *webWorld) error {
			_, err := w.hub.SignOut(context.Background(), "s")
			return err
		},
	} {
		bubble(t, func(t *testing.T) {
			w, _ := guardedWorld(t)
			v := w.person()
			s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
			p := v.prompt()
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			if !s.over() || s.err == nil {
				t.Errorf("%+v", s.info)
			}
			v.wantClosed(p.ID, event.CauseParent, event.OriginParent, reason)
			v.terminalOf(p.RequestID)
			w.nothingLeft()
		})
	}
}

// A technical failure of the sign-in says what failed.
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
}
