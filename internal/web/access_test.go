package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// admits reports whether a socket with this first message becomes a window. One that does not is closed, with how to
// get a link, and does not reach the hub.
func (w *world) admits(first string) bool {
	w.t.Helper()
	before := w.editor.windows()
	tb := w.browser().socket()
	tb.say(first)
	_ = tb.Write(w.t.Context(), websocket.MessageText, []byte(hello)) // the socket may be closed by now
	_, _, err := tb.Read(w.t.Context())
	if word, ok := errors.AsType[websocket.CloseError](err); ok && (word.Code != 4016 || word.Reason != "Press Enter.") {
		w.t.Errorf("closed with %d %q", word.Code, word.Reason)
	}
	if n := w.editor.windows() - before; err != nil && n != 0 {
		w.t.Errorf("%d windows reached the hub", n)
	}
	return err == nil
}

func proof(session, token string) string {
	text, err := json.Marshal(Proof{session, token})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// tokenOf returns the token of a link.
func tokenOf(t *testing.T, link string) string {
	t.Helper()
	parsed, err := url.Parse(link)
	if err != nil || parsed.Host != home || parsed.Path != "/" || len(parsed.Query().Get("token")) < 26 {
		t.Fatalf("the link is %q", link) // 26 letters of base 32 are 130 bits
	}
	return parsed.Query().Get("token")
}

// Sessions of pages.
var sessionA, sessionB = strings.Repeat("a", 36) + strings.Repeat("1", 36), strings.Repeat("b", 36)

// TestTokenOnce: a link opens one page, whose session counts from then on, for each of its sockets. A second page is
// told how to get another link.
func TestTokenOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		token := tokenOf(t, w.Link())
		for _, p := range []string{proof(sessionA, token), proof(sessionA, token), proof(sessionA, "")} {
			if !w.admits(p) {
				t.Errorf("%s is not admitted", p)
			}
		}
		for _, p := range []string{proof(sessionB, token), proof(sessionB, "")} {
			if w.admits(p) {
				t.Errorf("%s is admitted", p)
			}
		}
	})
}

// TestNewLinkEndsTheOld: a new link makes an unused older link invalid. Open sessions go on.
func TestNewLinkEndsTheOld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if !w.admits(proof(sessionA, tokenOf(t, w.Link()))) {
			t.Error("the first link opens nothing")
		}
		old, now := tokenOf(t, w.Link()), tokenOf(t, w.Link())
		if w.admits(proof(sessionB, old)) {
			t.Error("the old link opens a page")
		}
		if !w.admits(proof(sessionB, now)) || !w.admits(proof(sessionA, "")) {
			t.Error("the new link opens nothing, or the first session has ended")
		}
	})
}

// TestWrongProof: a wrong or empty token, a session that can be guessed, and what is no proof open no window, and do
// not use up the right token.
func TestWrongProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		token := tokenOf(t, w.Link())
		for _, p := range []string{
			proof(sessionA, ""), proof(sessionA, "AAAAAAAAAAAAAAAAAAAAAAAAAA"), proof(sessionA, strings.ToLower(token)),
			proof("", token), proof("short", token), proof(strings.Repeat("x", 200), token), proof("", ""),
			`{"token":"` + token + `"}`, `{"session":["` + sessionA + `"],"token":"` + token + `"}`, `"` + token + `"`,
			"", "null",
			hello, proof(sessionA, token) + "x",
		} {
			if w.admits(p) {
				t.Errorf("%s is admitted", p)
			}
		}
		if !w.admits(proof(sessionA, token)) {
			t.Error("the right token opens nothing afterwards")
		}
	})
}

// TestLongOrSilentProof: before its proof, a socket costs little and not for long.
func TestLongOrSilentProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		long := w.browser().socket()
		go func() { _ = long.Write(t.Context(), websocket.MessageText, make([]byte, 64<<10)) }()
		if _, _, err := long.Read(t.Context()); err == nil {
			t.Error("a long proof is answered")
		}
		silent, start := w.browser().socket(), time.Now()
		if _, _, err := silent.Read(t.Context()); err == nil || time.Since(start) != proofTime {
			t.Errorf("the silent socket ended after %v: %v", time.Since(start), err)
		}
		if n := w.editor.windows(); n != 0 {
			t.Errorf("%d windows reached the hub", n)
		}
	})
}

// TestCrowdWithoutProof: whoever opens many sockets and is silent keeps no page out, and closes no open window.
func TestCrowdWithoutProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		open := b.tab()
		open.say(hello)
		open.hear()
		for range 3 * mostUnproven {
			w.browser().socket()
		}
		tb := b.tab()
		tb.say(hello)
		tb.hear()
		open.say(`{"messageId":"1","cancelMcpRequest":{"requestId":"r"}}`)
		open.hear()
		synctest.Wait()
		if n := len(w.unproven.sockets); n > mostUnproven {
			t.Errorf("%d sockets wait", n)
		}
	})
}

// TestThiefAtAnotherPort: whoever serves another port of this machine gets what the person's browser sends to its name,
// cookies included, which know no ports. That opens no window, and nothing sets a cookie.
func TestThiefAtAnotherPort(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		tb := b.tab()
		tb.say(hello)
		tb.hear()
		if r := b.get("/"); r.status != http.StatusOK || len(r.cookies) > 0 {
			t.Errorf("the page gives %d, cookies %v", r.status, r.cookies)
		}
		thief := w.browser()
		for _, address := range []string{"http://127.0.0.1:4712/", "http://" + home + "/"} {
			from, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			thief.Jar.SetCookies(from, b.Jar.Cookies(from))
		}
		stolen := thief.socket()
		stolen.say(hello)
		if _, text, err := stolen.Read(t.Context()); err == nil {
			t.Errorf("the hub says %s to a thief", text)
		}
		if n := w.editor.windows(); n != 1 {
			t.Errorf("%d windows are open", n)
		}
	})
}

// TestNothingOfAPageIsSecret: the files of the page are the same for everybody, with a session or without, so that none
// of them can give one away.
func TestNothingOfAPageIsSecret(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		link := w.Link()
		token := tokenOf(t, link)
		for _, path := range []string{"/", "/main.js", link} {
			r := w.browser().get(path)
			if r.status != http.StatusOK || strings.Contains(r.body, token) || r.header.Get("Location") != "" {
				t.Errorf("%s gives %d, %v", path, r.status, r.header)
			}
		}
		if !w.admits(proof(sessionA, token)) { // reading the page has not used up the link, as a preview would
			t.Error("the link is used up")
		}
	})
}
