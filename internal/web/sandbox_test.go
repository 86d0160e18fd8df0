package web

import (
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
)

const somePolicy = "default-src 'none'; script-src 'unsafe-inline'"

func framed(t *testing.T) *Server {
	t.Helper()
	frames, err := ListenSandbox()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(newMemory(), Options{Files: os.DirFS("testdata"), Sandbox: frames})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, l := range frames {
			_ = l.Close()
		}
	})
	return s
}

// TestSandboxIsAnotherSite: the page gets the URL of a frame under the other name of this machine and at another port,
// and its policy allows only that frame.
func TestSandboxIsAnotherSite(t *testing.T) {
	s := framed(t)
	w := httptest.NewRecorder()
	s.handler(t.Context()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://"+home+"/", nil))
	frames := "http://localhost:" + s.sandbox.port + s.sandbox.path
	if !strings.Contains(html.UnescapeString(w.Body.String()), `"apps":["`+frames+`"]`) ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "; frame-src "+frames+"; ") {
		t.Errorf("the page is given\n%v\n%s", w.Header(), w.Body)
	}
}

// TestSandboxServesOneFrame: the frame is served only at its own address and path, and only with a policy that begins
// with default-src 'none'. The frame gets that policy and the policy of the sandbox.
func TestSandboxServesOneFrame(t *testing.T) {
	s := framed(t).sandbox
	get := func(method, host, path, policy string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, "http://"+host+path+"?csp="+url.QueryEscape(policy), nil)
		s.ServeHTTP(w, r)
		return w
	}
	w := get(http.MethodGet, "localhost:"+s.port, s.path, somePolicy)
	policies := w.Header().Values("Content-Security-Policy")
	if w.Code != http.StatusOK || len(policies) != 2 || policies[0] != somePolicy ||
		policies[1] != "sandbox allow-scripts allow-same-origin; frame-ancestors http://"+home {
		t.Errorf("%d %q", w.Code, policies)
	}
	for _, c := range [][4]string{
		{http.MethodGet, "evil.example:" + s.port, s.path, somePolicy},
		{http.MethodGet, "localhost:1", s.path, somePolicy},
		{http.MethodGet, "127.0.0.1:" + s.port, s.path, somePolicy}, // the page's own name
		{http.MethodPost, "localhost:" + s.port, s.path, somePolicy},
		{http.MethodGet, "localhost:" + s.port, "/", somePolicy},
		{http.MethodGet, "localhost:" + s.port, s.path + "/x", somePolicy},
		{http.MethodGet, "localhost:" + s.port, s.path, ""},
		{http.MethodGet, "localhost:" + s.port, s.path, "default-src *"},
		{http.MethodGet, "localhost:" + s.port, s.path, somePolicy + "\r\nSet-Cookie: a=b"},
		{http.MethodGet, "localhost:" + s.port, s.path, somePolicy + strings.Repeat("x", 9000)},
	} {
		if w := get(c[0], c[1], c[2], c[3]); w.Code != http.StatusNotFound || w.Body.Len() > 0 {
			t.Errorf("%.120q gives %d", c, w.Code)
		}
	}
}

// TestSandboxHasBothAddresses: the sandbox listens on both addresses of localhost, so that no other program can answer
// at one of them.
func TestSandboxHasBothAddresses(t *testing.T) {
	frames, err := ListenSandbox()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range frames {
		defer l.Close()
		if other, err := net.Listen(l.Addr().Network(), l.Addr().String()); err == nil {
			_ = other.Close()
			t.Errorf("%s is free for others", l.Addr())
		}
	}
}
