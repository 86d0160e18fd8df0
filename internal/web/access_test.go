package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestTokenOnce: a link can be used once. A second browser is told how to get another link.
func TestTokenOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		link := w.Link()
		parsed, err := url.Parse(link)
		if err != nil || parsed.Host != home || len(parsed.Query().Get("token")) < 26 { // 26 letters of base 32 are 130 bits
			t.Fatalf("the link is %q", link)
		}
		first := w.browser()
		r := first.get(link)
		if r.status != http.StatusSeeOther || r.header.Get("Location") != "/" {
			t.Fatalf("first use: %d to %q", r.status, r.header.Get("Location"))
		}
		if r := first.get("/"); r.status != http.StatusOK {
			t.Errorf("the page gives %d", r.status)
		}
		second := w.browser()
		if r := second.get(link); r.status != http.StatusForbidden || !strings.Contains(r.body, "used up") ||
			!strings.Contains(r.body, "Press Enter.") || len(r.cookies) > 0 {
			t.Errorf("second use: %d, cookies %v\n%s", r.status, r.cookies, r.body)
		}
		if r := second.get("/"); r.status != http.StatusForbidden {
			t.Errorf("without a session the page gives %d", r.status)
		}
	})
}

// TestNewLinkEndsTheOld: a new link makes an unused older link invalid. Open sessions go on.
func TestNewLinkEndsTheOld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		before := w.opened()
		old, now := w.Link(), w.Link()
		if r := w.browser().get(old); r.status != http.StatusForbidden {
			t.Errorf("the old link gives %d", r.status)
		}
		if r := w.browser().get(now); r.status != http.StatusSeeOther {
			t.Errorf("the new link gives %d", r.status)
		}
		if r := before.get("/"); r.status != http.StatusOK {
			t.Errorf("the session of before gives %d", r.status)
		}
	})
}

// TestWrongToken: a wrong or empty token opens no session and does not use up the right one.
func TestWrongToken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		link := w.Link()
		for _, wrong := range []string{"/?token=", "/?token=AAAAAAAAAAAAAAAAAAAAAAAAAA", "/?token=" +
			strings.Repeat("x", 4000)} {
			if r := w.browser().get(wrong); r.status != http.StatusForbidden || len(r.cookies) > 0 {
				t.Errorf("%.40s: %d, cookies %v", wrong, r.status, r.cookies)
			}
		}
		if r := w.browser().get(link); r.status != http.StatusSeeOther {
			t.Errorf("the right token gives %d afterwards", r.status)
		}
	})
}

// TestWrongSession: a made-up cookie gives no access to the page, its files or a window.
func TestWrongSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.opened()
		for _, path := range []string{"/", "/main.js", "/stream", "/nothing"} {
			r := w.browser().get(path, func(r *http.Request) {
				r.AddCookie(&http.Cookie{Name: w.access.cookie, Value: "AAAAAAAAAAAAAAAAAAAAAAAAAA"})
				r.Header.Set("Origin", "http://"+home)
			})
			if r.status != http.StatusForbidden || !strings.Contains(r.body, "You need a link") {
				t.Errorf("%s gives %d\n%s", path, r.status, r.body)
			}
		}
	})
}

// TestCookieFlags: scripts and other sites cannot use the session cookie. Its name has the port and a random part, so
// that servers at other ports do not overwrite it.
func TestCookieFlags(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.browser().get(w.Link())
		if len(r.cookies) != 1 {
			t.Fatalf("cookies %v", r.cookies)
		}
		c := r.cookies[0]
		if random, ok := strings.CutPrefix(c.Name, "mcphub-4711-"); !ok || len(random) != 8 ||
			random == strings.TrimPrefix(newAccess(4711).cookie, "mcphub-4711-") || len(c.Value) < 26 || !c.HttpOnly ||
			c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || !c.Expires.IsZero() {
			t.Errorf("cookie %+v", c)
		}
	})
}

// TestStaleCookies: a link deletes the session cookies of earlier servers at this port, and no other cookies.
func TestStaleCookies(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.browser()
		r := b.get(w.Link(), func(r *http.Request) {
			for _, name := range []string{"mcphub-4711-OLDOLDOL", "mcphub-4712-OTHEROTH", "other"} {
				r.AddCookie(&http.Cookie{Name: name, Value: "v"})
			}
		})
		if len(r.cookies) != 2 || r.cookies[0].Name != "mcphub-4711-OLDOLDOL" || r.cookies[0].MaxAge >= 0 ||
			r.cookies[1].Name != w.access.cookie {
			t.Errorf("cookies %v", r.cookies)
		}
		if r := b.get("/"); r.status != http.StatusOK {
			t.Errorf("the page gives %d", r.status)
		}
	})
}
