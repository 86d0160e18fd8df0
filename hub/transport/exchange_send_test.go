package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTooManyRequests(t *testing.T) {
	refuse := func(status int, after string, times int) func(*exchangeSeen) {
		return func(x *exchangeSeen) {
			if times--; times < 0 {
				x.result("1")
				return
			}
			if after != "" {
				x.w.Header().Set("Retry-After", after)
			}
			http.Error(x.w, "calm down", status)
		}
	}
	for name, c := range map[string]struct {
		on       func(*exchangeSeen)
		at       []time.Duration // in seconds, from the first
		delivery Delivery
		text     string // "" for an answer
		after    time.Duration
	}{
		"seconds":      {on: refuse(429, "7", 1), at: []time.Duration{0, 7}},
		"a date":       {on: refuse(429, "Sat, 01 Jan 2000 00:00:20 GMT", 1), at: []time.Duration{0, 20}},
		"nothing said": {on: refuse(429, "", 3), at: []time.Duration{0, 1, 3, 7}},
		"429 for ever": {on: refuse(429, "2", 99), at: []time.Duration{0, 2, 4, 6}, delivery: NotSent,
			text: "calm down", after: 2 * time.Second},
		"503": {on: refuse(503, "2", 99), at: []time.Duration{0}, delivery: MayHaveRun, text: "calm down",
			after: 2 * time.Second},
		"503, nothing said": {on: refuse(503, "", 99), at: []time.Duration{0}, delivery: MayHaveRun, text: "calm down"},
		"longer than a call": {on: refuse(429, "3600", 99), at: []time.Duration{0}, delivery: NotSent,
			text: "1h0m0s", after: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inWebWorld(t, map[string]func(*exchangeSeen){"x": c.on}, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				if c.text == "" {
					w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
				} else if e := w.wantFailed("1", c.delivery, c.text); e.RetryAfter != c.after {
					w.Errorf("RetryAfter %v, want %v", e.RetryAfter, c.after)
				}
				var at []time.Duration
				for _, x := range w.requests("x") {
					at = append(at, x.At/time.Second)
					if x.Body != string(message("1", "x")) {
						w.Errorf("the body was %q", x.Body)
					}
				}
				if d := cmp.Diff(c.at, at); d != "" {
					w.Error(d)
				}
			})
		})
	}
}

// There is no timeout for the headers of an answer: a tool may work for an hour before they come.
func TestSlowHeaders(t *testing.T) {
	on := map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) { elapse(time.Hour); x.result("1") }}
	inWebWorld(t, on, func(w *webWorld) {
		rt := newRoundTripper()
		rt.DialContext = w.net.DialContext
		s := NewStreamable(HTTPOptions{URL: "http://server.test/", RoundTripper: rt})
		s.Speak(true, "2026-07-28")
		s.Send(Message{ID: "1", Method: "x", Body: message("1", "x")})
		if r, err := s.Receive(); err != nil || r.FailedID != "" {
			w.Errorf("%v %v", r.Err, err)
		}
		_ = s.Close()
		rt.close()
	})
}

// fakeAuth signs with its token, if it has one; each Authorize gets the next token.
type fakeAuth struct {
	mu        sync.Mutex
	token     int
	asked     int
	authorize func(ctx context.Context) error // nil: a new token
}

func (a *fakeAuth) Sign(_ context.Context, req *http.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token > 0 {
		req.Header.Set("Authorization", fmt.Sprint("Bearer ", a.token))
	}
	return nil
}

func (a *fakeAuth) Authorize(ctx context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	if a.authorize != nil {
		return a.authorize(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	a.token++
	return nil
}

func (*fakeAuth) Observe(*http.Request, *http.Response) bool { return false }

func needs(token string, status int) func(*exchangeSeen) {
	return func(x *exchangeSeen) {
		if x.Header.Get("Authorization") != "Bearer "+token {
			x.w.WriteHeader(status)
			return
		}
		if x.Method == "initialize" {
			x.w.Header().Set("Mcp-Session-Id", "s-1")
		}
		if x.ID == "" {
			x.accepted()
			return
		}
		x.result("1")
	}
}

func withAuth(a Authorizer) func(*webWorld, *HTTPOptions) {
	return func(_ *webWorld, o *HTTPOptions) { o.Auth = a }
}

func TestUnauthorized(t *testing.T) {
	for _, status := range []int{401, 403} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			a := &fakeAuth{}
			inWebWorld(t, map[string]func(*exchangeSeen){"x": needs("1", status)}, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
				sent := w.requests("x")
				if len(sent) != 2 || sent[1].Body != string(message("1", "x")) || a.asked != 1 {
					w.Errorf("sent %d times, asked %d times", len(sent), a.asked)
				}
			}, withAuth(a))
		})
	}
}

