package web

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestHostRebinding: a request with another host name is refused, even with a session or the right token. A web site
// could make its own name resolve to this machine.
func TestHostRebinding(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b, link := w.opened(), w.Link()
		for _, name := range []string{"evil.example:4711", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:80",
			"localhost:4711", "localhost.:4711", "[::1]:4711", "LOCALHOST:4711"} {
			named := func(r *http.Request) { r.Host = name }
			for _, address := range []string{"/", "/main.js", link} {
				if r := b.get(address, named); r.status != http.StatusMisdirectedRequest || len(r.cookies) > 0 {
					t.Errorf("%s as %s: %d", address, name, r.status)
				}
			}
		}
	})
}

// TestForeignOrigin: requests from another origin are refused, whatever the method. So are requests without an origin
// that a browser always sends with one.
func TestForeignOrigin(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		from := func(method, origin string) func(*http.Request) {
			return func(r *http.Request) {
				r.Method = method
				if origin != "" {
					r.Header.Set("Origin", origin)
				}
			}
		}
		foreign := []string{"https://evil.example", "null", "http://127.0.0.1:4712", "https://127.0.0.1:4711",
			"http://localhost:4711"}
		for _, origin := range foreign {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				if r := b.get("/", from(method, origin)); r.status != http.StatusForbidden {
					t.Errorf("%s from %s gives %d", method, origin, r.status)
				}
			}
			if r := b.get("/stream", from("GET", origin)); r.status != http.StatusForbidden {
				t.Errorf("a socket from %s gives %d", origin, r.status)
			}
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "HEAD"} {
			if r := b.get("/", from(method, "")); r.status != http.StatusForbidden {
				t.Errorf("%s from nowhere gives %d", method, r.status)
			}
			if r := b.get("/", from(method, "http://"+home)); r.status != http.StatusMethodNotAllowed ||
				r.header.Get("Allow") != "GET" {
				t.Errorf("%s from here gives %d", method, r.status)
			}
		}
		if r := b.get("/stream", from("GET", "")); r.status != http.StatusForbidden {
			t.Errorf("a socket from nowhere gives %d", r.status)
		}
		if r := b.get("/", from("GET", "http://"+home)); r.status != http.StatusOK {
			t.Errorf("a read from here gives %d", r.status)
		}
	})
}

// TestPolicy: the page has a strict policy, as a header and as a meta element, with a new nonce each time.
func TestPolicy(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		nonces := map[string]bool{}
		for range 3 {
			r := b.get("/")
			got := r.header.Get("Content-Security-Policy")
			m := regexp.MustCompile(`script-src 'nonce-([A-Z2-7]{26,})';`).FindStringSubmatch(got)
			if m == nil {
				t.Fatalf("no nonce in %q", got)
			}
			nonce := m[1]
			want := "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'self' 'nonce-" + nonce +
				"'; img-src 'self' data:; media-src data:; " +
				"connect-src ws://127.0.0.1:4711; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
			if got != want {
				t.Errorf("policy\n%s\nwant\n%s", got, want)
			}
			if nonces[nonce] {
				t.Errorf("the nonce %s comes twice", nonce)
			}
			nonces[nonce] = true
			if n := strings.Count(r.body, `nonce="`+nonce+`"`); n != 2 {
				t.Errorf("%d scripts have the nonce, want 2\n%s", n, r.body)
			}
			meta := strings.ReplaceAll(strings.TrimSuffix(want, notFramed), "'", "&#39;")
			if !strings.Contains(r.body, `content="`+meta+`"`) {
				t.Errorf("the page itself has another policy\n%s", r.body)
			}
		}
	})
}

