package hub_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const userFile = "/config/Code/User/mcp.json"

var userInputs = []config.Input{
	{ID: "key", Description: "the key of the service", Secret: true, Origin: config.Origin{File: userFile, Line: 3}},
	{ID: "region", Description: "where it is", Default: "eu", Options: []config.InputOption{{Value: "eu", Label: "Europe"},
		{Value: "us"}}, Origin: config.Origin{File: userFile, Line: 4}},
}

// inputWorld returns a world with the servers s and t of one file, which refer to its inputs.
func inputWorld(t *testing.T, stateDir, s, other string) *world {
	t.Helper()
	w := newWorldWith(t, hub.Options{StateDir: stateDir}, map[string]*fakeserver.Server{"s": hanging(), "t": hanging()})
	w.inputs(s, other)
	return w
}

// inputs loads the config of the two servers.
func (w *world) inputs(s, other string) {
	w.t.Helper()
	w.hub.EditConfig(func(c *config.Server) { c.Inputs = userInputs }) // before the restart of what runs
	w.source(hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"servers":{"s":{"command":"s",` + s + `,` + allow +
		`},"t":{"command":"t",` + other + `,` + allow + `}}}`})
}

const (
	wantsKey    = `"env":{"KEY":"${input:key}"}`
	wantsRegion = `"args":["--region=${input:region}"]`
)

// input returns the one open prompt, which must ask for the value of this input.
func (v *view) input(id string) event.PromptInfo {
	v.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptConfigInput || p.Input == nil || p.Input.InputID != id {
		v.t.Fatalf("the open prompt is %+v, %+v", p, p.Input)
	}
	return p
}

func (v *view) give(id, content string) {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.input(id).ID, Action: event.ActionAccept, Content: content})
}

// One question is asked for all servers of a file that wait for the value. They get it when they start, and nobody is
// asked again.
func TestConfigInputAskedOnceForAllServers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := inputWorld(t, t.TempDir(), wantsKey, wantsKey)
		v := w.user("")
		a := w.call(hub.CallRequest{ID: "a", Server: "s", Tool: "echo", Timeouts: hub.Timeouts{Total: ptr(20 * time.Second)}})
		p := v.input("key")
		want := &event.InputQuestion{InputID: "key", Description: "the key of the service", Secret: true,
			ConfigFile: userFile,
			ConfigLine: 3}
		if diff := cmp.Diff(want, p.Input); diff != "" || p.Server != "s" {
			t.Errorf("the question of %q (-want +got):\n%s", p.Server, diff)
		}
		if r := w.request(p.RequestID); r.Method != "input" || r.Subject != "key" {
			t.Errorf("the request is %+v", r)
		}
		pass(time.Minute)
		b := w.call(hub.CallRequest{ID: "b", Server: "t", Tool: "echo", Timeouts: hub.Timeouts{Total: ptr(20 * time.Second)}})
		if v.input("key").ID != p.ID {
			t.Error("a second prompt opened, want the same one")
		}
		pass(10 * time.Minute) // no clock of either runs
		late := w.call(hub.CallRequest{ID: "late", Server: "t", Tool: "echo",
			Timeouts: hub.Timeouts{Total: ptr(20 * time.Second)}})
		pass(10 * time.Minute)
		if bad := w.hub.Inconsistent(); bad != "" || a.over() || b.over() || late.over() {
			t.Errorf("inconsistent: %q; the calls ended with %v, %v, %v", bad, a.err, b.err, late.err)
		}
		v.give("key", `"k-\"77 12"`)
		for _, c := range []*pendingCall{a, b, late} {
			if r := c.ok(t); r.Timings.Human < 10*time.Minute {
				t.Errorf("the timings are %+v", r.Timings)
			}
		}
		got := w.started()
		if len(got) != 2 || *got[0].Env["KEY"] != `k-"77 12` || *got[1].Env["KEY"] != `k-"77 12` {
			t.Errorf("%d were started", len(got))
		}
		w.nothingLeft()

		if _, err := w.hub.RestartServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		v.noPrompt()
		list := w.hub.RememberedInputs()
		if len(list) != 1 || list[0].Kind != event.RememberedInput || list[0].InputID != "key" ||
			list[0].Scope != event.ScopeAlways || list[0].Server != "" {
			t.Fatalf("remembered are %+v", list)
		}
		if !w.hub.ForgetInput(list[0].ID) || w.hub.ForgetInput(list[0].ID) || len(w.hub.RememberedInputs()) != 0 {
			t.Error("ForgetInput: want true, then false, and no input remembered")
		}
		s := background(func() (event.ServerInfo, error) { return w.hub.RestartServer(context.Background(), "s", "") })
		v.give("key", `"again-8812"`)
		if !s.over() || s.err != nil {
			t.Error(s.err)
		}
	})
}

// If the caller whose question is open goes, another one that waits asks again, and gets the answer.
func TestConfigInputIsTakenOver(t *testing.T) {
	for name, leave := range map[string]func(w *world, v *view){
		"cancelled": func(_ *world, v *view) { _, _ = v.win.Cancel("a", "no") },
		"stopped":   func(w *world, _ *view) { _, _ = w.hub.StopServer(context.Background(), "s", "") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := inputWorld(t, "", wantsKey, wantsKey)
				v := w.user("")
				a := w.call(hub.CallRequest{ID: "a", Server: "s", Tool: "echo"})
				first := v.input("key")
				b := w.call(hub.CallRequest{ID: "b", Server: "t", Tool: "echo"})
				synctest.Wait()
				leave(w, v)
				a.want(t, event.CodeCancelled, event.ReasonCancelled)
				if p := v.input("key"); p.ID == first.ID || p.Server != "t" {
					t.Errorf("the prompt is %+v", p)
				}
				v.give("key", `"abc-123"`)
				b.ok(t)
				w.nothingLeft()
			})
		})
	}
	t.Run("the other goes", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := inputWorld(t, "", wantsKey, wantsKey)
			v := w.user("")
			a := w.call(hub.CallRequest{ID: "a", Server: "s", Tool: "echo"})
			first := v.input("key")
			b := w.call(hub.CallRequest{ID: "b", Server: "t", Tool: "echo"})
			synctest.Wait()
			_, _ = v.win.Cancel("b", "no")
			b.want(t, event.CodeCancelled, event.ReasonCancelled)
			if bad := w.hub.Inconsistent(); bad != "" || v.input("key").ID != first.ID {
				t.Error(bad)
			}
			v.give("key", `"abc-123"`)
			a.ok(t)
			w.nothingLeft()
		})
	})
}

// Inputs are asked for one after the other, and each value is checked before the prompt closes.
func TestConfigInputOptions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := inputWorld(t, "", wantsRegion+`,`+wantsKey, wantsRegion)
		v := w.user("")
		c := w.echo()
		p := v.input("region")
		if q := p.Input; q.Default != "eu" || !slices.Equal(q.Options,
			[]event.InputOption{{Value: "eu", Label: "Europe"}, {Value: "us"}}) || q.Secret {
			t.Errorf("the question is %+v", q)
		}
		for _, content := range []string{``, `{}`, `null`, `7`, `"asia-0042"`, `"Europe"`, `["eu"]`, `"` +
			strings.Repeat("x", 64<<10+1) + `"`, "\"eu\\u0000\""} {
			err := v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: content})
			wantReason(t, err, event.ReasonInvalidContent)
			if strings.Contains(err.Error(), "asia-0042") {
				t.Error("the error quotes the value")
			}
		}
		v.give("region", `"us"`)
		long := strings.Repeat("x", 64<<10)
		v.give("key", `"`+long+`"`)
		c.ok(t)
		if got := w.started()[0]; got.Args[0] != "--region=us" || *got.Env["KEY"] != long {
			t.Errorf("started with %+v", got.Args)
		}
		// A kept value is not used any more when the file has other options.
		w.hub.EditConfs(func(c *config.Server) {
			c.Inputs = []config.Input{{ID: "region", Options: []config.InputOption{{Value: "mars"}},
				Origin: config.Origin{File: userFile}}}
		})
		other := w.call(hub.CallRequest{Server: "t", Tool: "echo"})
		v.give("region", `"mars"`)
		other.ok(t)
	})
}