func TestUnauthorizedTwice(t *testing.T) {
	a := &fakeAuth{}
	inWebWorld(t, map[string]func(*exchangeSeen){"x": needs("9", 401)}, func(w *webWorld) {
		w.modern()
		w.send("1", "x")
		if e := w.wantFailed("1", NotSent, "sign-in"); e.Status != 401 || a.asked != 1 {
			w.Errorf("%v, asked %d times", e, a.asked)
		}
	}, withAuth(a))
}

func TestUnauthorizedRefused(t *testing.T) {
	denied := errors.New("the user said no")
	a := &fakeAuth{authorize: func(context.Context) error { return denied }}
	inWebWorld(t, map[string]func(*exchangeSeen){"x": needs("9", 401)}, func(w *webWorld) {
		w.modern()
		w.send("1", "x")
		if e := w.wantFailed("1", NotSent, "the user said no"); !errors.Is(e, denied) || e.Status != 401 {
			w.Error(e)
		}
	}, withAuth(a))
}

func TestUnauthorizedWithoutAuth(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"x": needs("9", 401)}, func(w *webWorld) {
		w.modern()
		w.send("1", "x")
		w.wantFailed("1", NotSent, "headers")
	})
}

// The request was cancelled while the user was signing in: nothing more is sent, no notification either.
func TestUnauthorizedAborted(t *testing.T) {
	a := &fakeAuth{authorize: func(ctx context.Context) error { <-ctx.Done(); return nil }}
	inWebWorld(t, map[string]func(*exchangeSeen){"x": needs("9", 401)}, func(w *webWorld) {
		w.s.Speak(false, "2025-11-25")
		w.send("1", "x")
		synctest.Wait()
		w.s.CancelAndAbort("1", cancelNote, func(error) {})
		w.wantNothing()
		w.wantOpen(0)
		if d := cmp.Diff([]string{"x"}, w.noted()); d != "" {
			w.Error(d)
		}
	}, withAuth(a))
}

func TestEveryRequestIsSigned(t *testing.T) {
	a := &fakeAuth{token: 1}
	on := map[string]func(*exchangeSeen){"initialize": needs("1", 401)}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		_ = w.s.Close()
		for _, x := range w.seen {
			if x.Header.Get("Authorization") != "Bearer 1" {
				w.Errorf("%s %s was not signed", x.Verb, x.Method)
			}
		}
		if len(w.requests("DELETE")) != 1 || len(w.requests("GET")) != 1 {
			w.Errorf("%q", w.noted())
		}
	}, withAuth(a))
}

func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, c := range map[string]struct {
		status int
		to     string
		text   string // "" for an answer
	}{
		"307 here":        {307, "/moved", ""},
		"308 here":        {308, "/moved", ""},
		"302 here":        {302, "/moved", "drop the message"},
		"303 here":        {303, "/moved", "drop the message"},
		"round and round": {307, "/again", "without end"},
		"elsewhere":       {307, other.URL + "/?key=hidden", strings.TrimPrefix(other.URL, "http://")},
		"301 elsewhere":   {301, other.URL, strings.TrimPrefix(other.URL, "http://")},
		"https":           {308, "https://server.test/mcp", "https://server.test"},
		"nowhere":         {307, "", "nowhere"},
		"another port":    {307, "http://server.test:81/", "server.test:81"},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) {
				switch {
				case x.r.URL.Path == "/moved" && x.Body == string(message("1", "x")) && x.Header.Get("X-Own") == "1":
					x.result("1")
				case c.to == "":
					x.w.WriteHeader(c.status)
				default:
					x.w.Header().Set("Location", c.to)
					x.w.WriteHeader(c.status)
				}
			}}
			inWebWorld(t, on, func(w *webWorld) {
				w.modern()
				w.send("1", "x")
				if c.text == "" {
					w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
					return
				}
				if e := w.wantFailed("1", NotSent, c.text); strings.Contains(e.Error(), "hidden") || e.Status != c.status {
					w.Error(e)
				}
			}, func(_ *webWorld, o *HTTPOptions) { o.Header = http.Header{"X-Own": {"1"}} })
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("another server was asked")
	}
}

