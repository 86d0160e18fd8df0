package hub_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Finding D13: the launch question of a workspace's server names the user's proxy settings that it inherits, unless its
// entry sets them, and each variable that its entry names in inheritEnv.
func TestLaunchShowsWhatIsInherited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{Environ: []string{"HOME=/config", "PATH=/usr/bin",
			"HTTPS_PROXY=http://me:word-5521@proxy.test", "NO_PROXY=localhost", "SSH_AUTH_SOCK=/tmp/agent",
			"GITHUB_TOKEN=tok-7719"}}, serversOf("s", hanging()))
		w.workspace(`{"command":"s","env":{"NO_PROXY":"*"},"inheritEnv":["GITHUB_TOKEN","UNSET"],` + allow + `}`)
		v := w.user("")
		c := w.echo()
		q := v.launch().Launch
		if diff := cmp.Diff([]string{"HTTPS_PROXY"}, q.Inherited); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"GITHUB_TOKEN", "UNSET"}, q.EnvRefs); diff != "" || !slices.Contains(q.EnvNames,
			"GITHUB_TOKEN") {
			t.Errorf("the question is %+v; its references (-want +got):\n%s", q, diff)
		}
		first := q.Hash
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		if got := w.started(); len(got) != 1 || got[0].Env["GITHUB_TOKEN"] == nil ||
			*got[0].Env["GITHUB_TOKEN"] != "tok-7719" {
			t.Errorf("started %+v", got)
		}
		// One more name is another launch, which asks again.
		w.workspace(`{"command":"s","env":{"NO_PROXY":"*"},"inheritEnv":["GITHUB_TOKEN","UNSET","SSH_AUTH_SOCK"],` +
			allow + `}`)
		c = w.echo()
		if q := v.launch().Launch; !q.Changed || q.Hash == first || !slices.Contains(q.EnvRefs, "SSH_AUTH_SOCK") {
			t.Errorf("the question is %+v", q)
		}
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
	})
}

// The user name and the password of a proxy are redacted in what the hub logs and in what a server writes.
func TestProxyPasswordIsRedacted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := &logText{}
		w := newWorldWith(t, hub.Options{Environ: []string{"HTTPS_PROXY=http://me:w%40rd-5521@proxy.test"},
			Logger: slog.New(slog.NewJSONHandler(l, nil))}, serversOf("s", hanging()))
		w.source(hub.ConfigSource{Path: "/config/mcp.json", Scope: "user", JSON: `{"servers":{"s":{"command":"s",` + allow +
			`}}}`})
		v := w.user("")
		w.echo().ok(t)
		w.stderr["s"]("cannot reach http://me:w%40rd-5521@proxy.test, password w@rd-5521")
		w.hub.Logger().Warn("proxy me:w@rd-5521 says no")
		if text := said(t, w.hub, v, l); strings.Contains(text, "5521") || strings.Count(text, "[redacted]") < 3 {
			t.Errorf("a secret was told, or not redacted: %s", text)
		}
	})
}