// The hub has a value that the host keeps only in memory.
func TestConfigInputKeptByHost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := inputWorld(t, dir, wantsKey, wantsKey)
		v := w.user("")
		c := w.echo()
		v.answer(event.PromptAnswer{PromptID: v.input("key").ID, Action: event.ActionAccept,
			Content: `"host-7788"`, KeptByHost: true})
		c.ok(t)
		w.call(hub.CallRequest{Server: "t", Tool: "echo"}).ok(t)
		if found := grepDir(t, dir, "host-7788"); found != "" {
			t.Errorf("it is in %s", found)
		}
		if list := w.hub.RememberedInputs(); len(list) != 1 || list[0].Scope != event.ScopeOnce {
			t.Errorf("remembered are %+v", list)
		}
		next := inputWorld(t, dir, wantsKey, wantsKey)
		v = next.user("")
		c = next.echo()
		v.give("key", `"other-1199"`)
		c.ok(t)
	})
}

// Without the value the server does not start: the error names the input and its place. The next use asks again.
func TestConfigInputDeclined(t *testing.T) {
	for _, action := range []event.Action{event.ActionDecline, event.ActionDismiss} {
		bubble(t, func(t *testing.T) {
			w := inputWorld(t, "", wantsKey, wantsKey)
			v := w.user("")
			a, b := w.echo(), w.call(hub.CallRequest{Server: "t", Tool: "echo"})
			v.answer(event.PromptAnswer{PromptID: v.input("key").ID, Action: action})
			for name, c := range map[string]*pendingCall{"s": a, "t": b} {
				if e := c.want(t, event.CodeFailedPrecondition, event.ReasonInputMissing); e.Meta["server"] != name ||
					e.Meta["input"] != "key" || !strings.Contains(e.Message, userFile+":3") {
					t.Errorf("%s: %+v", name, e)
				}
			}
			if s := w.server("s"); s.State != event.ServerFailed || s.LastError == "" || w.starts("s")+w.starts("t") != 0 {
				t.Errorf("the server is %+v", s)
			}
			w.nothingLeft()
			c := w.echo()
			v.give("key", `"now-4410"`)
			c.ok(t)
		})
	}
	bubble(t, func(t *testing.T) { // nobody can be asked
		w := inputWorld(t, "", wantsKey, wantsKey)
		w.everything()
		if e := w.echo().want(t, event.CodeFailedPrecondition, event.ReasonNoApprover); !strings.Contains(e.Message,
			"config inputs") {
			t.Errorf("the error does not name config inputs: %s", e.Message)
		}
	})
}

