package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// approval returns the one open prompt, which must be about a tool call.
func (v *view) approval() event.PromptInfo {
	v.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptToolApproval {
		v.t.Fatalf("the open prompt is %+v", p)
	}
	return p
}

// When a consent is given or lost, the workspace file allows other tools. The open approvals change accordingly, and so
// do their calls.
func TestConsentChangesOpenApprovals(t *testing.T) {
	const superseded = "the config has changed; for this tool it says "
	hang := hub.CallRequest{Server: "s", Tool: "hang", ID: "r1"}
	// withoutConsent returns a server that runs, although its consent was for the folders of a window that has gone,
	// and a call that asks for approval because of that.
	withoutConsent := func(t *testing.T) (*world, *fakeserver.Server, *view, event.PromptInfo, *pendingCall) {
		s := hanging()
		w := newWorldWith(t, hub.Options{}, serversOf("s", s))
		w.workspace(workspaceEntry)
		v := w.user("one", "file:///repos/site")
		c := w.echo()
		v.allowLaunch(event.ScopeWorkspace)
		c.ok(t)
		v.win.Detach(true)
		v = w.user("two", "file:///elsewhere")
		call := w.call(hang)
		return w, s, v, v.approval(), call
	}
	t.Run("folders are opened", func(t *testing.T) {
		for _, how := range []string{"attach", "roots"} {
			bubble(t, func(t *testing.T) {
				w, s, v, p, c := withoutConsent(t)
				if how == "attach" {
					w.user("one", "file:///repos/site")
				} else {
					v.win.SetRoots(roots("file:///repos/site"))
				}
				v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, superseded+"allow")
				if state := w.state("r1"); state != "running" || s.Count(fakeserver.Method("tools/call")) != 2 {
					t.Errorf("%s: the call is %s", how, state)
				}
				_, _ = v.win.Cancel("r1", "enough")
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				w.nothingLeft()
			})
		}
	})
	t.Run("a yes to a new start", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, s, v, p, c := withoutConsent(t)
			s.Disconnect()
			pass(time.Minute)
			if v.approval().ID != p.ID {
				t.Error("a second prompt opened, want the same one")
			}
			echo := w.echo()
			synctest.Wait()
			open := v.prompts()
			if len(open) != 2 || open[1].Kind != event.PromptServerLaunch {
				t.Fatalf("the open prompts are %+v", open)
			}
			v.answer(yes(open[1], event.ScopeOnce))
			echo.ok(t)
			v.noPrompt()
			if state := w.state("r1"); state != "running" {
				t.Errorf("the call is %s", state)
			}
			_, _ = v.win.Cancel("r1", "enough")
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			w.nothingLeft()
		})
	})
	t.Run("forgotten", func(t *testing.T) {
		for _, scope := range []event.ApprovalScope{event.ScopeWindow, event.ScopeWorkspace, event.ScopeAlways} {
			bubble(t, func(t *testing.T) {
				s := fakeserver.New()
				redefine(t, s, reads)
				w := newWorldWith(t, hub.Options{}, serversOf("s", s))
				w.workspace(workspaceEntry)
				v := w.user("one", "file:///repos/site")
				c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
				v.allowLaunch(scope)
				c.ok(t)
				redefine(t, s, writes)
				c = w.call(hub.CallRequest{Server: "s", Tool: "a"})
				p := v.approval() // the config allows the tool, but not its new definition
				if n := w.hub.Forget([]string{w.hub.Remembered("s")[0].ID}); n != 1 {
					t.Fatalf("%d were forgotten", n)
				}
				v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, superseded+"ask")
				if again := v.approval(); again.ID == p.ID || len(again.Approval.Changes) == 0 {
					t.Errorf("the second prompt is %+v", again)
				}
				v.answer(yes(v.approval(), event.ScopeOnce))
				c.ok(t)
				if !w.asks(v, "a") { // what the file allows does not count any more
					t.Errorf("scope %d: not asked", scope)
				}
				w.nothingLeft()
			})
		}
	})
	t.Run("another hub", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			w := workspaceWorld(t, dir, `{"command":"s","alwaysAllow":["echo"]}`)
			v := w.user("one")
			c := w.echo()
			v.allowLaunch(event.ScopeOnce)
			c.ok(t)
			w.workspace(`{"command":"s","alwaysAllow":["echo","hang"]}`)
			c = w.call(hang)
			p := v.approval()
			other := workspaceWorld(t, dir, `{"command":"s","alwaysAllow":["echo","hang"]}`)
			there := other.user("")
			o := other.echo()
			there.allowLaunch(event.ScopeAlways)
			o.ok(t)
			w.hub.Remembered("") // reads what the other hub has written
			v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, superseded+"allow")
			_, _ = v.win.Cancel("r1", "enough")
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			w.nothingLeft()
		})
	})
}

