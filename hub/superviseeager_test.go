package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func makeEager(s *config.Server) { s.Start = config.StartEager }

// Eager servers start as soon as the config is read, four at a time; a call need not wait for its server's turn.
func TestEagerServersStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fakes := map[string]*fakeserver.Server{}
		for i := range 10 {
			fakes[fmt.Sprintf("e%d", i)] = hanging(fakeserver.WithSilentProbe())
		}
		fakes["lazy"] = hanging()
		w := editedWorld(t, hub.Options{}, func(s *config.Server) {
			if s.Name != "lazy" {
				s.Start = config.StartEager
			}
		})
		w.servers = fakes
		w.load("e9:" + allow)
		count := func() (connecting, ready int) {
			synctest.Wait()
			servers, _ := w.hub.Servers()
			for _, s := range servers {
				switch s.State {
				case event.ServerConnecting:
					connecting++
				case event.ServerReady:
					ready++
				}
			}
			return connecting, ready
		}
		if connecting, ready := count(); connecting != 4 || ready != 0 {
			t.Errorf("%d start at once, %d are ready", connecting, ready)
		}
		c := w.call(hub.CallRequest{Server: "e9", Tool: "echo"})
		if connecting, _ := count(); connecting != 5 {
			t.Errorf("%d start; a call does not wait for a turn", connecting)
		}
		pass(5 * time.Second)
		if connecting, ready := count(); connecting != 4 || ready != 5 {
			t.Errorf("%d start at once, %d are ready", connecting, ready)
		}
		c.ok(t)
		pass(5 * time.Second)
		if connecting, ready := count(); connecting != 1 || ready != 9 {
			t.Errorf("%d start at once, %d are ready", connecting, ready)
		}
		pass(5 * time.Second)
		if _, ready := count(); ready != 10 || w.starts("lazy") != 0 {
			t.Errorf("%d are ready, the lazy one was started %d times", ready, w.starts("lazy"))
		}
		if info := w.server("e0"); info.Start != event.StartEager {
			t.Errorf("%+v", info)
		}

		// What the user stopped stays so; what crashed, was switched on or changed comes back, although nobody ever used it.
		ctx := context.Background()
		for _, name := range []string{"e0", "e1"} {
			if _, err := w.hub.StopServer(ctx, name, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.hub.SetServerEnabled(ctx, "e1", false); err != nil {
			t.Fatal(err)
		}
		fakes["e2"].Disconnect()
		w.load("e9:"+allow, `e3:"args":["-v"]`)
		if _, err := w.hub.SetServerEnabled(ctx, "e1", true); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		var starts []int
		for i := range 10 {
			starts = append(starts, w.starts(fmt.Sprintf("e%d", i)))
		}
		if !slices.Equal(starts, []int{1, 2, 2, 2, 1, 1, 1, 1, 1, 1}) {
			t.Errorf("starts %v", starts)
		}
		w.nothingLeft()
	})
}

// An eager server that needs a person waits for a window that can ask one. That is no failure.
func TestEagerServerWaitsForAWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		w.hub.EditConfig(makeEager)
		w.configure("s:" + allow)
		waiting := func(when string) {
			t.Helper()
			pass(time.Hour)
			if info := w.server("s"); info.State != event.ServerStopped || info.Failures != 0 || next(info) != 0 ||
				info.SignIn != event.SignInNeeded || info.LastError == "" {
				t.Errorf("%s: %+v", when, info)
			}
		}
		waiting("without a window")
		w.attach(hub.Hello{WindowID: "blind"})
		waiting("with a window that shows nothing")
		v := w.person()
		if info := w.server("s"); info.State != event.ServerConnecting {
			t.Errorf("%+v", info)
		}
		w.signIn(v)
		if info := w.server("s"); info.State != event.ServerReady || info.Failures != 0 || info.LastError != "" {
			t.Errorf("%+v", info)
		}
		w.nothingLeft()
	})
}

// A decline ends that: nobody is asked again before somebody uses the server.
func TestEagerServerThatAPersonDeclines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := guardedWorld(t)
		v := w.person()
		w.hub.EditConfig(makeEager)
		w.configure("s:" + allow)
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		if info := w.server("s"); info.State != event.ServerFailed || info.Failures != 0 || next(info) != 0 {
			t.Errorf("%+v", info)
		}
		pass(time.Hour)
		w.attach(hub.Hello{WindowID: "another", Kinds: []event.PromptKind{event.PromptSignIn}})
		v.noPrompt()
		w.nothingLeft()
	})
}

// Servers that wait for a person do not keep others from starting.
func TestEagerServersDoNotWaitBehindAPerson(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fakes := map[string]*fakeserver.Server{"plain": hanging()}
		for i := range 6 {
			fakes[fmt.Sprintf("guarded%d", i)] = hanging()
		}
		w := newWebWorld(t, fakeserver.HTTPOptions{}, fakes)
		for name, at := range w.sites {
			at.guarded = name != "plain"
		}
		v := w.person()
		w.hub.EditConfig(makeEager)
		w.configure()
		if info := w.server("plain"); info.State != event.ServerReady {
			t.Errorf("%+v", info)
		}
		if n := len(eventsOf[*event.PromptOpened](v)); n != 6 {
			t.Errorf("%d questions are open", n)
		}
	})
}

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
		v.noPrompt()
		if info := w.server("s"); info.Failures != 0 || next(info) != 0 {
			t.Errorf("%+v", info)
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

// All that wait for the next start of a server get the result of that one, although it fails in the same instant.
func TestWaiterGetsTheNextStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		w.fall("s", &ill{err: errRefused})
		for range 2 {
			w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
		}
		begin := time.Now()
		var calls []*pendingCall
		for range 20 {
			calls = append(calls, w.echo())
		}
		for _, c := range calls {
			c.want(t, event.CodeUnavailable, event.ReasonServerFailed)
		}
		if took := time.Since(begin); took != 2*time.Second || w.server("s").Failures != 3 {
			t.Errorf("after %v: %+v", took, w.server("s"))
		}
		ctx, stop := context.WithCancelCause(context.Background())
		listed := make(chan error, 1)
		go func() {
			_, _, err := w.hub.Tools(ctx, "s")
			listed <- err
		}()
		synctest.Wait()
		stop(errors.New("enough"))
		wantReason(t, <-listed, event.ReasonCancelled)
		w.fall("s", nil)
		// a start by hand does not wait for the delay
		started := background(func() (event.ServerInfo, error) { return w.hub.StartServer(context.Background(), "s") })
		if !started.over() || started.err != nil || started.info.Failures != 0 {
			t.Errorf("%+v, %v", started.info, started.err)
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
			bubble(t, func(t *testing.T) {
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
