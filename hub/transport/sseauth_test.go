package transport

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sseSigner signs with a token, and gets the next one when a server refuses it.
type sseSigner struct {
	wait  func(context.Context) // Authorize calls it first; nil if it takes no time
	fails error                 // what Authorize returns

	mu    sync.Mutex
	token int // guarded by mu
	asked int // guarded by mu
}

func (s *sseSigner) Sign(_ context.Context, req *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token > 0 {
		req.Header.Set("Authorization", strings.Repeat("I", s.token))
	}
	return nil
}

func (s *sseSigner) Authorize(ctx context.Context, _ *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	if s.wait != nil {
		s.wait(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.token++
	return s.fails
}

func (*sseSigner) Observe(*http.Request, *http.Response) bool { return false }

func (s *sseSigner) timesAsked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// guarded refuses the GET without a token, and POSTs without the second token. It always refuses a POST of "closed".
func guarded(f *sseFake) {
	f.open = func(w http.ResponseWriter, r *http.Request) bool {
		refuse := r.Header.Get("Authorization") == ""
		if refuse {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return refuse
	}
	f.post = func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case body == "closed":
			w.WriteHeader(http.StatusForbidden)
		case len(r.Header.Get("Authorization")) < 2:
			w.WriteHeader(http.StatusForbidden)
		}
	}
}

// A request that is refused with 401 or 403 goes out once more, with a new token, and only once.
func TestSSEAuthorize(t *testing.T) {
	f := newSSEFake()
	guarded(f)
	signer := &sseSigner{}
	c := connectSSE(t, HTTPOptions{URL: f.listen(t), Auth: signer})
	if n := signer.timesAsked(); n != 1 {
		t.Errorf("asked %d times for the stream", n)
	}
	sendSSE(c, "a")
	for range 2 {
		if p := <-f.posts; p.body != "a" {
			t.Errorf("posted %q", p.body)
		}
	}
	if p := f.sentSSE(c, "b")[0]; p.body != "b" {
		t.Errorf("posted %q", p.body)
	}
	if n := signer.timesAsked(); n != 2 {
		t.Errorf("asked %d times in all, for the stream and a message", n)
	}
	sendSSE(c, "closed")
	if e := wantSSEFailed(t, c, "closed"); e.Status != http.StatusForbidden || e.Delivery != NotSent {
		t.Errorf("%+v", e)
	}
	if n := signer.timesAsked(); n != 3 {
		t.Errorf("asked %d times in all, once for the message without a chance", n)
	}
}

// If there is no Authorizer, or it fails, the error has the status and the reason.
func TestSSEAuthorizeFails(t *testing.T) {
	f := newSSEFake()
	guarded(f)
	declined := errors.New("the user declined")
	var failure *HTTPError
	for _, auth := range []Authorizer{nil, &sseSigner{fails: declined}, unsigned{declined}} {
		err := NewSSE(HTTPOptions{URL: f.listen(t), Auth: auth}).Connect(sseContext(t))
		if !errors.As(err, &failure) || auth != nil && !errors.Is(err, declined) {
			t.Fatal(err)
		}
		want := http.StatusUnauthorized
		if _, never := auth.(unsigned); never {
			want = 0
		}
		if failure.Status != want {
			t.Errorf("status %d, want %d", failure.Status, want)
		}
	}
}

// unsigned is an Authorizer that cannot sign.
type unsigned struct{ err error }

func (u unsigned) Sign(context.Context, *http.Request) error { return u.err }

func (u unsigned) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	return errors.Join(u.err, resp.Body.Close())
}

func (unsigned) Observe(*http.Request, *http.Response) bool { return false }