// A window without folders cannot consent to a launch for its workspace. The question stays open for another answer.
func TestWorkspaceConsentNeedsFolders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, t.TempDir(), workspaceEntry)
		v := w.user("one")
		c := w.echo()
		p := v.launch()
		e := event.AsError(v.win.Answer(yes(p, event.ScopeWorkspace)))
		if e == nil || e.Code != event.CodeInvalidArgument || e.Reason != event.ReasonInvalidContent ||
			e.Meta["prompt_id"] != p.ID || !strings.Contains(e.Message, "still open") {
			t.Errorf("the error is %+v", e)
		}
		if v.launch().ID != p.ID || c.over() || w.starts("s") != 0 {
			t.Error("the refused answer closed the prompt or started the server")
		}
		v.win.SetRoots(roots("file:///repos/site", "file:///repos/lib"))
		v.allowLaunch(event.ScopeWorkspace)
		c.ok(t)
		list := w.hub.Remembered("s")
		if len(list) != 1 || list[0].Scope != event.ScopeWorkspace ||
			!slices.Equal(list[0].Folders, []string{"file:///repos/lib", "file:///repos/site"}) {
			t.Errorf("remembered are %+v", list)
		}
		v.win.SetRoots(nil)
		if got := w.server("s").LaunchConsent; got != event.LaunchNeeded {
			t.Errorf("without the folders: %v", got)
		}
		v.win.SetRoots(roots("file:///repos/lib", "file:///repos/site"))
		if got := w.server("s").LaunchConsent; got != event.LaunchGiven {
			t.Errorf("with them: %v", got)
		}
		w.nothingLeft()
	})
}

// eagerWorkspace returns a world with one eager server of a workspace file.
func eagerWorkspace(t *testing.T) *world {
	t.Helper()
	w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
	w.hub.EditConfig(makeEager)
	w.workspace(workspaceEntry)
	return w
}

// rests checks that a server is stopped because it lacks consent, and that nothing starts it within an hour.
func (w *world) rests(when string, failures int) {
	w.t.Helper()
	pass(time.Hour)
	if info := w.server("s"); info.State != event.ServerStopped || info.LaunchConsent != event.LaunchNeeded ||
		info.Failures != failures || next(info) != 0 {
		w.t.Errorf("%s: %+v", when, info)
	}
}

// An eager server of a workspace waits for a window that can ask, while windows come and go, and starts with the Yes.
// None of this counts as a failure.
func TestEagerWorkspaceServerWaitsForConsent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := eagerWorkspace(t)
		w.rests("without a window", 0)
		w.everything()
		w.rests("with a window that shows no launches", 0)
		for _, id := range []string{"one", "two"} {
			v := w.user(id)
			p := v.launch()
			v.win.Detach(true)
			w.rests("after window "+id, 0)
			again := w.user(id)
			if q := again.launch(); q.ID == p.ID {
				t.Error("a question that was closed is open")
			}
			again.win.SetCapabilities(allKinds, true, nil)
			w.rests("after window "+id+" shows no launches any more", 0)
			again.win.Detach(true)
		}
		one, two := w.user("one"), w.user("two")
		p := one.launch()
		one.win.Detach(true)
		if two.launch().ID != p.ID {
			t.Error("the question went with one of two windows")
		}
		two.allowLaunch(event.ScopeOnce)
		if info := w.server("s"); info.State != event.ServerReady || info.Failures != 0 ||
			info.LaunchConsent != event.LaunchGiven || w.starts("s") != 1 {
			t.Errorf("the server is %+v", info)
		}
		two.win.Detach(true)
		pass(time.Hour)
		if info := w.server("s"); info.State != event.ServerReady {
			t.Errorf("the server is %+v", info)
		}
		w.nothingLeft()
	})
}

