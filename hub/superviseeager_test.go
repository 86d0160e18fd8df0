package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func makeEager(s *config.Server) { s.Start = config.StartEager }

// A session has ended and its token no longer counts, long after its last use: no restart in the background asks for a
// sign-in.
func TestRestartAsksNobodyToSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		c := w.echo()
		w.signIn(v)
		c.ok(t)
		pass(2 * time.Minute)
		at.set(func() { clear(at.tokens) })
		at.http.Expire()
		pass(time.Hour)
		if asked := eventsOf[*event.PromptOpened](v); len(asked) != 2 { // for the consent, and while the browser was open
			t.Errorf("asked %d times", len(asked))
		}
		if info := w.server("s"); info.Failures != 0 || next(info) != 0 {
			t.Errorf("%+v", info)
		}
		c = w.echo() // somebody waits now
		w.signIn(v)
		c.ok(t)
		w.nothingLeft()
	})
}

// The token ends while nobody uses the server: its stream asks nobody for a sign-in, and is open again after that of
// the next call.
func TestStreamAsksNobodyToSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		change := func() {
			t.Helper()
			if err := at.NotifyToolsChanged(); err != nil {
				t.Fatal(err)
			}
			last[*event.ToolsChanged](v)
		}
		at.http.On("GET", 1, fakeserver.Act{EndAfter: 1})
		at.set(func() { at.guarded = false })
		w.echo().ok(t)
		at.set(func() { at.guarded = true })
		change() // behind which the stream ends
		pass(time.Hour)
		v.noPrompt()
		if n := at.visited("/.well-known/oauth-authorization-server/as"); n != 1 {
			t.Errorf("the authorization server was asked %d times, and nobody waits", n)
		}
		if asked := eventsOf[*event.PromptOpened](v); len(asked) != 0 {
			t.Errorf("asked %d times, and nobody waits", len(asked))
		}
		c := w.echo()
		w.signIn(v)
		c.ok(t)
		pass(time.Minute)
		change()
		if n := len(eventsOf[*event.ToolsChanged](v)); n != 2 {
			t.Errorf("%d changes were told, want 2", n)
		}
		w.nothingLeft()
	})
}

// A session that its server has forgotten is opened anew at the next use, and does not count as a crash.
func TestForgottenSessionComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		at := w.sites["s"]
		w.echo().ok(t)
		pass(2 * time.Minute)
		at.http.Expire()
		w.echo().ok(t) // at once
		at.http.Expire()
		synctest.Wait()
		_, _, err := w.hub.Tools(context.Background(), "s") // also one that held for a moment only
		if info := w.server("s"); err != nil || info.State != event.ServerReady || info.Failures != 0 {
			t.Errorf("%+v, %v", info, err)
		}
		w.nothingLeft()
	})
}

// A server that is stopped, switched off or changed while its crashed process still ends stays down.
func TestStopWhileACrashIsClearedAway(t *testing.T) {
	ctx := context.Background()
	for name, stop := range map[string]func(w *world) error{
		"stopped":      func(w *world) error { _, err := w.hub.StopServer(ctx, "s", ""); return err },
		"switched off": func(w *world) error { _, err := w.hub.SetServerEnabled(ctx, "s", false); return err },
		"changed":      func(w *world) error { w.load(`s:"args":["-v"],` + allow); return nil },
		"left alone":   func(*world) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := hanging()
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				w.fall("s", &ill{slow: 3 * time.Second})
				w.echo().ok(t)
				w.fall("s", nil)
				s.Disconnect()
				if info := w.server("s"); info.State != event.ServerStopping {
					t.Fatalf("%+v", info)
				}
				if err := stop(w); err != nil {
					t.Fatal(err)
				}
				pass(time.Hour)
				starts := 1
				if name == "left alone" {
					starts = 2
				}
				if info := w.server("s"); w.starts("s") != starts || info.Failures != 0 || info.LastError != "" {
					t.Errorf("%d starts, %+v", w.starts("s"), info)
				}
				w.nothingLeft()
			})
		})
	}
}
