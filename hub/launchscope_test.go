package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// restart stops server s and calls it. It reports whether the user was asked, and leaves the question open.
func (w *world) restart(v *view) (asked bool) {
	w.t.Helper()
	if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
		w.t.Fatal(err)
	}
	c := w.echo()
	synctest.Wait()
	if c.over() {
		c.ok(w.t)
		return false
	}
	v.launch()
	return true
}

// dismissed dismisses the open launch question.
func (v *view) dismissed() {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDismiss})
	synctest.Wait()
}

// How long a consent holds: once for this hub, window while the window lives, workspace while the same folders are
// open, always in later hubs, too.
func TestLaunchConsentScopes(t *testing.T) {
	type want struct{ sameWindow, windowGone, nextHub, nextHubElsewhere bool } // asked again?
	for scope, want := range map[event.ApprovalScope]want{
		event.ScopeOnce:      {false, false, true, true},
		event.ScopeWindow:    {false, true, true, true},
		event.ScopeWorkspace: {false, true, false, true},
		event.ScopeAlways:    {false, false, false, false},
	} {
		bubble(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			w := workspaceWorld(t, dir, workspaceEntry)
			v := w.user("one", "file:///repos/site")
			c := w.echo()
			v.allowLaunch(scope)
			c.ok(t)
			if got := w.restart(v); got != want.sameWindow {
				t.Errorf("scope %d: asked in the same window: %v", scope, got)
			}
			if n := len(w.hub.RememberedLaunches()); (n == 1) != (scope != event.ScopeOnce) {
				t.Errorf("scope %d: %d are remembered", scope, n)
			}
			v.win.Detach(true)
			v = w.user("two", "file:///repos/other")
			if got := w.restart(v); got != want.windowGone {
				t.Errorf("scope %d: asked after the window had gone: %v", scope, got)
			} else if got {
				v.dismissed()
			}
			for _, folder := range []string{"file:///repos/site", "file:///repos/other"} {
				next := workspaceWorld(t, dir, workspaceEntry)
				v := next.user("one", folder)
				wanted := want.nextHub
				if folder == "file:///repos/other" {
					wanted = want.nextHubElsewhere
				}
				if got := next.restart(v); got != wanted {
					t.Errorf("scope %d: asked by the next hub at %s: %v", scope, folder, got)
				} else if got {
					v.dismissed()
				}
			}
		})
	}
}

// The file of consents has the form that was shown and no values of variables, and only the user can read it.
func TestLaunchFileHoldsNoValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := workspaceWorld(t, dir, `{"command":"s","args":["shown-1"],"env":{"KEY":"literal-4477"},`+allow+`}`)
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		path := filepath.Join(dir, "launches.json")
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "shown-1") || !strings.Contains(string(text), "env.KEY") ||
			strings.Contains(string(text), "literal-4477") {
			t.Errorf("launches.json: %v\n%s", err, text)
		}
		if info, err := os.Stat(path); err != nil || !ofUserAlone(info) {
			t.Errorf("launches.json: %+v, error %v", info, err)
		}
		// Another hub asks about the change, and shows it.
		next := workspaceWorld(t, dir, `{"command":"s","args":["shown-2"],"env":{"KEY":"literal-4477"},`+allow+`}`)
		v = next.user("")
		c = next.echo()
		if q := v.launch().Launch; !q.Changed || len(q.Changes) != 1 ||
			q.Changes[0] != (event.DefinitionChange{Path: "args[0]", Before: `"shown-1"`, After: `"shown-2"`}) {
			t.Errorf("the question is %+v", q)
		}
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		// The first hub reads the new consent when it needs it.
		w.workspace(`{"command":"s","args":["shown-2"],"env":{"KEY":"literal-4477"},` + allow + `}`)
		w.echo().ok(t)
	})
}