// When the folders of a consent are opened, the eager server starts, even if the window cannot ask anything.
func TestEagerWorkspaceServerStartsWithItsFolders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := eagerWorkspace(t)
		v := w.user("one", "file:///repos/site")
		v.allowLaunch(event.ScopeWorkspace)
		synctest.Wait()
		v.win.Detach(true)
		blind := w.everything()
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.hub.SetServerEnabled(context.Background(), "s", false); err != nil {
			t.Fatal(err)
		}
		if _, err := w.hub.SetServerEnabled(context.Background(), "s", true); err != nil {
			t.Fatal(err)
		}
		w.rests("without its folders", 0)
		blind.win.SetRoots(roots("file:///repos/site"))
		if info := w.server("s"); info.State != event.ServerReady || info.LaunchConsent != event.LaunchGiven {
			t.Errorf("the server is %+v", info)
		}
		w.nothingLeft()
	})
}

// One window goes at the moment when another one comes: the question is open in the other one.
func TestEagerWorkspaceServerWhileWindowsPass_long(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for i := range rounds {
		bubble(t, func(t *testing.T) {
			w := eagerWorkspace(t)
			v := w.user("one")
			if i%2 == 0 {
				synctest.Wait() // the question is open; else the start has just begun
			}
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				v.win.Detach(true)
			}()
			last := w.user("two")
			<-gone
			last.allowLaunch(event.ScopeOnce)
			if info := w.server("s"); info.State != event.ServerReady || info.Failures != 0 {
				t.Errorf("the server is %+v", info)
			}
			w.nothingLeft()
		})
	}
}

// startSeen is a window that shows no prompts. It calls tell for each change of a server that is being started, with
// the hub's lock held.
type startSeen struct{ tell func() }

func (s startSeen) Deliver(e event.Event) {
	if c, ok := e.Body.(*event.ServerChanged); ok && c.Server.State == event.ServerConnecting {
		s.tell()
	}
}

func (startSeen) Closed(*event.Error) {}

// The window comes at the moment when the start finds that there is none: the window is not overlooked, and the
// question opens in it.
func TestEagerWorkspaceServerAsTheWindowComes_long(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		bubble(t, func(t *testing.T) {
			w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
			w.hub.EditConfig(makeEager)
			come := make(chan struct{})
			begun := sync.OnceFunc(func() { close(come) })
			if _, _, err := w.hub.Attach(hub.Hello{WindowID: "blind"}, startSeen{begun}); err != nil {
				t.Fatal(err)
			}
			var v *view
			var refused error
			var coming sync.WaitGroup
			coming.Go(func() {
				<-come
				v, refused = w.tryAttach(hub.Hello{Kinds: startKinds})
			})
			w.workspace(workspaceEntry)
			coming.Wait()
			if refused != nil {
				t.Fatal(refused)
			}
			v.allowLaunch(event.ScopeOnce)
			if info := w.server("s"); info.State != event.ServerReady {
				t.Errorf("the server is %+v", info)
			}
		})
	}
}

// A server that crashed is started again if the consent to it still holds. If the consent has ended with its window,
// nobody is asked, and the server stays stopped until a call needs it.
func TestCrashAsksNobody(t *testing.T) {
	for _, eager := range []bool{false, true} {
		for scope, comesBack := range map[event.ApprovalScope]bool{event.ScopeOnce: true, event.ScopeWindow: false,
			event.ScopeWorkspace: false, event.ScopeAlways: true} {
			for _, witness := range []bool{false, true} { // is there another window, which could ask?
				t.Run(fmt.Sprintf("eager %v, scope %d, another window %v", eager, scope, witness), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						s := hanging()
						w := newWorldWith(t, hub.Options{}, serversOf("s", s))
						if eager {
							w.hub.EditConfig(makeEager)
						}
						w.workspace(workspaceEntry)
						v := w.user("one", "file:///repos/site")
						c := w.echo()
						v.allowLaunch(scope)
						c.ok(t)
						if witness {
							w.user("two", "file:///repos/other")
						}
						v.win.Detach(true)
						s.Disconnect()
						if comesBack {
							pass(time.Hour)
							if info := w.server("s"); info.State != event.ServerReady || info.LaunchConsent != event.LaunchGiven ||
								w.starts("s") != 2 {
								t.Errorf("the server is %+v", info)
							}
						} else {
							w.rests("after the crash", 1)
						}
						w.nothingLeft()
						if comesBack {
							return
						}
						v = w.user("three")
						c = w.echo()
						v.allowLaunch(event.ScopeOnce)
						c.ok(t)
						if info := w.server("s"); info.State != event.ServerReady || w.starts("s") != 2 {
							t.Errorf("the server is %+v", info)
						}
						w.nothingLeft()
					})
				})
			}
		}
	}
}