// TestHeaders: all answers, refusals included, forbid caching, type guessing, framing, and reading by other sites.
func TestHeaders(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		answers := map[string]response{
			"page": b.get("/"), "script": b.get("/main.js"), "nothing": b.get("/none"), "link": w.browser().get(w.Link()),
			"other host": b.get("/", func(r *http.Request) { r.Host = "evil.example" }),
		}
		want := map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		}
		for what, r := range answers {
			for name, value := range want {
				if got := r.header.Get(name); got != value {
					t.Errorf("%s: %s is %q, want %q", what, name, got, value)
				}
			}
			if p := r.header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") ||
				!strings.HasSuffix(p, "frame-ancestors 'none'") {
				t.Errorf("%s: policy %q", what, p)
			}
		}
	})
}

// TestPageIsFilled: every placeholder of the template is replaced, with values that the page can read.
func TestPageIsFilled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		body := w.opened().get("/").body
		if strings.Contains(body, "{{") {
			t.Errorf("a token is left\n%s", body)
		}
		for _, want := range []string{
			`data-surface="{&#34;kind&#34;:&#34;web&#34;,&#34;opensUrls&#34;:true,&#34;socket&#34;:&#34;/stream&#34;}"`,
			`href="/page.css"`, `src="/main.js"`, `src="/hub/stream.js"`, `class=""`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %s\n%s", want, body)
			}
		}
	})
}

// TestBrokenPageIsRefused: readPage returns an error for a page that refers to something that this server does not
// have, because then the build is wrong.
func TestBrokenPageIsRefused(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"{{what}}":  {"page.html": {Data: []byte("{{nonce}} {{what}}")}, "a.js": {}},
		"missing":   {"a.js": {}},
		"main.js":   {"page.html": {Data: []byte(`<script src="{{base}}main.js">`)}, "other.js": {}},
		"page.json": {"page.html": {Data: []byte(`<link href="{{base}}page.json">`)}, "page.json": {}},
		"{{nonce }": {"page.html": {Data: []byte("{{nonce }")}, "a.js": {}},
	} {
		if _, err := readPage(files); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFiles: scripts and styles are served with their types, and no other files are served.
func TestFiles(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		for path, contentType := range map[string]string{"/main.js": "text/javascript; charset=utf-8",
			"/hub/stream.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8"} {
			if r := b.get(path); r.status != http.StatusOK || r.header.Get("Content-Type") != contentType || r.body == "" {
				t.Errorf("%s: %d, %s, %q", path, r.status, r.header.Get("Content-Type"), r.body)
			}
		}
		if r := b.get("/favicon.ico"); r.status != http.StatusNoContent {
			// With 404 every browser would log an error.
			t.Errorf("/favicon.ico: status %d, want %d", r.status, http.StatusNoContent)
		}
	})
}

// TestPathTraversal: no spelling of a path reaches a file that is not served.
func TestPathTraversal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.opened()
		for _, path := range []string{
			"/../server.go", "/..%2fserver.go", "/%2e%2e/server.go", "/testdata/main.js", "//main.js", "/./main.js", "/main.js/",
			"/main.js%00", "/..\\server.go",
			"/page.html", "/tsconfig.json", "/testdata/", "/.", "/..", "/server.go", "/MAIN.JS",
		} {
			r := b.get("/", func(r *http.Request) { r.URL.Opaque = "//" + home + path }) // as it is: a client would tidy it up
			if r.status == http.StatusOK {
				t.Errorf("%s gives %s", path, r.body)
			}
		}
	})
}

// TestNothingIsRead: a request with a body is refused before its body is read.
func TestNothingIsRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.opened().get("/", func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader("text"))
			r.ContentLength = 4
		})
		if r.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d", r.status)
		}
	})
}

// TestBodyThatDoesNotComeHoldsNoPlace: a request with a body is refused at once, and its connection is closed soon
// after, whether the rest of the body comes or not. Otherwise strangers could take all connections of the page.
func TestBodyThatDoesNotComeHoldsNoPlace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, request := range []string{"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: " + home + "\r\nContent-Length: 9\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: " + home + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"} {
			c, err := w.listen.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") || time.Since(start) > time.Second {
				t.Errorf("%q: after %v %v\n%s", request, time.Since(start), err, answer)
			}
		}
	})
}
