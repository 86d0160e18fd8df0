package hub_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A server of a workspace file starts only after consent to exactly what would run. Until then, references are not
// resolved.
func TestWorkspaceServerAsksBeforeItStarts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v, blind := w.user(""), w.everything()
		if s := w.server("s"); s.LaunchConsent != event.LaunchNeeded {
			t.Errorf("before: %v", s.LaunchConsent)
		}
		c := w.echo()
		p := v.launch()
		dir := filepath.FromSlash(rooted("/repos/site"))
		want := &event.LaunchQuestion{
			Command: "s", Args: []string{"--root", "a b; rm -rf /"}, Dir: dir, EnvNames: []string{"MODE", "TOKEN"},
			EnvRefs: []string{"SITE_TOKEN"},
			Env: []event.LaunchVariable{{Name: "MODE", Value: "literal-7731"},
				{Name: "TOKEN", Value: "${env:SITE_TOKEN}"}},
			Unresolved: fmt.Sprintf(`cannot start "s": the working directory %q does not exist; create it or change "cwd"`,
				dir),
			HeaderNames: nil, AllowedTools: []string{"*"}, ConfigFile: workspaceFile, ConfigLine: 1, Hash: p.Launch.Hash,
		}
		if diff := cmp.Diff(want, p.Launch); diff != "" || len(p.Launch.Hash) < 32 {
			t.Errorf("the question (-want +got):\n%s", diff)
		}
		if n := len(eventsOf[*event.PromptOpened](blind)); n != 0 {
			t.Errorf("a window that shows no launches was shown %d", n)
		}
		if r := w.request(p.RequestID); r.Method != "launch" || r.State != event.StateAwaitingInput ||
			r.Direction != event.Outgoing || r.Server != "s" {
			t.Errorf("the question is shown as %+v", r)
		}
		if s := w.server("s"); s.LaunchConsent != event.LaunchAsking || s.State != event.ServerConnecting {
			t.Errorf("meanwhile: %v, %v", s.LaunchConsent, s.State)
		}
		if n := w.starts("s"); n != 0 {
			t.Fatalf("%d processes before the yes", n)
		}
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		v.wantClosed(p.ID, event.CauseAnswered, event.OriginUser, "")
		if end, ok := v.terminalOf(p.RequestID).(*event.RequestFinished); !ok || end.State != event.StateDone {
			t.Errorf("the question ended as %+v", end)
		}
		got := w.started()
		if len(got) != 1 || *got[0].Env["TOKEN"] != "tok-5521-abc" {
			t.Errorf("started %+v", got)
		}
		w.hub.EditConfs(func(c *config.Server) {
			if *c.Env["TOKEN"] != "${env:SITE_TOKEN}" {
				t.Error("what was resolved is kept in the config")
			}
		})
		if got := v.consents(); !slices.Equal(got, []event.LaunchConsent{event.LaunchNeeded, event.LaunchAsking,
			event.LaunchGiven}) {
			t.Errorf("the windows saw %v", got)
		}
		w.nothingLeft()
	})
}

// The question about a server behind a URL shows the URL and the names of the headers. Nothing is sent before consent.
func TestWorkspaceURLAsksBeforeAnythingIsSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		at.set(func() { at.guarded = false })
		entry := `{"type":"http","url":"http://` + at.host +
			`/mcp","headers":{"X-Key":"k-99127"},"oauth":{"grant":"workload_identity","clientId":"c","workloadTokenFile":"` + rooted("/run/token") + `"}}`
		w.workspace(entry)
		v := w.user("")
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true})
		q := v.launch().Launch
		if q.URL != "http://"+at.host+"/mcp" || !slices.Equal(q.HeaderNames, []string{"X-Key"}) ||
			!slices.Equal(q.Files, []string{rooted("/run/token")}) || q.Command != "" {
			t.Errorf("the question is %+v", q)
		}
		signing := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		v.launch() // no second question
		if n := len(at.Received()); n != 0 || at.visited("/register") != 0 {
			t.Errorf("%d messages before the yes", n)
		}
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		if !signing.over() || event.AsError(signing.err).Reason != event.ReasonLaunchDeclined {
			t.Errorf("signing in: %v", signing.err)
		}
		if n := len(at.Received()); n != 0 {
			t.Errorf("%d messages after the no", n)
		}
		w.nothingLeft()
	})
}

