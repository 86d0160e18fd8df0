package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// A message goes to the endpoint, what comes on the stream is read, and the requests have the right headers.
func TestSSEExchange(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, _ *http.Request, body string) {
		w.WriteHeader(http.StatusAccepted)
		f.say <- "event: message\ndata: {\"echo\":" + body + "}\n\n"
	}
	address := strings.Replace(f.listen(t), "http://", "http://user:secret@", 1)
	c := connectSSE(t, HTTPOptions{URL: address, Header: http.Header{"X-Key": {"k"}, "Accept": {"nothing"},
		"Content-Type": {"odd"}, "Mcp-Protocol-Version": {"1"}}})
	get := <-f.opened
	for name, want := range map[string]string{"Accept": "text/event-stream", "X-Key": "k", "Authorization": "",
		"Accept-Encoding": "identity", "User-Agent": "mcphub"} {
		if got := get.Header.Get(name); got != want {
			t.Errorf("GET has %s %q, want %q", name, got, want)
		}
	}
	sendSSE(c, `{"id":1}`)
	wantSSEMessage(t, c, `{"echo":{"id":1}}`)
	p := <-f.posts
	if p.body != `{"id":1}` || p.path != "/messages?session=1" {
		t.Errorf("posted %q to %q", p.body, p.path)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Key": "k", "Authorization": "",
		"MCP-Protocol-Version": ""} {
		if got := p.header.Get(name); got != want {
			t.Errorf("POST has %s %q, want %q", name, got, want)
		}
	}
}

// Any status from 200 to 299 means that the message was accepted, whatever the body.
func TestSSEAnyGoodStatusWillDo(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, _ *http.Request, body string) {
		if body == "200" {
			io.WriteString(w, strings.Repeat("no JSON ", 10_000))
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
	}
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	f.sentSSE(c, "200", "204")
	f.say <- "data: 1\n\n"
	wantSSEMessage(t, c, "1")
}

// All kinds of line ends, comments, names, ids and lines are read; events that are not messages are skipped, a second
// endpoint among them.
func TestSSEReadsEveryKindOfStream(t *testing.T) {
	f := newSSEFake()
	f.endpoint = ""
	url := f.listen(t)
	go func() {
		f.say <- "\ufeff: hello\r\n\r\nevent: message\r\ndata: too early\r\n\r\nevent: endpoint\r\ndata: /first\r\n\r\n"
		f.say <- ": ping\n\nda"
		f.say <- "ta: {\"a\":\ndata: 1}\n"
		f.say <- "\n" + strings.Repeat(":\n\n", 1000)
		f.say <- "event: endpoint\ndata: /second\n\nevent: other\ndata: no\n\nid: 7\n\nretry: 1\n\ndata:\n\n"
		f.say <- "id: 8\revent: message\rdata: 2\r\r"
	}()
	c := connectSSE(t, HTTPOptions{URL: url})
	wantSSEMessage(t, c, "{\"a\":\n1}")
	wantSSEMessage(t, c, "2")
	if p := f.sentSSE(c, "x")[0]; p.path != "/first" {
		t.Errorf("posted to %q, want the first endpoint", p.path)
	}
}

// A message as long as the limit is read; of a longer one only that message is lost.
func TestSSEMessageTooLong(t *testing.T) {
	f := newSSEFake()
	c := connectSSE(t, HTTPOptions{URL: f.listen(t), MaxMessageBytes: 8 << 20})
	large := strings.Repeat("x", 8<<20)
	go func() {
		f.say <- "data: " + large + "\n\n"
		f.say <- "event: other\ndata: " + large + "y\n\n"
		f.say <- "data: {" + large + "}\n\ndata: 2\n\n"
	}()
	wantSSEMessage(t, c, large)
	r, err := c.Receive()
	long, ok := r.Err.(*jsontext.TooLongError)
	if !ok || r.FailedID != "" || err != nil {
		t.Fatal(r.Err, err)
	}
	if long.Limit != 8<<20 || long.Size != 8<<20+2 || string(long.Head) != "{"+large[:4095] ||
		string(long.Tail) != large[:4095]+"}" {
		t.Errorf("limit %d, size %d, head %.10q, tail %.10q", long.Limit, long.Size, long.Head, long.Tail)
	}
	wantSSEMessage(t, c, "2")
}

func TestSSEEndpoint(t *testing.T) {
	for _, tt := range []struct{ base, endpoint, want, text string }{
		{"http://h/sse", "/m?s=1", "http://h/m?s=1", ""},
		{"http://h/a/sse", "m?s=1", "http://h/a/m?s=1", ""},
		{"http://h/a/sse?x=1", "?s=1", "http://h/a/sse?s=1", ""},
		{"http://h/sse", " /m ", "http://h/m", ""},
		{"http://h/sse", "http://h/m", "http://h/m", ""},
		{"http://h/sse", "http://H:80/m#f", "http://H:80/m", ""},
		{"https://h:443/sse", "HTTPS://h/m", "https://h/m", ""},
		{"http://[::1]:8/sse", "//[::1]:8/m", "http://[::1]:8/m", ""},
		{"http://h/sse", "http://user:pw@h/m", "http://h/m", ""},
		{"http://h/sse", "http://h:8080/m", "", "another origin, http://h:8080; the server's own is http://h:80"},
		{"http://h/sse", "https://h/m", "", "another origin"},
		{"http://h/sse", "//other/m", "", "another origin"},
		{"http://h/sse", `http:\\other\m`, "", "another origin"},
		{"http://h/sse", "javascript:alert(1)", "", "another origin"},
		{"http://h/sse", "http://h.other/m?token=secret", "", "another origin"},
		{"http://" + strings.Repeat("h", 300) + "a/sse", "http://" + strings.Repeat("h", 300) + "b/m", "", "another origin"},
		{"http://h/sse", "", "", "no URL"},
		{"http://h/sse", "http://h/%zz", "", "no URL"},
		{"http://h/sse", "\x00", "", "no URL"},
	} {
		base, err := url.Parse(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := resolveEndpoint(base, tt.endpoint); err == nil {
			if tt.text != "" || got.String() != tt.want {
				t.Errorf("%q at %q: %q, want %q %s", tt.endpoint, tt.base, got, tt.want, tt.text)
			}
		} else if tt.text == "" || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "secret") ||
			len(err.Error()) > 600 {
			t.Errorf("%q at %q: %v, want %q %s", tt.endpoint, tt.base, err, tt.want, tt.text)
		}
	}
}

