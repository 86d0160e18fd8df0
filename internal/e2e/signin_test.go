//go:build unix

package e2e

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	signInKind = mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN
	answered   = mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED
	superseded = mcphubv1.PromptCause_PROMPT_CAUSE_SUPERSEDED
)

// openSigned opens a hub with a state directory in the place, and with a server that requires a sign-in, called "web".
func (p *place) openSigned(e entry) (*door, *book) {
	p.t.Helper()
	return p.openLogged(servers{"web": e}, handshake.EnvStateDir+"="+p.file("state"), "DBUS_SESSION_BUS_ADDRESS=",
		"XDG_RUNTIME_DIR="+p.dir)
}

// kept lists the files of kept sign-ins.
func (p *place) kept() (files []string) {
	p.t.Helper()
	_ = filepath.WalkDir(p.file("state"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, "sign-in") {
			files = append(files, path)
		}
		return nil // a directory that does not exist has no files
	})
	return files
}

// consents waits for the sign-in prompt in all windows, accepts it in the first, and returns the prompt that then waits
// for the browser.
func consents(t *testing.T, a *authority, windows ...*fakeeditor.Window) *mcphubv1.Prompt {
	t.Helper()
	p := windows[0].WaitPrompt(signInKind)
	q := p.GetSignIn()
	if q.GetWaiting() || q.GetIssuer() != a.server.URL || q.GetResource() != a.resource() ||
		!slices.Equal(q.GetScopes(), []string{"files"}) ||
		!strings.HasPrefix(q.GetUrl(), a.server.URL+"/authorize?") ||
		!strings.HasPrefix(a.server.URL, "http://"+q.GetUrlHost()) || p.GetServer() != "web" {
		t.Errorf("the question is %v", p)
	}
	for _, w := range windows {
		w.WaitShown(p.GetPromptId())
	}
	takes(t, windows[0].Accept(p.GetPromptId(), ""))
	closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{answered}, windows...)
	var waiting *mcphubv1.Prompt
	for _, w := range windows {
		waiting = w.WaitPrompt(signInKind)
		if !waiting.GetSignIn().GetWaiting() || waiting.GetPromptId() == p.GetPromptId() {
			t.Errorf("%s: after consent: %v", w, waiting)
		}
	}
	return waiting
}

// signsIn consents to a sign-in, and completes it in the browser.
func signsIn(t *testing.T, a *authority, windows ...*fakeeditor.Window) {
	t.Helper()
	waiting := consents(t, a, windows...)
	if page := browse(t, waiting.GetSignIn().GetUrl()); !strings.Contains(page, "You can close this window.") {
		t.Errorf("the browser shows %q", page)
	}
	closedWith(t, waiting.GetPromptId(), []mcphubv1.PromptCause{superseded}, windows...)
}

// questions counts the prompts that a window was ever shown.
func questions(w *fakeeditor.Window) (n int) {
	for _, e := range w.Events() {
		if e.GetPromptOpened() != nil {
			n++
		}
	}
	return n
}

// TestSignIn: one consent in one of two windows, one visit of the browser, one token for all calls that waited. The
// next hub still has it, and renews it without a prompt when it is refused.
func TestSignIn(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		a := newAuthority(t, eraOptions(era)...)
		p := newPlace(t)
		d, _ := p.openSigned(a.web.entry(era))
		w, panel := d.window("side bar"), d.window("panel")
		calls := []*call{}
		for range 3 {
			calls = append(calls, d.call("web", "echo", `{"text":"hello"}`))
		}
		w.WaitPrompt(signInKind)
		if s := d.server("web"); s.GetSignIn() != mcphubv1.SignInState_SIGN_IN_STATE_ASKING {
			t.Errorf("while it asks: %v", s)
		}
		signsIn(t, a, w, panel)
		for _, c := range calls {
			if text := c.text(); text != "hello" {
				t.Errorf("result %q", text)
			}
		}
		if s := d.server("web"); s.GetSignIn() != mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN ||
			s.GetState() != mcphubv1.ServerState_SERVER_STATE_READY {
			t.Errorf("after it: %v", s)
		}
		if n := questions(panel); n != 2 {
			t.Errorf("%d questions, not 2", n)
		}
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
		files := p.kept()
		if len(files) == 0 {
			t.Error("nothing is kept")
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", file, info.Mode(), err)
			}
		}

		d, _ = p.openSigned(a.web.entry(era))
		w = d.window("side bar")
		d.echoes("web", "after a restart")
		if got := a.asked(); questions(w) != 0 || !slices.Equal(got, []string{"authorization_code"}) {
			t.Errorf("a restart made %d questions; tokens were asked for by %q", questions(w), got)
		}
		a.revoke(false)
		d.echoes("web", "with another token")
		if got := a.asked(); questions(w) != 0 || !slices.Equal(got, []string{"authorization_code", "refresh_token"}) {
			t.Errorf("a renewal made %d questions; tokens were asked for by %q", questions(w), got)
		}
	})
}

// TestSignInSecrets: no token, code, verifier, client secret or header value is in a log, an event, an answer or an
// error, however the sign-in goes.
func TestSignInSecrets(t *testing.T) {
	t.Parallel()
	const key = "s3cr3t-header-value"
	a := newAuthority(t)
	id, clientSecret := a.registered()
	p := newPlace(t)
	e := a.web.entry("legacy")
	e.Headers = map[string]string{"X-Api-Key": key}
	e.OAuth = map[string]any{"clientId": id, "clientSecret": clientSecret}
	d, first := p.openSigned(e)
	w := d.window("side bar")
	var said []string
	says := func(m proto.Message) {
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, string(text))
	}

	c := d.call("web", "echo", `{"text":"x"}`)
	signsIn(t, a, w)
	says(c.answer())
	c = d.call("web", "slow", "")
	progressed(w, c.id)
	cancels(t, w, c.id, "enough")
	said = append(said, c.fails("CANCELLED", "CANCELLED").Message)
	a.revoke(false) // so soon after the sign-in that the hub does not sign in again
	said = append(said, failure(t, d.call("web", "echo", `{"text":"x"}`)).Message)
	shown := w.Events()
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}

	d, second := p.openSigned(e)
	w = d.window("side bar")
	says(d.call("web", "echo", `{"text":"x"}`).answer()) // by a refresh
	a.mu.Lock()
	a.secrets[id] = a.secret("another")
	a.mu.Unlock()
	a.revoke(true) // the refresh and the sign-in fail, with answers that repeat everything
	c = d.call("web", "echo", `{"text":"x"}`)
	signsIn(t, a, w)
	f := failure(t, c)
	if f.Reason != "SIGN_IN_FAILED" {
		t.Errorf("the caller was told %+v", f)
	}
	said = append(said, f.Message)
	for k, v := range f.Meta {
		said = append(said, k+"="+v)
	}
	says(d.server("web"))
	for _, e := range append(shown, w.Events()...) {
		says(e)
	}
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for _, x := range a.web.http.Exchanges() {
		if x.Header.Get("X-Api-Key") != key {
			t.Errorf("%s %s came without the header", x.Verb, x.Message.Method)
		}
	}
	text := strings.Join(said, "\n") + first.String() + second.String()
	if !strings.Contains(text, a.server.URL) {
		t.Error("the texts do not even name the authorization server")
	}
	for _, secret := range append(a.secretsGiven(), key, "Bearer ") {
		if strings.Contains(text, secret) {
			t.Errorf("%q was seen", secret)
		}
	}
	if len(a.secretsGiven()) < 8 {
		t.Errorf("few secrets: %q", a.secretsGiven())
	}
}
