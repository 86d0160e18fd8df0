package hub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// launchesKept returns the file of consents.
func launchesKept(t *testing.T, state string) string {
	t.Helper()
	path := filepath.Join(state, "launches.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !ofUserAlone(info) {
		t.Errorf("launches.json: %+v, error %v", info, err)
	}
	return string(text)
}

// The file of consents has the form that was shown and no values of variables, and only the user can read it. What was
// resolved for the start is not kept in the config, either.
func TestLaunchFileHoldsNoValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := workspaceWorld(t, dir, `{"command":"s","args":["shown-1"],"env":{"KEY":"literal-4477",`+
			`"TOKEN":"${env:SITE_TOKEN}"},`+allow+`}`)
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		if text := launchesKept(t, dir); !strings.Contains(text, "shown-1") || !strings.Contains(text, "env.KEY") ||
			strings.Contains(text, "literal-4477") || strings.Contains(text, "tok-5521") {
			t.Errorf("launches.json: %s", text)
		}
		w.hub.EditConfs(func(c *config.Server) {
			if *c.Env["TOKEN"] != "${env:SITE_TOKEN}" {
				t.Error("what was resolved is kept in the config")
			}
		})
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
		if text := launchesKept(t, dir); !strings.Contains(text, "X-Key") || strings.Contains(text, "99127") {
			t.Errorf("launches.json: want X-Key and not its value:\n%s", text)
		}
	})
}

// The Yes comes at the same time as a new form of the entry: it does not count for that form.
func TestLaunchAnswerToAnOldForm(t *testing.T) {
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
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

// A consent that is given in another hub closes the open approvals of this one.
func TestConsentOfAnotherHubChangesOpenApprovals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := workspaceWorld(t, dir, `{"command":"s","alwaysAllow":["echo"]}`)
		v := w.user("one")
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		w.workspace(`{"command":"s","alwaysAllow":["echo","hang"]}`)
		c = w.call(hub.CallRequest{Server: "s", Tool: "hang", ID: "r1"})
		p := v.approval()
		other := workspaceWorld(t, dir, `{"command":"s","alwaysAllow":["echo","hang"]}`)
		there := other.user("")
		o := other.echo()
		there.allowLaunch(event.ScopeAlways)
		o.ok(t)
		w.hub.Remembered("") // reads what the other hub has written
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy,
			"the config has changed; for this tool it says allow")
		_, _ = v.win.Cancel("r1", "enough")
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		w.nothingLeft()
	})
}

// A host says that a person has agreed in its own page to the launch that was shown there: the open question closes,
// and nobody is asked again, neither now nor by the next hub. The hash of anything else is refused.
func TestAllowLaunch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := workspaceWorld(t, dir, `{"command":"s","args":["one"],"alwaysAllow":["echo"]}`)
		ctx := context.Background()
		q, agreed, err := w.hub.LaunchQuestion(ctx, "s")
		if err != nil || agreed || q.Command != "s" || !slices.Equal(q.Args, []string{"one"}) || len(q.Hash) < 32 {
			t.Fatalf("the launch is %+v, %v: %v", q, agreed, err)
		}
		v := w.user("one")
		c := w.echo()
		p := v.launch()
		w.workspace(`{"command":"s","args":["two"],"alwaysAllow":["echo"]}`) // the entry changes behind the page of the host
		_, err = w.hub.AllowLaunch(ctx, "s", q.Hash, event.ScopeAlways)
		if e := event.AsError(err); err == nil || e.Reason != event.ReasonLaunchChanged {
			t.Errorf("a launch that nobody has seen: %v", err)
		}
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginHost, "the server's config changed")
		for _, scope := range []event.ApprovalScope{event.ScopeWindow, event.ScopeWorkspace} {
			_, err = w.hub.AllowLaunch(ctx, "s", q.Hash, scope)
			if e := event.AsError(err); err == nil || e.Reason != event.ReasonInvalidRequest {
				t.Errorf("scope %v: %v", scope, err)
			}
		}
		<-c.done

		c = w.echo()
		p = v.launch()
		if q, _, err = w.hub.LaunchQuestion(ctx, "s"); err != nil || q.Hash != p.Launch.Hash {
			t.Fatalf("the page of the host and the window show other launches: %+v, %v", q, err)
		}
		if _, err = w.hub.AllowLaunch(ctx, "s", q.Hash, event.ScopeAlways); err != nil {
			t.Error(err)
		}
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginUser, "the user has agreed to it elsewhere")
		c.ok(t)
		if info := w.server("s"); info.LaunchConsent != event.LaunchGiven {
			t.Errorf("the server is %+v", info)
		}
		w.nothingLeft()
		next := workspaceWorld(t, dir, `{"command":"s","args":["two"],"alwaysAllow":["echo"]}`)
		other := next.user("one")
		next.echo().ok(t)
		other.noPrompt()
		if _, agreed, err := next.hub.LaunchQuestion(ctx, "s"); !agreed || err != nil {
			t.Errorf("agreed: %v, %v", agreed, err)
		}
	})
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
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
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

// Finding A13: the forms of entries, whose cost a stranger chooses, are made without the hub's lock.
func TestFormsAreMadeWithoutTheLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, nil)
		forms, locked := w.hub.CountForms()
		text := `{"servers":{` + manyEntries(200, `{"command":"s","env":{"A":"b"},"dev":{"watch":["x"]}}`) + `}}`
		source := hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: text}
		if _, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{source}); err != nil {
			t.Fatal(err)
		}
		v := w.user("", "file:///repos/site")
		v.win.SetRoots([]hub.Root{{URI: "file:///repos/other"}})
		w.user("another", "file:///repos/site").win.Detach(true)
		w.hub.Servers()
		if forms.Load() != 200 || locked.Load() != 0 {
			t.Errorf("%d forms, %d of them with the lock held", forms.Load(), locked.Load())
		}
	})
}

// A window goes, and with it the consent to the workspace's entry, which has stopped: the user's own entry takes its
// place. The windows are told of that once they were told that its requests are cancelled, as for any other change.
func TestEntryThatEndsWithItsWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		w.twoFiles(ofServer(mineEntry), ofServer(`{"command":"s","args":["theirs"]}`))
		v := w.user("one")
		asked := background(func() (event.ServerInfo, error) { return w.hub.StartWorkspaceEntry(context.Background(), "s") })
		v.allowLaunch(event.ScopeWindow)
		if !asked.over() || asked.err != nil {
			t.Fatal(asked.err)
		}
		other := w.everything()
		first := w.call(hub.CallRequest{Server: "s", Tool: "hang"}) // so that the tools are known
		other.approval()
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		<-first.done
		other.mu.Lock()
		other.events = nil
		other.mu.Unlock()
		c := w.call(hub.CallRequest{ID: "r", Server: "s", Tool: "hang"})
		if p := other.approval(); p.RequestID != "r" {
			t.Fatalf("the call asks %+v", p)
		}
		v.win.Detach(true)
		<-c.done
		w.server("s")
		other.mu.Lock()
		var order []string
		for _, e := range other.events {
			switch e := e.Body.(type) {
			case *event.RequestCancelling:
				order = append(order, "cancelling")
			case *event.ServerChanged:
				if e.Server.Scope == "user" {
					order = append(order, "changed")
				}
			}
		}
		other.mu.Unlock()
		if !slices.Equal(slices.Compact(order), []string{"cancelling", "changed"}) {
			t.Errorf("the windows see %v", order)
		}
		w.nothingLeft()
	})
}

func manyEntries(n int, entry string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%q:%s", fmt.Sprint("s", i), entry))
	}
	return strings.Join(all, ",")
}