// The file of consents has the names of headers and not their values.
func TestLaunchFileHoldsNoHeaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := newWorldWith(t, hub.Options{StateDir: dir, RoundTripper: unfinishedWeb{}}, nil)
		w.workspace(`{"type":"http","url":"http://known.b/","headers":{"X-Key":"k-99127"},` + allow + `}`)
		v := w.user("")
		c := w.call(hub.CallRequest{Server: "s", Tool: "t"})
		v.allowLaunch(event.ScopeAlways)
		<-c.done
		text, err := os.ReadFile(filepath.Join(dir, "launches.json"))
		if err != nil || !strings.Contains(string(text), "X-Key") || strings.Contains(string(text), "99127") {
			t.Errorf("launches.json: %v, want X-Key and not its value:\n%s", err, text)
		}
	})
}

// A remembered consent can be forgotten: the running server goes on, and its next start asks.
func TestForgetLaunch(t *testing.T) {
	for _, scope := range []event.ApprovalScope{event.ScopeWindow, event.ScopeWorkspace, event.ScopeAlways} {
		bubble(t, func(t *testing.T) {
			w := workspaceWorld(t, t.TempDir(), workspaceEntry)
			v := w.user("one", "file:///repos/site")
			c := w.echo()
			v.allowLaunch(scope)
			c.ok(t)
			list := w.hub.RememberedLaunches()
			if len(list) != 1 || list[0].Kind != event.RememberedLaunch || list[0].Server != "s" || list[0].Scope != scope ||
				list[0].Hash == "" || list[0].Time.IsZero() ||
				(list[0].WindowID == "one") != (scope == event.ScopeWindow) ||
				(len(list[0].Folders) == 1) != (scope == event.ScopeWorkspace) {
				t.Fatalf("remembered are %+v", list)
			}
			if w.hub.ForgetLaunch("launch-nothing") || !w.hub.ForgetLaunch(list[0].ID) || w.hub.ForgetLaunch(list[0].ID) {
				t.Error("ForgetLaunch: want false for an unknown id, and true once for a known one")
			}
			if s := w.server("s"); s.State != event.ServerReady || s.LaunchConsent != event.LaunchNeeded {
				t.Errorf("the server is %+v", s)
			}
			if got := last[*event.ServerChanged](v).Server.LaunchConsent; got != event.LaunchNeeded {
				t.Errorf("the windows know %v", got)
			}
			if !w.restart(v) {
				t.Error("nobody was asked")
			}
			v.dismissed()
		})
	}
}