// An endpoint of another origin makes Connect fail, and nothing is ever sent there.
func TestSSEEndpointOfAnotherOrigin(t *testing.T) {
	other := newSSEFake()
	f := newSSEFake()
	f.endpoint = other.listen(t)
	c := NewSSE(HTTPOptions{URL: f.listen(t)})
	err := c.Connect(sseContext(t))
	var failure *HTTPError
	if !errors.As(err, &failure) || !strings.Contains(failure.Text, "another origin") {
		t.Fatal(err)
	}
	<-f.left
	sendSSE(c, "x")
	if len(other.posts)+len(other.opened) > 0 {
		t.Error("the other origin was called")
	}
}

// If the server answers the GET with something other than a stream, the error has the status and says what it was.
func TestSSEConnectRefused(t *testing.T) {
	answer := func(status int, kind, body string, header ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
			return true
		}
	}
	for name, tt := range map[string]struct {
		open   func(http.ResponseWriter, *http.Request) bool
		status int
		text   string
		wait   time.Duration
	}{
		"404": {open: answer(404, "text/plain", "no\r\n such \x1b[31mpage"), status: 404,
			text: "opened no event stream: no such [31mpage"},
		"405": {open: answer(405, "text/html", "<p>no"), status: 405, text: "opened no event stream"},
		"401": {open: answer(401, "application/json", `{"error":"x"}`), status: 401, text: `{"error":"x"}`},
		"429": {open: answer(429, "text/plain", "", "Retry-After", "700"), status: 429, text: "too many requests",
			wait: 700 * time.Second},
		"500, long": {open: answer(500, "text/plain", strings.Repeat("ä", 100_000)), status: 500, text: "ääää"},
		"204":       {open: answer(204, "text/event-stream", ""), status: 204, text: "opened no event stream"},
		"HTML": {open: answer(200, "text/html; charset=utf-8", "<html>"), status: 200,
			text: "sent text/html in place"},
		"no type": {open: answer(200, "", "x"), status: 200, text: "in place of an event stream"},
		"compressed": {open: answer(200, "text/event-stream", "\x1f\x8b", "Content-Encoding", "gzip"), status: 200,
			text: "an encoding that was not asked for: gzip"},
		"ended": {open: answer(200, "text/event-stream", "data: x\n\n"), status: 200,
			text: "before it named an endpoint"},
		"not an endpoint": {open: answer(200, "text/event-stream", "event: endpoint\ndata: :\n\n"), status: 200,
			text: "no URL"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSSEFake()
			f.open = tt.open
			c := NewSSE(HTTPOptions{URL: f.listen(t)})
			err := c.Connect(sseContext(t))
			var failure *HTTPError
			if !errors.As(err, &failure) {
				t.Fatal(err)
			}
			if failure.Status != tt.status || !strings.Contains(failure.Text, tt.text) || failure.RetryAfter != tt.wait ||
				len(failure.Text) > 600 {
				t.Errorf("%+v", failure)
			}
			if _, again := c.Receive(); again != err {
				t.Errorf("then %v", again)
			}
		})
	}
}

func TestSSENoServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	for url, text := range map[string]string{s.URL: "was not reached", "ftp://h/secret": "cannot be used",
		"\x00": "cannot be used", "http://": "cannot be used", "": "cannot be used"} {
		err := NewSSE(HTTPOptions{URL: url}).Connect(sseContext(t))
		var failure *HTTPError
		if !errors.As(err, &failure) || failure.Status != 0 || failure.Delivery != NotSent ||
			!strings.Contains(failure.Text, text) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// Notifications arrive in the order in which they were sent, and before the requests that came after initialized.
func TestSSEPostsInOrder(t *testing.T) {
	f := newSSEFake()
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	c.Send(Message{Method: "notifications/initialized", Body: []byte("initialized")})
	sendSSE(c, "first request")
	if a, b := <-f.posts, <-f.posts; a.body != "initialized" || b.body != "first request" {
		t.Errorf("posted %q, then %q", a.body, b.body)
	}
	for i := range 50 {
		c.Send(Message{Method: "notifications/x", Body: []byte(fmt.Sprint(i))})
	}
	for i := range 50 {
		if p := <-f.posts; p.body != fmt.Sprint(i) {
			t.Fatalf("posted %q, want %d", p.body, i)
		}
	}
}

// POSTs have the version header from revision 2025-06-18 on, once the revision is known.
func TestSSESpeak(t *testing.T) {
	f := newSSEFake()
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	for i, tt := range []struct{ speak, want string }{
		{"", ""}, {"2024-11-05", ""}, {"2025-03-26", ""}, {"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
	} {
		if tt.speak != "" {
			c.Speak(false, tt.speak)
		}
		if got := f.sentSSE(c, fmt.Sprint("x", i))[0].header.Get("MCP-Protocol-Version"); got != tt.want {
			t.Errorf("after Speak(%q) a POST has the version %q, want %q", tt.speak, got, tt.want)
		}
	}
}
