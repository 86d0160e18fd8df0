package signin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/event"
)

// world is a server, a user, a browser and a SignIn between them, in a bubble of fake time.
type world struct {
	t    *testing.T
	as   *authority
	net  *network
	s    *SignIn
	logs *logs

	mu      sync.Mutex
	answer  func(ctx context.Context, p event.SignInQuestion) error // of the user; nil = accept
	prompts []event.SignInQuestion
	ends    []error // causes of prompts that were ended
	texts   []string

	browsers sync.WaitGroup
}

// logs is what was logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// live runs test in a bubble, with a new world. At the end the SignIn is closed, and no listener, secret or goroutine
// may be left: the bubble would deadlock with a goroutine.
func live(t *testing.T, o Options, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, as: newAuthority(), net: newNetwork(), logs: &logs{}}
		w.open(o)
		test(t, w)
		w.s.Close()
		w.browsers.Wait()
		if n := w.net.listeners(); n != 0 {
			t.Errorf("%d listeners are left", n)
		}
		w.noSecrets(t)
		for _, fault := range w.as.dpop.faults {
			t.Error(fault)
		}
	})
}

// open makes the SignIn of the world, or a new one in its place; the old one is not closed.
func (w *world) open(o Options) {
	w.t.Helper()
	if o.Server == "" {
		o.Server = "files"
	}
	if o.ServerURL == "" {
		o.ServerURL = mcpURL
	}
	if o.Ask == nil {
		o.Ask = w.ask
	}
	if o.RoundTripper == nil {
		o.RoundTripper = inProcess{w.as}
	}
	o.Logger = slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	s.listen = w.net.listen
	s.guard.Lookup = lookupPublic
	w.s = s
}

func (w *world) ask(ctx context.Context, p event.SignInQuestion) error {
	w.mu.Lock()
	w.prompts = append(w.prompts, p)
	answer := w.answer
	w.mu.Unlock()
	if answer == nil {
		answer = w.accept
	}
	err := answer(ctx, p)
	if ctx.Err() != nil {
		w.mu.Lock()
		w.ends = append(w.ends, context.Cause(ctx))
		w.mu.Unlock()
	}
	return err
}

// accept consents, and starts the browser; a waiting prompt it leaves open.
func (w *world) accept(ctx context.Context, p event.SignInQuestion) error {
	if p.Waiting {
		return hold(ctx, p)
	}
	w.browsers.Go(func() { w.browse(p.URL) })
	return nil
}

// hold leaves a prompt open until the prompt is ended.
func hold(ctx context.Context, _ event.SignInQuestion) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// consent agrees, and no browser ever comes back.
func consent(ctx context.Context, p event.SignInQuestion) error {
	if p.Waiting {
		return hold(ctx, p)
	}
	return nil
}

func says(err error) func(context.Context, event.SignInQuestion) error {
	return func(context.Context, event.SignInQuestion) error { return err }
}

func (w *world) person(answer func(context.Context, event.SignInQuestion) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// browse visits address, follows the redirect, and returns the status and the text of the last page.
func (w *world) browse(address string) (int, string) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		w.t.Error(err)
		return 0, ""
	}
	resp, err := w.s.guard.Base.RoundTrip(req)
	if err != nil {
		w.t.Error(err)
		return 0, ""
	}
	to := resp.Header.Get("Location")
	if to == "" {
		return resp.StatusCode, ""
	}
	return w.visit(to)
}

// visit opens a page of the redirect listener.
func (w *world) visit(address string) (int, string) {
	resp, err := w.net.get(context.Background(), address)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return resp.StatusCode, string(text)
}

// call does what a transport does with one message.
func (w *world) call(ctx context.Context) (int, error) {
	status, err := w.send(ctx)
	if err != nil {
		w.mu.Lock()
		w.texts = append(w.texts, err.Error())
		w.mu.Unlock()
	}
	return status, err
}

func (w *world) send(ctx context.Context) (int, error) {
	for again, repeated := false, false; ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, mcpURL, nil)
		if err != nil {
			return 0, err
		}
		if err := w.s.Sign(ctx, req); err != nil {
			return 0, err
		}
		resp, err := inProcess{w.as}.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		if w.s.Observe(req, resp) && !repeated {
			repeated = true
			continue
		}
		if again || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp.StatusCode, nil
		}
		if err := w.s.Authorize(ctx, req, resp); err != nil {
			return resp.StatusCode, err
		}
		again, repeated = true, false
	}
}

// works makes a call that has to succeed.
func (w *world) works(t *testing.T) {
	t.Helper()
	if status, err := w.call(t.Context()); status != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v", status, err)
	}
}

// fails makes a call that has to fail with an error of type E.
func fails[E error](t *testing.T, w *world) E {
	t.Helper()
	_, err := w.call(t.Context())
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("%v (%T), want %T", err, err, e)
	}
	return e
}

// asked returns the prompts for consent, and those that waited for the browser.
func (w *world) asked() (consent, waiting []event.SignInQuestion) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.prompts {
		if p.Waiting {
			waiting = append(waiting, p)
		} else {
			consent = append(consent, p)
		}
	}
	return consent, waiting
}

func (w *world) askedTimes(t *testing.T, want int) {
	t.Helper()
	if got, _ := w.asked(); len(got) != want {
		t.Errorf("asked %d times, want %d", len(got), want)
	}
}

// noSecrets looks for tokens and the like in logs, errors and states: for every test.
func (w *world) noSecrets(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	text := strings.Join(w.texts, "\n")
	w.mu.Unlock()
	text += w.logs.String()
	for _, secret := range append(w.as.issued(), secretsOf(&w.s.o.Config)...) {
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("%q is in a log or an error:\n%s", secret, text)
		}
	}
}
