package signin

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// These tests use real sockets, but for the last: they test the listener itself.

func openReal(t *testing.T) *redirect {
	t.Helper()
	r, err := openRedirect(t.Context(), listenLoopback, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fetch(t *testing.T, method, address string) (int, http.Header, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func isAnswered(r *redirect) bool {
	select {
	case <-r.Answered:
		return true
	default:
		return false
	}
}

func TestLoopbackRedirect(t *testing.T) {
	r := openReal(t)
	if !strings.HasPrefix(r.URL, "http://127.0.0.1:") || !strings.HasSuffix(r.URL, redirectPath) {
		t.Errorf("redirect URI %s", r.URL)
	}
	r.expect("right")
	status, header, text := fetch(t, http.MethodGet, r.URL+"?state=right&code=c%3D1&iss=i")
	if status != http.StatusOK || !strings.Contains(text, "You can close this window.") || strings.Contains(text, "c=1") {
		t.Errorf("status %d, page %q", status, text)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'none'"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	<-r.Answered
	if q := r.answer(); q.Get("code") != "c=1" || q.Get("iss") != "i" {
		t.Errorf("answer %v", q)
	}
	r.close()
	if _, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.URL, "http://"), redirectPath)); err == nil {
		t.Error("it still listens")
	}
}

// A request that does not belong to the flow is refused, and does not end it.
func TestLoopbackRedirectWrongState(t *testing.T) {
	r := openReal(t)
	defer r.close()
	tests := []struct {
		method, suffix string
		want           int
	}{
		{http.MethodGet, "?state=right&code=early", http.StatusBadRequest}, // before the URL was made
		{http.MethodGet, "?state=&code=early", http.StatusBadRequest},
		{http.MethodGet, "?code=early", http.StatusBadRequest},
		{http.MethodGet, "?state=wrong&code=c", http.StatusBadRequest},
		{http.MethodGet, "?code=c", http.StatusBadRequest},
		{http.MethodGet, "?state=&code=c", http.StatusBadRequest},
		{http.MethodGet, "?state=wrong&error=access_denied", http.StatusBadRequest},
		{http.MethodPost, "?state=right&code=c", http.StatusMethodNotAllowed},
		{http.MethodGet, "/more?state=right&code=c", http.StatusNotFound},
	}
	for i, tt := range tests {
		if i == 3 {
			r.expect("right")
		}
		if status, _, _ := fetch(t, tt.method, r.URL+tt.suffix); status != tt.want {
			t.Errorf("%s %s: status %d", tt.method, tt.suffix, status)
		}
		if isAnswered(r) {
			t.Fatalf("%s %s was taken", tt.method, tt.suffix)
		}
	}
	if status, _, _ := fetch(t, http.MethodGet, r.URL+"?state=right&code=c"); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if !isAnswered(r) {
		t.Error("the right one was not taken")
	}
}

// Only the first answer counts: a second one, even a right one, changes nothing.
func TestLoopbackRedirectOnlyOnce(t *testing.T) {
	r := openReal(t)
	defer r.close()
	r.expect("right")
	fetch(t, http.MethodGet, r.URL+"?state=right&code=first")
	if status, _, _ := fetch(t, http.MethodGet, r.URL+"?state=right&code=second"); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	if got := r.answer().Get("code"); got != "first" {
		t.Errorf("code %s", got)
	}
}

// Anybody may have sent the text of an error: the page does not show it.
func TestLoopbackRedirectError(t *testing.T) {
	r := openReal(t)
	defer r.close()
	r.expect("right")
	_, _, text := fetch(t, http.MethodGet, r.URL+"?state=right&error=access_denied&error_description=%3Cscript%3E")
	if !strings.Contains(text, "was not completed") || strings.Contains(text, "script") ||
		strings.Contains(text, "access_denied") {
		t.Errorf("page %q", text)
	}
}

// The port of an earlier registration is tried first; a fixed one is the only one.
func TestLoopbackRedirectPorts(t *testing.T) {
	first := openReal(t)
	port := portOf(first.URL)
	second, err := openRedirect(t.Context(), listenLoopback, 0, port)
	if err != nil || portOf(second.URL) == port {
		t.Fatalf("%v, %v", second, err)
	}
	if third, err := openRedirect(t.Context(), listenLoopback, port, 0); err == nil {
		third.close()
		t.Error("a port that is in use was opened")
	}
	first.close()
	again, err := openRedirect(t.Context(), listenLoopback, 0, port)
	if err != nil || portOf(again.URL) != port {
		t.Fatalf("%v, %v", again, err)
	}
	again.close()
	second.close()
}

// Only while a flow runs is there a listener, and it is on loopback.
func TestLoopbackRedirectOnlyWhileFlowRuns(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if n := w.net.listeners(); n != 1 {
				t.Errorf("%d listeners", n)
			}
			// A request with a guessed state is refused, and the flow goes on.
			if status, _ := w.visit("http://127.0.0.1:40001/callback?state=guess&code=x"); !p.Waiting &&
				status != http.StatusBadRequest {
				t.Errorf("status %d", status)
			}
			return w.accept(ctx, p)
		})
		w.works(t)
		if n := w.net.listeners(); n != 0 {
			t.Errorf("%d listeners", n)
		}
	})
}

// TestRedirectWaitsForNoBody: a request with a body that does not come holds the connection, of which there are few,
// for a moment only.
func TestRedirectWaitsForNoBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := fakeserver.NewMemory()
		r, err := openRedirect(t.Context(), func(context.Context, string) (net.Listener, error) { return ln, nil }, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		c, err := ln.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Hour)) // what hangs fails
		start := time.Now()
		_, err = io.WriteString(c, "POST /callback HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); err != nil || time.Since(start) > time.Second {
			t.Errorf("after %v %v\n%s", time.Since(start), err, answer)
		}
	})
}