// What a workspace file allows counts only after consent, and only as far as the consent covers it. What it denies
// always counts.
func TestWorkspaceAllowCountsOnlyAfterConsent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		entry := func(rest string) string { return `{"command":"s",` + rest + `}` }
		w := workspaceWorld(t, "", entry(`"alwaysAllow":["echo"],"approvals":{"hang":"deny"}`))
		v := w.user("")
		w.call(hub.CallRequest{Server: "s", Tool: "hang"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
		v.noPrompt() // nothing was started for it
		c := w.echo()
		v.allowLaunch(event.ScopeWindow)
		c.ok(t) // the launch was the only question
		policies := func() (got [2]event.Policy) {
			t.Helper()
			tools, _, err := w.hub.Tools(context.Background(), "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				got[map[string]int{"echo": 0, "hang": 1}[tool.Name]] = tool.Policy
			}
			return got
		}
		if got := policies(); got != [2]event.Policy{event.PolicyAllow, event.PolicyDeny} {
			t.Errorf("after the yes %v", got)
		}

		w.workspace(entry(`"alwaysAllow":["*"]`)) // the file allows more now; the server goes on running
		if n := w.starts("s"); n != 1 {
			t.Errorf("%d starts", n)
		}
		if got := policies(); got != [2]event.Policy{event.PolicyAllow, event.PolicyAsk} {
			t.Errorf("after the change %v", got)
		}
		w.echo().ok(t)
		hang := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		p := v.prompt()
		if p.Kind != event.PromptToolApproval {
			t.Fatalf("the prompt is %+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		hang.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)

		w.workspace(entry(`"alwaysAllow":["*"],"approvals":{"echo":"deny"}`))
		w.echo().want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)

		w.workspace(entry(`"alwaysAllow":["echo"],"approvals":{"hang":"deny"}`)) // the form with consent
		v.win.Detach(true)                                                       // and the consent with it
		v = w.user("")
		c = w.echo()
		if p := v.prompt(); p.Kind != event.PromptToolApproval {
			t.Errorf("after the window had gone: %+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept})
		c.ok(t)
		w.nothingLeft()
	})
}

// A file that changes while the launch question is open closes it, so that nobody agrees to an outdated form. A change
// that does not affect the launch leaves it open.
func TestReloadSupersedesLaunchPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		entry := func(rest string) string { return `{"command":"s","args":["` + rest + `,` + allow + `}` }
		w := workspaceWorld(t, "", entry(`a"]`))
		v := w.user("")
		c := w.echo()
		p := v.launch()
		w.workspace(entry(`a"],"timeouts":{"total":"9m"}`))
		if v.launch().ID != p.ID {
			t.Error("a change of a timeout closed the question")
		}
		stopped := w.workspace(entry(`b"]`))
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginHost, "the server's config changed")
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "host" || len(stopped) != 1 {
			t.Errorf("the error is %+v, stopped %v", e, stopped)
		}
		wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept}), event.ReasonPromptClosed)
		if n := w.starts("s"); n != 0 {
			t.Errorf("%d starts", n)
		}
		w.nothingLeft()

		// What the file allows changes, but not what runs: the call goes on waiting, and the question is a new one.
		c = w.echo()
		p = v.launch()
		w.workspace(strings.Replace(entry(`b"]`), allow, `"alwaysAllow":["echo"]`, 1))
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginHost, "the server's config changed")
		q := v.launch()
		if q.ID == p.ID || len(q.Launch.AllowedTools) != 1 || q.Launch.AllowedTools[0] != "echo" || q.Launch.Changed {
			t.Errorf("the question is %+v", q.Launch)
		}
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		w.nothingLeft()
	})
}

// The Yes comes at the same time as a new form of the entry: it does not count for that form.
func TestLaunchAnswerToAnOldForm(t *testing.T) {
	for range 30 {
		bubble(t, func(t *testing.T) {
			w := workspaceWorld(t, "", `{"command":"s","alwaysAllow":["echo"]}`)
			v := w.user("")
			c := w.call(hub.CallRequest{Server: "s", Tool: "hang", ID: "r"})
			id := v.launch().ID
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = v.win.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept})
			}()
			w.workspace(`{"command":"s","alwaysAllow":["*"]}`)
			<-done
			p := v.prompt() // about the launch again, or about the tool; hang must not run without a question
			if c.over() || p.Kind != event.PromptServerLaunch && p.Kind != event.PromptToolApproval {
				t.Fatalf("the call is over: %v, the prompt is %+v", c.over(), p)
			}
			w.hub.EditConfs(func(c *config.Server) { c.Approvals = nil })
			_, _ = v.win.Cancel("r", "enough")
			<-c.done
			pass(time.Second)
			w.nothingLeft()
		})
	}
}

// If the hub drains while the user is asked, the question closes, and the error of the call says why.
func TestDrainClosesLaunchPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		c := w.echo()
		p := v.launch()
		w.hub.Drain(context.Background(), "the editor closes")
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "shutdown" {
			t.Errorf("the error is %+v", e)
		}
		v.wantClosed(p.ID, event.CauseShutdown, event.OriginShutdown, "the editor closes")
		w.nothingLeft()
	})
}

// If the entry changes while SignIn asks for consent, the question closes without a new one, and nothing is sent.
func TestSignInByHandOfAChangedLaunch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		entry := func(path string) string { return `{"type":"http","url":"http://` + at.host + path + `"}` }
		w.workspace(entry("/mcp"))
		v := w.user("")
		s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		p := v.launch()
		w.workspace(entry("/mcp?other"))
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginHost, "the server's config changed")
		v.noPrompt()
		if !s.over() || event.AsError(s.err).Reason != event.ReasonServerStopped || len(at.Received()) != 0 {
			t.Errorf("signing in: %v, %d messages", s.err, len(at.Received()))
		}
		w.nothingLeft()
	})
}
