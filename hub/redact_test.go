package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// said is all that a hub has said: to a window, to the host, to the log.
func said(t *testing.T, h *hub.Hub, v *view, log *logText, errs ...error) string {
	t.Helper()
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	var all strings.Builder
	write := func(what any) {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	for _, e := range v.events {
		write(e.Body)
		if f, ok := e.Body.(*event.RequestFinished); ok && f.Err != nil {
			all.WriteString(f.Err.Message)
		}
	}
	servers, problems := h.Servers()
	write(servers)
	write(problems)
	write(h.RememberedLaunches())
	write(h.RememberedInputs())
	write(h.Requests(""))
	for _, err := range errs {
		all.WriteString(err.Error())
		write(event.AsError(err).Meta)
	}
	all.WriteString(log.String())
	return all.String()
}

// Secrets of every kind, each marked, appear in nothing that the hub says about a server that is a process: events,
// lists, errors, the log and the trace bundle.
func TestSecretsAreRedactedEverywhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := &logText{}
		s := hanging()
		s.Tool("die", func(c *fakeserver.CallContext) { c.Disconnect() })
		w := newWorldWith(t, hub.Options{Environ: []string{"FROM_ENV=MARKED-env-22"},
			Logger: slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))}, serversOf("s", s))
		load := func(command string) {
			w.source(hub.ConfigSource{Path: workspaceFile, Scope: "workspace", JSON: `{"inputs":[{"type":"promptString","id":"key",` +
				`"password":true}],"servers":{"s":{"command":"` + command +
				`","env":{"A":"${input:key}","B":"${env:FROM_ENV}","C":"MARKED-literal-33"},` + allow + `}}}`})
		}
		load("s")
		v := w.user("")
		c := w.echo()
		v.allowLaunch(event.ScopeAlways)
		v.give("key", `"MARKED-input-11"`)
		c.ok(t)
		secrets := []string{"MARKED-input-11", "MARKED-env-22", "MARKED-literal-33"}
		for _, secret := range secrets {
			w.stderr["s"]("a line with " + secret + " in it")
			// Finding C8.
			if err := s.Notify("notifications/message", `{"level":"info","logger":"`+secret+`","data":{"key":"\u004d`+secret[1:]+
				`","list":["`+secret+`"]}}`); err != nil {
				t.Error(err)
			}
			w.hub.Logger().Warn("about "+secret, "error", fmt.Errorf("with %s", secret))
		}
		if got := w.server("s").Stderr; len(got) != 3 || got[0] != "a line with [redacted] in it" {
			t.Errorf("stderr %q", got)
		}
		var errs []error
		died := w.call(hub.CallRequest{Server: "s", Tool: "die"})
		errs = append(errs, died.want(t, event.CodeUnavailable, event.ReasonServerGone))
		load("${env:FROM_ENV}") // the program that cannot be found is named in the error of the start
		c = w.echo()
		v.allowLaunch(event.ScopeAlways)
		e := c.want(t, event.CodeUnavailable, event.ReasonServerFailed)
		if !strings.Contains(e.Message, "[redacted]") || !strings.Contains(w.server("s").LastError, "[redacted]") {
			t.Errorf("the start failed with %q, and the server shows %q", e.Message, w.server("s").LastError)
		}
		errs = append(errs, e)
		text := said(t, w.hub, v, l, errs...)
		bundle, err := json.Marshal(w.hub.TraceBundle())
		if err != nil {
			t.Fatal(err)
		}
		// Finding C1: the launch question shows what the file says, to the windows alone.
		text = strings.ReplaceAll(text, `{"Name":"C","Value":"MARKED-literal-33"`, "")
		text += string(bundle)
		if n := strings.Count(text, "[redacted]"); strings.Contains(text, "MARKED") || n < 10 {
			t.Errorf("a secret (MARKED) is left, or too little was redacted: %d places, want at least 10:\n%s", n, text)
		}
	})
}

// The same for a server behind a URL: headers, the query of the address, tokens of a sign-in, quoted in the server's
// errors.
func TestSecretsOfURLsAreRedacted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := &logText{}
		w, at := guardedWorld(t)
		w.relog(t, l)
		w.source(hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"servers":{"s":{"type":"http","url":"http://` +
			at.host + `/mcp","headers":{"X-Key":"Basic MARKED-header-11"},` + allow + `}}}`})
		v := w.person()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
		at.mu.Lock()
		var token string
		for token = range at.tokens {
		}
		at.mu.Unlock()
		at.http.On("POST tools/call", 0, fakeserver.Act{Status: http.StatusInternalServerError,
			Body: "who sent Basic MARKED-header-11 or MARKED-header-11 with " + token + "?"})
		e := w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeUnavailable, event.ReasonExchangeFailed)
		if !strings.Contains(e.Message, "who sent [redacted] or [redacted] with [redacted]?") {
			t.Errorf("%s", e.Message)
		}
		text := said(t, w.hub, v, l, e)
		if strings.Contains(text, "MARKED") || strings.Contains(text, token) {
			t.Errorf("%q: %s", token, text)
		}
	})
}

// What a server says to the user is content: results are passed on as they are.
func TestContentIsNotRedacted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("whoami", func(c *fakeserver.CallContext) { c.Text("your key is literal-7731") })
		w := newWorldWith(t, hub.Options{}, serversOf("s", s), `s:"env":{"MODE":"literal-7731"},`+allow)
		r := w.call(hub.CallRequest{Server: "s", Tool: "whoami"}).ok(t)
		if got := textOf(t, r); got != "your key is literal-7731" {
			t.Errorf("%q", got)
		}
	})
}

// relog replaces the world's hub by one that logs to l.
func (w *webWorld) relog(t *testing.T, l *logText) {
	t.Helper()
	if err := w.hub.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.world = newWorldWith(t, hub.Options{RoundTripper: w.road, Listen: w.listen,
		Logger: slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))}, nil)
}
