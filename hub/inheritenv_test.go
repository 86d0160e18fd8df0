package hub_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
)

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
