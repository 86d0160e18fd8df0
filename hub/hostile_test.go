package hub_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// An entry of a Codex config can name an environment variable with a token. Such a server has no sign-in, and the
// errors of SignIn and SignOut say so.
func TestNoSignInBesideATokenOfTheEnvironment(t *testing.T) {
	for _, entry := range []string{`bearer_token_env_var = "TOKEN"`, `env_http_headers = { "authorization" = "TOKEN" }`} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldWith(t, hub.Options{Environ: []string{"TOKEN=tok-7719-x"}}, serversOf("s", hanging()))
			w.source(hub.ConfigSource{Path: "/config/codex/config.toml", Scope: "user",
				JSON: "[mcp_servers.s]\nurl = \"http://127.0.0.1:1/mcp\"\n" + entry + "\n"})
			if _, err := w.hub.SignIn(context.Background(), "s"); err == nil ||
				event.AsError(err).Reason != event.ReasonNotOffered {
				t.Errorf("signing in: %v", err)
			}
			if _, err := w.hub.SignOut(context.Background(), "s"); err == nil ||
				event.AsError(err).Reason != event.ReasonNotOffered {
				t.Errorf("signing out: %v", err)
			}
		})
	}
}

// A consent for which another caller asked covers the form that this caller saw. A caller with another form of the
// entry asks again.
func TestSharedConsentIsForOneForm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", workspaceEntry)
		v := w.user("")
		settle := w.hub.AgreeToAnother("s")
		c := w.echo()
		v.noPrompt() // it waits for the answer to the other caller
		settle()
		p := v.launch()
		if n := w.starts("s"); n != 0 {
			t.Fatalf("%d processes, and nobody has seen what runs", n)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		w.nothingLeft()
	})
}

// The folder that is watched for a server is its working directory, resolved as for a start. Before consent, nothing of
// a workspace is watched.
func TestWatchedFolderOfAServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, serversOf("s", hanging()))
		folder := filepath.Dir(w.path)
		w.write(`{"servers":{"s":{"command":"s","cwd":"${workspaceFolder}/server","dev":{"watch":"src/**"},` + allow + `}}}`)
		source := hub.ConfigSource{Path: w.path, Folder: folder, Scope: "workspace"}
		v := w.user("")
		w.read([]hub.ConfigSource{source})
		if _, globs := w.watcher.watched(); len(globs) != 0 {
			t.Errorf("before a yes: watched %+v", globs)
		}
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		synctest.Wait() // the start does not wait until the folder is watched
		if _, globs := w.watcher.watched(); len(globs) != 1 || globs[0].Folder != filepath.Join(folder, "server") {
			t.Errorf("once it runs: watched %+v", globs)
		}
		w.read(nil)
		if _, globs := w.watcher.watched(); len(globs) != 1 {
			t.Errorf("after a reload: watched %+v", globs)
		}
		w.hub.EditConfs(func(c *config.Server) { c.Approvals = nil })
	})
}

// The consent to a workspace's launch covers what its file allowed then. It does not cover what the file allows for
// another launch, even if that launch is running already as the user's own.
func TestAllowOfAnEarlierLaunchCountsNoMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", `{"command":"s","args":["old"],`+allow+`}`)
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		w.source(hub.ConfigSource{Path: "/config/mcp.json", Scope: "user", Folder: "/repos/site",
			JSON: `{"servers":{"s":{"command":"s","alwaysAllow":["echo"]}}}`})
		w.echo().ok(t) // the user's own, in its place
		w.workspace(`{"command":"s",` + allow + `}`)
		c = w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		if p := v.prompt(); p.Kind != event.PromptToolApproval {
			t.Fatalf("the open prompt is %+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		w.hub.EditConfs(func(c *config.Server) { c.Approvals = nil })
	})
}

// A server is switched off at the moment when it is to be started again: a caller that waits for it gets an error.
func TestSwitchedOffAsItsDelayEnds_long(t *testing.T) {
	t.Parallel()
	rounds := 300
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
			s := hanging()
			w := usedWorld(t, s)
			w.fall("s", &ill{err: errRefused})
			s.Disconnect()
			synctest.Wait()
			pass(time.Second) // the second failure: from now on, callers wait for the next start
			listed := make(chan error, 1)
			go func() {
				_, _, err := w.hub.Tools(context.Background(), "s")
				listed <- err
			}()
			synctest.Wait()
			faketime.Pass(next(w.server("s")))
			if _, err := w.hub.SetServerEnabled(context.Background(), "s", false); err != nil {
				t.Fatal(err)
			}
			if bad := w.hub.Inconsistent(); bad != "" {
				t.Fatal(bad)
			}
			pass(time.Minute)
			select {
			case err := <-listed:
				if err == nil {
					t.Error("a server that does not start listed its tools")
				}
			default:
				t.Fatal("the caller still waits for a server that is switched off")
			}
		})
	}
}

// After consent, a person may be asked for input values. The entry is resolved again after that, and if it is different
// then, consent is needed again.
func TestFolderChangesAfterTheYes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := workspaceWorld(t, "", `{"command":"s"}`)
		load := func(lib string) {
			_, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{
				{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: `{"inputs":[{"type":"promptString","id":"key"}],
					"servers":{"s":{"command":"s","args":["${workspaceFolder:lib}/main","${input:key}"]}}}`},
				{Path: lib + "/mcp.json", Scope: "workspace", Folder: lib, JSON: `{"servers":{}}`},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		load("/a/lib")
		v := w.user("")
		c := w.echo()
		if args := v.launch().Launch.Args; args[0] != "/a/lib/main" {
			t.Fatalf("the question shows %q", args)
		}
		v.allowLaunch(event.ScopeOnce)
		in := v.prompt()
		load("/b/lib")
		v.answer(event.PromptAnswer{PromptID: in.ID, Action: event.ActionAccept, Content: `"x"`})
		p := v.launch()
		if p.Launch.Args[0] != "/b/lib/main" || !p.Launch.Changed || w.starts("s") != 0 {
			t.Errorf("the question shows %+v, %d processes", p.Launch, w.starts("s"))
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
		w.nothingLeft()
	})
}

// Of many eager servers of a workspace only a few ask at the same time, and a server that needs no consent starts
// meanwhile.
func TestEagerLaunchesAskFewAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("own", hanging()))
		v := w.user("")
		var entries []string
		for i := range 10 {
			entries = append(entries, fmt.Sprintf(`"s%d":{"command":"none","start":"eager"}`, i))
		}
		_, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{
			{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: `{"servers":{` + strings.Join(entries, ",") +
				`}}`},
			{Path: "/config/mcp.json", Scope: "user", JSON: `{"servers":{"own":{"command":"own","start":"eager"}}}`},
		})
		if err != nil {
			t.Fatal(err)
		}
		for asked := 0; asked < 10; asked++ {
			synctest.Wait()
			open := v.prompts()
			if want := min(4, 10-asked); len(open) != want {
				t.Fatalf("after %d answers %d questions are open, want %d", asked, len(open), want)
			}
			v.answer(event.PromptAnswer{PromptID: open[0].ID, Action: event.ActionDecline})
		}
		if s := w.server("own"); s.State != event.ServerReady {
			t.Errorf("the user's own server is %s", s.State)
		}
		w.nothingLeft()
	})
}