// If a call waits for the next start after a crash, the start may ask for consent.
func TestCrashAsksForWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorldWith(t, hub.Options{}, serversOf("s", s))
		w.workspace(workspaceEntry)
		v := w.user("one")
		c := w.echo()
		v.allowLaunch(event.ScopeWindow)
		c.ok(t)
		w.fall("s", &ill{err: errRefused})
		s.Disconnect()
		pass(time.Second)
		if info := w.server("s"); info.Failures != 2 || next(info) != 2*time.Second {
			t.Fatalf("the server is %+v", info)
		}
		w.user("two")
		v.win.Detach(true)
		v = w.user("three")
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true})
		w.fall("s", nil)
		v.noPrompt()
		pass(2 * time.Second)
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		w.nothingLeft()
	})
}

// A server that was given up, and whose launch has changed, is another server: it starts after consent to the new
// launch.
func TestGivenUpServerThatChanged(t *testing.T) {
	for _, eager := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorldWith(t, hub.Options{}, serversOf("s", s))
			if eager {
				w.hub.EditConfig(makeEager)
			}
			w.workspace(workspaceEntry)
			v := w.user("one")
			c := w.echo()
			v.allowLaunch(event.ScopeOnce)
			c.ok(t)
			w.fall("s", &ill{err: errRefused})
			s.Disconnect()
			pass(time.Hour)
			if info := w.server("s"); info.State != event.ServerGivenUp || info.LaunchConsent != event.LaunchGiven {
				t.Fatalf("the server is %+v", info)
			}
			// A change of what the file allows is no reason to try again, but it needs another consent.
			w.workspace(strings.Replace(workspaceEntry, allow, `"alwaysAllow":["echo"]`, 1))
			if info := w.server("s"); info.State != event.ServerGivenUp || info.LaunchConsent != event.LaunchNeeded ||
				info.Failures != 5 {
				t.Errorf("the server is %+v", info)
			}
			v.noPrompt()
			w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).want(t, event.CodeUnavailable,
				event.ReasonServerGivenUp)
			v.noPrompt()

			w.fall("s", nil)
			w.workspace(strings.Replace(workspaceEntry, "a b", "other", 1))
			if eager {
				v.launch()
			} else {
				v.noPrompt()
				if info := w.server("s"); info.State != event.ServerStopped || info.LaunchConsent != event.LaunchNeeded ||
					info.Failures != 0 || info.LastError != "" {
					t.Errorf("the server is %+v", info)
				}
			}
			c = w.echo()
			if q := v.launch().Launch; !q.Changed || len(q.Changes) != 1 || q.Changes[0].Path != "args[1]" {
				t.Errorf("the question is %+v", q)
			}
			v.allowLaunch(event.ScopeOnce)
			c.ok(t)
			if info := w.server("s"); info.State != event.ServerReady || info.Failures != 0 {
				t.Errorf("the server is %+v", info)
			}
			w.nothingLeft()
		})
	}
}

// Listing the known tools of a server that needs consent or an input does not start it and asks nobody.
func TestKnownToolsAskNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		load := func(w *world) {
			w.source(hub.ConfigSource{Path: "/repos/site/.vscode/mcp.json", Scope: "workspace", Folder: "/repos/site",
				JSON: `{"inputs":[{"id":"key","type":"promptString"}],"servers":{"s":{"command":"s","env":{"KEY":"${input:key}"},` +
					allow + `}}}`})
		}
		w := newWorldWith(t, hub.Options{StateDir: dir}, serversOf("s", answers("a")))
		load(w)
		v := w.user("one")
		look := func(w *world, v *view, want string) {
			t.Helper()
			before := v.starts()
			if got := w.known("s") + ", all: " + w.known(""); got != want+", all: "+want {
				t.Errorf("known are %q, want %q", got, want)
			}
			if v.noPrompt(); v.starts() != before {
				t.Error("it was started")
			}
		}
		look(w, v, "")
		c := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		v.allowLaunch(event.ScopeWindow)
		v.give("key", `"k-1"`)
		c.ok(t)
		look(w, v, "a")
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		for _, r := range w.hub.Remembered("") {
			w.hub.Forget([]string{r.ID})
		}
		look(w, v, "a(cached)")
		later := newWorldWith(t, hub.Options{StateDir: dir}, serversOf("s", answers("a")))
		load(later)
		look(later, later.user("two"), "a(cached)")
		w.nothingLeft()
	})
}