// Servers from files of the host or the user need no consent.
func TestHostAndUserServersAskNothing(t *testing.T) {
	for _, scope := range []string{"host", "user"} {
		bubble(t, func(t *testing.T) {
			w := workspaceWorld(t, "", workspaceEntry)
			w.source(hub.ConfigSource{Path: "/config/mcp.json", Scope: scope, JSON: `{"servers":{"s":` + workspaceEntry + `}}`})
			v := w.user("")
			w.echo().ok(t)
			v.noPrompt()
			if s := w.server("s"); s.LaunchConsent != 0 || len(eventsOf[*event.PromptOpened](v)) != 0 {
				t.Errorf("scope %q: %+v", scope, s)
			}
		})
	}
}

// Finding C4: a source without a scope counts as a file of a workspace.
func TestSourceWithoutScopeAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		w.source(hub.ConfigSource{Path: "/repos/site/.mcp.json", JSON: `{"servers":{"s":` + workspaceEntry + `}}`})
		v := w.user("")
		c := w.echo()
		if s := w.server("s"); s.Scope != "workspace" || s.LaunchConsent != event.LaunchAsking {
			t.Errorf("the server is %+v", s)
		}
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
	})
}

// A host that has asked the user itself marks the workspace file as trusted, and nothing is asked.
func TestTrustedWorkspaceAsksNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		w.source(hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Trusted: true, JSON: `{"servers":{"s":` +
			workspaceEntry + `}}`})
		v := w.user("")
		w.echo().ok(t)
		if s := w.server("s"); s.LaunchConsent != 0 || len(eventsOf[*event.PromptOpened](v)) != 0 {
			t.Errorf("the server is %+v", s)
		}
	})
}

// Consent covers every part of an entry. The question about a change shows what has changed, but not the earlier values
// of variables.
func TestLaunchConsentIsAskedAgainOnChange(t *testing.T) {
	const before = `{"command":"s","args":["a"],"env":{"A":"one-4411","C":null},"alwaysAllow":["read"]}`
	for name, c := range map[string]struct {
		entry string
		want  []event.DefinitionChange
	}{
		"argument": {`{"command":"s","args":["b","c"],"env":{"A":"one-4411","C":null},"alwaysAllow":["read"]}`,
			[]event.DefinitionChange{{Path: "args[0]", Before: `"a"`, After: `"b"`},
				{Path: "args[1]", Before: "", After: `"c"`}}},
		"value": {`{"command":"s","args":["a"],"env":{"A":"two-4411","C":null},"alwaysAllow":["read"]}`,
			[]event.DefinitionChange{{Path: "env.A", Before: `"(a value)"`, After: `"two-4411"`}}},
		"variables": {`{"command":"s","args":["a"],"env":{"A":"one-4411","B":"x","C":""},"alwaysAllow":["read"]}`,
			[]event.DefinitionChange{{Path: "env.B", Before: "", After: `"x"`}, {Path: "env.C", Before: `null`, After: `""`}}},
		"directory": {`{"command":"s","args":["a"],"cwd":"` + rooted("/tmp") + `","env":{"A":"one-4411","C":null},"alwaysAllow":["read"]}`,
			[]event.DefinitionChange{{Path: "directory", Before: `"/repos/site"`, After: fmt.Sprintf("%q", filepath.FromSlash(rooted("/tmp")))}}},
		"allowed tool": {`{"command":"s","args":["a"],"env":{"A":"one-4411","C":null},"alwaysAllow":["read","*"]}`,
			[]event.DefinitionChange{{Path: "approvals.*", Before: "", After: `"allow"`}}},
		"no argument": {`{"command":"s","env":{"A":"one-4411","C":null},"alwaysAllow":["read"]}`,
			[]event.DefinitionChange{{Path: "args[0]", Before: `"a"`, After: ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := workspaceWorld(t, "", before)
				v := w.user("")
				start := func() *pendingServer {
					return background(func() (event.ServerInfo, error) { return w.hub.RestartServer(context.Background(), "s", "") })
				}
				s := start()
				if q := v.launch().Launch; q.Changed || q.Changes != nil {
					t.Errorf("at first %+v", q)
				}
				v.allowLaunch(event.ScopeWindow)
				if !s.over() || s.err != nil {
					t.Fatal(s.err)
				}
				w.workspace(c.entry)
				if got := w.server("s").LaunchConsent; got != event.LaunchNeeded {
					t.Errorf("after the change %v", got)
				}
				s = start()
				q := v.launch().Launch
				if diff := cmp.Diff(c.want, q.Changes); !q.Changed || diff != "" {
					t.Errorf("changed %v (-want +got):\n%s", q.Changed, diff)
				}
				v.allowLaunch(event.ScopeWindow)
				if !s.over() || s.err != nil {
					t.Fatal(s.err)
				}
				w.workspace(before) // there is consent to this form
				if s = start(); !s.over() || s.err != nil {
					t.Error(s.err)
				}
			})
		})
	}
}