// A user may take longer to sign in than a server may take to answer: the timeout of the POST does not run meanwhile.
// And Close does not wait for the user.
func TestSSESignInTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		guarded(f)
		f.open = nil
		_, client := f.serve(t)
		signer := &sseSigner{wait: func(ctx context.Context) {
			select {
			case <-time.After(10 * postTimeout):
			case <-ctx.Done():
			}
		}, token: 1}
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client, Auth: signer})
		sendSSE(c, "a")
		<-f.posts
		if p := <-f.posts; p.body != "a" || p.header.Get("Authorization") != "II" {
			t.Errorf("%+v", p)
		}
		// Nor does the timeout of an answer to the server, which otherwise has one.
		c.Send(Message{Body: []byte("closed")})
		<-f.posts
		time.Sleep(postTimeout + time.Second)
		if n := signer.timesAsked(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		begun := time.Now()
		c.Close()
		if took := time.Since(begun); took != 0 {
			t.Errorf("Close took %v", took)
		}
	})
}

// Redirects are followed within the origin: a message stays a POST, and a relative endpoint is resolved against the URL
// where the stream was found.
func TestSSERedirectsWithinTheOrigin(t *testing.T) {
	f := newSSEFake()
	f.endpoint = "messages"
	f.open = func(w http.ResponseWriter, r *http.Request) bool {
		elsewhere := r.URL.Path != "/deep/sse/"
		if elsewhere {
			http.Redirect(w, r, "/deep/sse/", http.StatusFound)
		}
		return elsewhere
	}
	f.post = func(w http.ResponseWriter, r *http.Request, _ string) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Location", r.URL.Path+"/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	sendSSE(c, "a")
	for _, want := range []string{"/deep/sse/messages", "/deep/sse/messages/"} {
		if p := <-f.posts; p.path != want || p.body != "a" {
			t.Errorf("posted %q to %q, want %q", p.body, p.path, want)
		}
	}
	go func() { f.say <- "data: 1\n\n" }()
	wantSSEMessage(t, c, "1") // and no failure before it
}

// Redirects to another origin, to no valid URL or without end are not followed; another origin gets no request.
func TestSSERedirectsRefused(t *testing.T) {
	other := newSSEFake()
	elsewhere := other.listen(t)
	for location, text := range map[string]string{
		elsewhere + "?key=secret": "another place", "": "nowhere", "http://h/%zz": "nowhere", "/sse": "without end",
	} {
		f := newSSEFake()
		f.open = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusPermanentRedirect)
			return true
		}
		err := NewSSE(HTTPOptions{URL: f.listen(t)}).Connect(sseContext(t))
		var failure *HTTPError
		if !errors.As(err, &failure) || failure.Status != http.StatusPermanentRedirect ||
			!strings.Contains(failure.Text, text) || strings.Contains(failure.Text, "secret") {
			t.Errorf("%q: %v", location, err)
		}
		if n := len(f.opened); n > maxRedirects+1 {
			t.Errorf("%q: followed %d times", location, n)
		}

		f = newSSEFake()
		f.post = func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
		c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
		sendSSE(c, "a")
		if e := wantSSEFailed(t, c, "a"); e.Status != http.StatusTemporaryRedirect || e.Delivery != NotSent ||
			!strings.Contains(e.Text, text) {
			t.Errorf("%q: %+v", location, e)
		}
	}
	if len(other.opened)+len(other.posts) > 0 {
		t.Error("the other origin was called")
	}
}

// Over HTTP/2 the stream and the messages share a connection, and Close resets the one stream. A server without a
// trusted certificate gets no request.
func TestSSEOverTLS(t *testing.T) {
	f := newSSEFake()
	s := httptest.NewUnstartedServer(f)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs the handshake that is to fail
	s.StartTLS()
	defer s.Close()
	if err := NewSSE(HTTPOptions{URL: s.URL}).Connect(sseContext(t)); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	trusted := httptest.NewUnstartedServer(f)
	trusted.EnableHTTP2 = true
	trusted.StartTLS()
	defer trusted.Close()
	client := trusted.Client().Transport
	c := connectSSE(t, HTTPOptions{URL: trusted.URL, RoundTripper: client})
	if r := <-f.opened; r.ProtoMajor != 2 {
		t.Errorf("HTTP/%d", r.ProtoMajor)
	}
	f.sentSSE(c, "a")
	f.say <- "data: 1\n\n"
	wantSSEMessage(t, c, "1")
	c.Close()
	<-f.left // one stream was reset; the connection is the client's
}