// Consent to the launch of a workspace's server is asked for before its inputs.
func TestLaunchComesBeforeInputs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", `{"command":"s",`+wantsKey+`,`+allow+`}`)
		w.hub.EditConfs(func(c *config.Server) {
			c.Inputs = []config.Input{{ID: "key", Secret: true, Origin: config.Origin{File: workspaceFile, Line: 2}}}
		})
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		v.give("key", `"abc-555"`)
		c.ok(t)
		w.nothingLeft()
	})
}

// SignIn needs the values of the inputs, too. SignOut needs them to find the tokens, uses those that are kept, and asks
// nobody.
func TestSignInByHandAsksForInputs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		load := func(path string) {
			w.source(hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"servers":{"s":{"type":"http","url":"http://` +
				at.host + path + `","headers":{"X-Key":"${input:key}"},` + allow + `}}}`})
			w.hub.EditConfs(func(c *config.Server) { c.Inputs = userInputs })
		}
		load("/mcp")
		v := w.attach(hub.Hello{Kinds: append([]event.PromptKind{event.PromptSignIn}, startKinds...),
			SamplingTools: true})
		if _, err := w.hub.SignOut(context.Background(), "s"); event.AsError(err).Reason != event.ReasonInputMissing {
			t.Errorf("signing out without the value: %v", err)
		}
		v.noPrompt()
		s := background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") })
		v.give("key", `"abc-9911"`)
		w.signIn(v)
		if !s.over() || s.err != nil || s.info.SignIn != event.SignInSignedIn {
			t.Fatalf("signed in: %+v, error %v", s.info, s.err)
		}
		info, err := w.hub.SignOut(context.Background(), "s")
		if err != nil || info.SignIn != event.SignInNeeded {
			t.Errorf("signed out: %+v, error %v", info, err)
		}
		load("/mcp?again") // another URL is another server
		if _, err := w.hub.SignOut(context.Background(), "s"); err != nil {
			t.Error(err)
		}
		v.noPrompt()
		w.nothingLeft()
	})
}

// The only caller goes before it is known that a value is missing: nobody is asked, and the server is as if it had not
// been started. The next caller is asked.
func TestConfigInputNobodyWantsAnyMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := inputWorld(t, "", wantsKey, wantsKey)
		gate := make(chan struct{})
		w.hub.HoldInputs(gate)
		v := w.user("")
		c := w.call(hub.CallRequest{ID: "r", Server: "s", Tool: "echo"})
		synctest.Wait()
		if _, err := v.win.Cancel("r", "too slow"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		close(gate)
		v.noPrompt()
		if n := len(eventsOf[*event.PromptOpened](v)); n != 0 {
			t.Errorf("%d prompts were shown", n)
		}
		if s := w.server("s"); s.State != event.ServerStopped || s.LastError != "" {
			t.Errorf("the server is %+v", s)
		}
		c = w.echo()
		v.give("key", `"abc-123"`)
		c.ok(t)
		w.nothingLeft()
	})
}