// A No holds until the entry changes or the host starts the server. A question that was dismissed is asked again on the
// next use.
func TestLaunchDeclined(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		c := w.echo()
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDismiss})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		if got := w.server("s"); got.LaunchConsent != event.LaunchNeeded || got.State != event.ServerFailed ||
			got.LastError == "" {
			t.Errorf("after a dismissal %+v", got)
		}

		c = w.echo()
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		if e := c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined); e.Meta["server"] != "s" ||
			!strings.Contains(e.Message, workspaceFile) {
			t.Errorf("the error is %+v", e)
		}
		if got := w.server("s").LaunchConsent; got != event.LaunchDeclined {
			t.Errorf("after a no %v", got)
		}
		begun := v.starts()
		for range 3 {
			w.echo().want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		}
		if v.noPrompt(); v.starts() != begun {
			t.Error("a server that was declined is started all the same")
		}
		w.workspace(strings.Replace(workspaceEntry, "a b", "a", 1))
		if got := w.server("s").LaunchConsent; got != event.LaunchNeeded {
			t.Errorf("after a change %v", got)
		}
		c = w.echo()
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)

		s := background(func() (event.ServerInfo, error) { return w.hub.StartServer(context.Background(), "s") })
		v.allowLaunch(event.ScopeOnce)
		if !s.over() || s.err != nil || s.info.LaunchConsent != event.LaunchGiven {
			t.Errorf("the start gave %+v, error %v", s.info, s.err)
		}
		w.echo().ok(t)
		if n := w.starts("s"); n != 1 {
			t.Errorf("%d starts", n)
		}
		w.nothingLeft()
	})
}

// All calls that wait for the server share one question. It closes when the last of them has gone, and nothing is
// started.
func TestLaunchPromptEndsWithItsLastWaiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		a := w.call(hub.CallRequest{ID: "a", Server: "s", Tool: "echo"})
		b := w.call(hub.CallRequest{ID: "b", Server: "s", Tool: "echo"})
		p := v.launch()
		for _, id := range []string{"a", "b"} {
			if v.launch().ID != p.ID {
				t.Error("a second prompt opened, want the same one")
			}
			if _, err := v.win.Cancel(id, "no"); err != nil {
				t.Fatal(err)
			}
		}
		a.want(t, event.CodeCancelled, event.ReasonCancelled)
		b.want(t, event.CodeCancelled, event.ReasonCancelled)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "nobody waits for the answer any more")
		if n := w.starts("s"); n != 0 {
			t.Errorf("%d starts", n)
		}
		w.nothingLeft()
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
	})
}