func TestUnreachable(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		w.modern()
		refused := errors.New("connection refused")
		w.net.dial = func(context.Context) error { return refused }
		w.send("1", "x")
		if e := w.wantFailed("1", NotSent, "connection refused"); !errors.Is(e, refused) {
			w.Error(e)
		}
	})
	for _, bad := range []string{"", "ftp://x/", "/mcp", "http://", "http://a b/?secret"} {
		s := NewStreamable(HTTPOptions{URL: bad})
		s.Send(Message{ID: "1", Method: "x", Body: message("1", "x")})
		r, err := s.Receive()
		if e, ok := r.Err.(*HTTPError); err != nil || !ok || e.Delivery != NotSent || strings.Contains(e.Text, "secret") {
			t.Errorf("%q: %v %v", bad, r.Err, err)
		}
		_ = s.Close()
	}
}

func TestModernHeaders(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		w.modern()
		w.s.Send(Message{ID: "1", Method: "tools/call", Name: "größe", Body: message("1", "tools/call"),
			Params: map[string]string{"Region": "us-west1", "odd": " x", "not a token": "x", "": "x"}})
		w.next()
		w.send("2", "ping")
		w.next()
		_ = w.s.Close()
		want := http.Header{
			"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
			"Mcp-Protocol-Version": {"2026-07-28"},
			"Mcp-Method":           {"tools/call"}, "Mcp-Name": {"=?base64?Z3LDtsOfZQ==?="}, "Mcp-Param-Region": {"us-west1"},
			"Mcp-Param-Odd": {"=?base64?IHg=?="},
			"User-Agent":    {"mcphub"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"46"},
		}
		if d := cmp.Diff(want, w.seen[0].Header); d != "" {
			w.Error(d)
		}
		want = http.Header{
			"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
			"Mcp-Protocol-Version": {"2026-07-28"},
			"Mcp-Method":           {"ping"}, "User-Agent": {"mcphub"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"40"},
		}
		if d := cmp.Diff(want, w.seen[1].Header); d != "" {
			w.Error(d)
		}
		if len(w.seen) != 2 {
			w.Errorf("%q", w.noted())
		}
	}, func(_ *webWorld, o *HTTPOptions) {
		o.Header = http.Header{"Last-Event-ID": {"1"}, "Mcp-Name": {"forged"}}
	})
}

func TestHeaderEncoding(t *testing.T) {
	for value, want := range map[string]string{
		"us-west1":         "us-west1",
		"two words, \"q\"": "two words, \"q\"",
		"":                 "",
		"true":             "true",
		" x":               "=?base64?IHg=?=",
		"x ":               "=?base64?eCA=?=",
		"a\tb":             "=?base64?YQli?=",
		"a\r\nb":           "=?base64?YQ0KYg==?=",
		"日本":               "=?base64?5pel5pys?=",
		"=?base64?eA==?=":  "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
		"=?base64?x":       "=?base64?x",
		"\x7f":             "=?base64?fw==?=",
	} {
		if got := headerValue(value); got != want {
			t.Errorf("%q became %q, want %q", value, got, want)
		}
	}
}

// Speak affects the messages that are sent after it; an exchange that has begun goes on as before.
func TestSpeakAfterAProbe(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"server/discover": func(x *exchangeSeen) {
		x.events("id: 1\n\n")
		elapse(time.Minute)
	}}, func(w *webWorld) {
		w.modern()
		w.send("9", "server/discover")
		synctest.Wait()
		w.legacy("2025-11-25")
		w.wantFailed("9", MayHaveRun, "the stream ended")
		if x := w.requests("initialize")[0]; x.Header.Get("Mcp-Method")+x.Header.Get("Mcp-Protocol-Version") != "" {
			w.Errorf("initialize was sent with %v", x.Header)
		}
		if n := w.noted(); !slices.Contains(n, "GET") || len(w.resumptions()) != 0 {
			w.Errorf("%q", n)
		}
	})
}
