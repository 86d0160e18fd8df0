package hub_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// managed is a world whose system has a place for a policy.
func managed(t *testing.T, o hub.Options, text string, entries ...string) (w *world, write func(string)) {
	t.Helper()
	o.PolicyFile = filepath.Join(t.TempDir(), "policy.json")
	write = func(text string) {
		t.Helper()
		err := os.Remove(o.PolicyFile)
		if text != "" {
			err = os.WriteFile(o.PolicyFile, []byte(text), 0o600)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	write(text)
	return newWorldWith(t, o, serversOf("s", hanging()), entries...), write
}

// refused starts server s, which must be refused, and returns the text.
func (w *world) refused() string {
	w.t.Helper()
	_, err := w.hub.StartServer(context.Background(), "s")
	var e *event.Error
	if !errors.As(err, &e) || e.Reason != event.ReasonLaunchNotAllowed || e.Code != event.CodeFailedPrecondition {
		w.t.Fatalf("the start of s: %v", err)
	}
	return e.Message
}

const denyS = "{\n \"deniedServers\": [\n  {\"command\": [\"x\"]},\n  {\"command\": [\"s\"]}\n ]\n}"

// A launch that a policy refuses is refused before anything else: no question about the launch or for an input, no
// process. People see the rule where they see the server.
func TestPolicyRefusesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := managed(t, hub.Options{}, `{"allowedServers": [{"command": ["other"]}]}`)
		v := w.user("")
		w.source(hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: `{
			"inputs": [{"type": "promptString", "id": "key", "password": true}],
			"servers": {"s": {"type": "stdio", "command": "s", "env": {"KEY": "${input:key}"}}}}`})
		got := w.refused()
		if !strings.Contains(got, `server "s" is not started: the rule allowedServers of `) ||
			!strings.Contains(got, "policy.json:1 does not name what it would launch; ask your administrator") {
			t.Error(got)
		}
		v.noPrompt()
		if started := w.started(); len(started) > 0 {
			t.Errorf("started: %v", started)
		}
		s := w.server("s")
		if s.State != event.ServerBroken || s.LastError != got || len(s.Problems) != 1 || !s.Problems[0].Fatal ||
			!strings.Contains(s.Problems[0].Message, "the rule allowedServers of ") || s.LaunchConsent != 0 {
			t.Errorf("shown as %v, %q, %v", s.State, s.LastError, s.Problems)
		}
	})
}

// A change of the file counts from the next reload on. What runs and is denied from then on is stopped, its calls are
// cancelled with the rule, and it may start again when the rule has gone.
func TestPolicyStopsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, write := managed(t, hub.Options{}, "", "s:"+allow)
		v := w.everything()
		call := w.begin("c1", "hang")
		write(denyS)
		if _, _, _, err := w.hub.LoadConfig(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := w.server("s"); s.State != event.ServerBroken || !strings.Contains(s.LastError, "the rule deniedServers[1] of ") {
			t.Errorf("shown as %v, %q", s.State, s.LastError)
		}
		<-call.done
		err := call.err
		ended, ok := v.terminalOf("c1").(*event.RequestCancelled)
		if err == nil || !ok || ended.Cancellation.Origin != event.OriginPolicy ||
			!strings.Contains(ended.Cancellation.Reason, "policy.json:4 denies the command") {
			t.Errorf("the call ended with %v, %+v", err, v.terminalOf("c1"))
		}
		write("")
		if _, _, _, err := w.hub.LoadConfig(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		s, err := w.hub.StartServer(context.Background(), "s")
		if err != nil || s.State != event.ServerReady || len(s.Problems) > 0 {
			t.Errorf("after the rule has gone: %v, %v", s, err)
		}
	})
}

// The file is read at each start.
func TestPolicyReadAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, write := managed(t, hub.Options{}, "")
		write(denyS)
		if got := w.refused(); !strings.Contains(got, "deniedServers[1]") {
			t.Error(got)
		}
		if started := w.started(); len(started) > 0 {
			t.Errorf("started: %v", started)
		}
	})
}

// What counts is what is launched, with the value that a person has given.
func TestPolicyJudgesTheLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := managed(t, hub.Options{}, `{"deniedServers": [{"package": "npm:evil"}]}`)
		v := w.user("")
		w.source(hub.ConfigSource{Path: "u.json", Scope: "user", Dialect: config.DialectVSCode, JSON: `{
			"inputs": [{"type": "promptString", "id": "which"}],
			"servers": {"s": {"type": "stdio", "command": "s", "args": ["${input:which}"]}}}`})
		done := make(chan error)
		go func() {
			_, err := w.hub.StartServer(context.Background(), "s")
			done <- err
		}()
		synctest.Wait()
		v.give("which", `"evil@1.0.0"`)
		if err := <-done; err == nil || !strings.Contains(err.Error(), "denies npm:evil") {
			t.Errorf("the start: %v", err)
		}
		if started := w.started(); len(started) > 0 {
			t.Errorf("started: %v", started)
		}
	})
}

// The host adds to what the system forbids, and takes nothing from it.
func TestHostCannotLoosenPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, write := managed(t, hub.Options{}, denyS)
		for _, host := range []string{"", `{}`, `{"allowedServers": [{"command": ["s"]}]}`} {
			w.hub.SetHostPolicy(hub.HostPolicy{JSON: host})
			if _, _, _, err := w.hub.LoadConfig(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if got := w.refused(); !strings.Contains(got, "policy.json:4 denies the command") {
				t.Errorf("with %q: %s", host, got)
			}
		}
		write("")
		w.hub.SetHostPolicy(hub.HostPolicy{Name: "VS Code", Dialect: config.PolicyVSCode, JSON: `{"chat.mcp.access": "none"}`})
		if got := w.refused(); !strings.Contains(got, "the rule chat.mcp.access of VS Code:1 allows no servers") {
			t.Error(got)
		}
		w.hub.SetHostPolicy(hub.HostPolicy{})
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Error(err)
		}
	})
}

// A server is personal unless it is in a source of the host.
func TestNoPersonalServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := managed(t, hub.Options{}, `{"noPersonalServers": true}`)
		for scope, refused := range map[string]bool{"host": false, "user": true, "workspace": true, "": true} {
			w.source(hub.ConfigSource{Path: "x.json", Scope: scope, Trusted: true, JSON: `{"mcpServers":{"s":{"command":"s"}}}`})
			_, err := w.hub.StartServer(context.Background(), "s")
			if (err != nil) != refused {
				t.Errorf("of %q: %v", scope, err)
			}
			w.source(hub.ConfigSource{Path: "x.json", Scope: scope, JSON: `{"mcpServers":{}}`})
		}
	})
}

// Nothing starts under a policy that cannot be used, and the file and the line are told.
func TestPolicyThatCannotBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, write := managed(t, hub.Options{}, "")
		write("{\n \"deniedServer\": []\n}")
		_, problems, _, err := w.hub.LoadConfig(context.Background(), nil)
		if err != nil || len(problems) != 1 || !problems[0].Fatal || problems[0].Line != 2 || problems[0].Server != "" ||
			filepath.Base(problems[0].File) != "policy.json" || !strings.Contains(problems[0].Message, "there is no such key") {
			t.Errorf("problems: %+v, %v", problems, err)
		}
		if got := w.refused(); !strings.Contains(got, "policy.json:2 cannot be used, so that no server starts: deniedServer: ") {
			t.Error(got)
		}
	})
}