// The call goes at the moment when its question would open: no question stays open for it, and the next call gets one.
func TestLaunchUnwantedAtOnce(t *testing.T) {
	for range 50 {
		bubble(t, func(t *testing.T) {
			w := workspaceWorld(t, "", workspaceEntry)
			v := w.user("")
			ctx, stop := context.WithCancelCause(context.Background())
			c := w.callContext(ctx, hub.CallRequest{Server: "s", Tool: "echo"})
			go stop(nil)
			runtime.Gosched()
			again := w.echo()
			<-c.done
			v.allowLaunch(event.ScopeOnce)
			again.ok(t)
			w.nothingLeft()
		})
	}
}

// A person may take as long as timeouts.human; no clock of the call or of the start runs meanwhile. After that the call
// fails, and the error names the setting.
func TestLaunchPromptStopsTheClocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", `{"command":"s","timeouts":{"connect":"5s","human":"20m"},`+allow+`}`)
		v := w.user("")
		limits := hub.Timeouts{Idle: ptr(10 * time.Second), Total: ptr(20 * time.Second)}
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo", Timeouts: limits})
		p := v.launch()
		pass(10 * time.Minute)
		late := w.call(hub.CallRequest{Server: "s", Tool: "echo", Timeouts: limits})
		pass(9 * time.Minute)
		if c.over() || late.over() {
			t.Fatalf("ended while a person thought: %v, %v", c.err, late.err)
		}
		if bad := w.hub.Inconsistent(); bad != "" {
			t.Error(bad)
		}
		v.allowLaunch(event.ScopeOnce)
		if r := c.ok(t); r.Timings.Human < 19*time.Minute {
			t.Errorf("the timings are %+v", r.Timings)
		}
		if r := late.ok(t); r.Timings.Human < 9*time.Minute {
			t.Errorf("the timings are %+v", r.Timings)
		}
		w.workspace(`{"command":"s","args":["other"],"timeouts":{"connect":"5s","human":"20m"},` + allow + `}`)
		c = w.echo()
		p = v.launch()
		pass(20 * time.Minute)
		if e := c.want(t, event.CodeDeadlineExceeded, event.ReasonHumanTimeout); e.Meta["setting"] != "timeouts.human" {
			t.Errorf("the error is %+v", e)
		}
		v.wantClosed(p.ID, event.CauseTimeout, event.OriginTimeout, "timeouts.human of 20m0s exceeded")
		w.nothingLeft()
	})
}

// If no window can show launch questions, or the last one that can goes, the call fails at once, and the error says
// why.
func TestNoWindowForALaunch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		witness := w.everything()
		e := w.echo().want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		if !strings.Contains(e.Message, "nobody could be asked") || !strings.Contains(e.Message, "server launches") {
			t.Errorf("the error does not say that nobody could be asked, or what: %s", e.Message)
		}
		v := w.user("")
		c := w.echo()
		p := v.launch()
		v.win.Detach(true)
		c.want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
		witness.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, "no window is left that can show it")
		if n := w.starts("s"); n != 0 {
			t.Errorf("%d starts", n)
		}
		w.nothingLeft()
	})
}

// With two windows, the first answer counts, and the other window's answer is too late.
func TestLaunchFirstAnswerWins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		one, two := w.user("one"), w.user("two")
		c := w.echo()
		id := one.launch().ID
		one.answer(event.PromptAnswer{PromptID: id, Action: event.ActionDecline})
		wantReason(t, two.win.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept}), event.ReasonPromptClosed)
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		if n := w.starts("s"); n != 0 {
			t.Errorf("%d starts", n)
		}
	})
}

// An answer cannot change what runs: content in the answer to a launch question is an error.
func TestWebviewCannotSupplyACommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		c := w.echo()
		p := v.launch()
		err := v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept,
			Content: `{"command":"evil","args":["x"]}`})
		wantReason(t, err, event.ReasonInvalidContent)
		if v.launch().ID != p.ID || w.starts("s") != 0 {
			t.Error("the refused answer closed the prompt or started the server")
		}
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		if got := w.started(); len(got) != 1 || got[0].Command != "s" ||
			!slices.Equal(got[0].Args, []string{"--root", "a b; rm -rf /"}) {
			t.Errorf("started %+v", got)
		}
	})
}
