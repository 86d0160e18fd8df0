package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wantPostError reads the news of one message that failed.
func wantPostError(t *testing.T, c *SSE, message string) *HTTPError {
	t.Helper()
	msg, err := c.ReadMessage()
	var failure *PostError
	if !errors.As(err, &failure) || msg != nil || string(failure.Message) != message {
		t.Fatalf("read %q, %v; want the failure of %q", msg, err, message)
	}
	return failure.Err
}

// A message that is refused is reported with its bytes; the ones after it go out, and reading goes on.
func TestSSERefusedMessageIsReported(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, _ *http.Request, body string) {
		switch body {
		case "bad":
			http.Error(w, "can\nnot read", http.StatusBadRequest)
		case "busy":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		case "fault":
			w.WriteHeader(http.StatusInternalServerError)
		case "cut":
			panic(http.ErrAbortHandler)
		case "moved":
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound) // would make a GET of it
		}
	}
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	writeSSE(t, c, "bad", "busy", "fault", "cut", "moved", "good")
	for _, want := range []struct {
		message string
		status  int
		text    string
		fate    Delivery
		wait    time.Duration
	}{
		{"bad", 400, "refused a message: can not read", NotSent, 0},
		{"busy", 429, "refused a message", NotSent, 3 * time.Second},
		{"fault", 500, "refused a message", MayHaveRun, 0},
		{"cut", 0, "gave no answer", MayHaveRun, 0},
		{"moved", 302, "refused a message", NotSent, 0},
	} {
		e := wantPostError(t, c, want.message)
		if e.Status != want.status || !strings.Contains(e.Text, want.text) || e.Delivery != want.fate || e.RetryAfter != want.wait {
			t.Errorf("%s: %+v", want.message, e)
		}
	}
	f.say <- "data: 1\n\n"
	wantSSEMessage(t, c, "1")
	for range 5 {
		<-f.posts
	}
	if p := <-f.posts; p.body != "good" {
		t.Errorf("the last message was %q", p.body)
	}
}

// 404 on a POST says that the session is gone, and with it everything.
func TestSSESessionGone(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, r *http.Request, _ string) { http.NotFound(w, r) }
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	if err := c.WriteMessages(sseBatch("a", "b")); err != ErrSessionExpired {
		t.Errorf("write: %v", err)
	}
	for range 2 {
		if _, err := c.ReadMessage(); err != ErrSessionExpired {
			t.Errorf("read: %v", err)
		}
	}
	if err := c.WriteMessages(sseBatch("c")); err != ErrSessionExpired {
		t.Errorf("write: %v", err)
	}
	<-f.left
	if n := len(f.posts); n != 1 {
		t.Errorf("%d POSTs, want 1", n)
	}
}

// The server closes the stream: what it said before is read, then io.EOF; a broken stream is told from that.
func TestSSEStreamEnds(t *testing.T) {
	f := newSSEFake()
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	f.say <- "data: last\n\n"
	close(f.say)
	wantSSEMessage(t, c, "last")
	for range 2 {
		if _, err := c.ReadMessage(); err != io.EOF {
			t.Fatal(err)
		}
	}
	if err := c.WriteMessages(sseBatch("x")); err != io.EOF {
		t.Errorf("write after the end: %v", err)
	}
	if len(f.opened) != 1 {
		t.Error("the stream was opened again")
	}

	f = newSSEFake()
	c = connectSSE(t, HTTPOptions{URL: f.listen(t)})
	f.say <- "data: half a mess"
	close(f.say)
	var failure *HTTPError
	if _, err := c.ReadMessage(); !errors.As(err, &failure) || failure.Status != 0 || failure.Delivery != MayHaveRun || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that was cut ends with %v", err)
	}
}

// The stream breaks in the middle of a call whose POST is not answered yet: reader and writer end with the one reason.
func TestSSEServerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		p, client := f.serve(t)
		gone, cancel := context.WithCancelCause(t.Context())
		f.post = func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: dyingServer{client, gone}})
		written := make(chan error, 1)
		go func() { written <- c.WriteMessages(sseBatch("a", "b")) }()
		<-f.posts
		cancel(errSSETestOver)
		var failure *HTTPError
		_, err := c.ReadMessage()
		if !errors.As(err, &failure) || failure.Status != 0 {
			t.Fatalf("read: %v", err)
		}
		if got := <-written; got != err {
			t.Errorf("write: %v, read: %v", got, err)
		}
		client.CloseIdleConnections()
		synctest.Wait()
		if n := p.openConns(); n != 0 {
			t.Errorf("%d connections left", n)
		}
	})
}

// dyingServer breaks the body of the event stream, as a reset does.
type dyingServer struct {
	http.RoundTripper
	gone context.Context
}

func (d dyingServer) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if err == nil && req.Method == http.MethodGet {
		r, w := io.Pipe()
		body := resp.Body
		go func() {
			_, err := io.Copy(w, body)
			w.CloseWithError(err)
		}()
		context.AfterFunc(d.gone, func() { w.CloseWithError(errors.New("connection reset")) })
		resp.Body = pipedBody{r, body}
	}
	return resp, err
}

type pipedBody struct {
	*io.PipeReader
	body io.Closer
}

func (b pipedBody) Close() error { return errors.Join(b.PipeReader.Close(), b.body.Close()) }

// A server that does not answer a POST within its time fails that message, with the limit as the cause; the next goes out.
func TestSSEPostLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		_, client := f.serve(t)
		f.post = func(_ http.ResponseWriter, r *http.Request, body string) {
			if body == "slow" {
				<-r.Context().Done()
			}
		}
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		begun := time.Now()
		writeSSE(t, c, "slow", "next")
		if took := time.Since(begun); took != postLimit {
			t.Errorf("it took %v", took)
		}
		e := wantPostError(t, c, "slow")
		if e.Status != 0 || e.Delivery != MayHaveRun || !errors.Is(e, errPostLimit) || !strings.Contains(e.Text, "30 s") {
			t.Errorf("%+v", e)
		}
		<-f.posts
		if p := <-f.posts; p.body != "next" {
			t.Errorf("then came %q", p.body)
		}
	})
}

// The body of a good answer is of no interest: one that never ends holds up the next message for a second at most, and fails
// nothing.
func TestSSEBodyOfAGoodAnswerIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		_, client := f.serve(t)
		f.post = func(w http.ResponseWriter, r *http.Request, body string) {
			if body == "a" {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		}
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		begun := time.Now()
		writeSSE(t, c, "a", "b")
		if took := time.Since(begun); took != drainLimit {
			t.Errorf("it took %v", took)
		}
		go func() { f.say <- "data: 1\n\n" }()
		wantSSEMessage(t, c, "1")
	})
}

// Failures that nobody reads make the writer wait, not the memory grow; and Close ends the waiting.
func TestSSEUnreadFailuresHoldTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		_, client := f.serve(t)
		f.post = func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusBadRequest) }
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		var writer sync.WaitGroup
		writer.Go(func() {
			for range 10 * failedPosts {
				c.WriteMessages(sseBatch("x"))
			}
		})
		synctest.Wait()
		if n := len(f.posts); n != failedPosts+1 {
			t.Errorf("%d messages went out", n)
		}
		wantPostError(t, c, "x")
		synctest.Wait()
		if n := len(f.posts); n != failedPosts+2 {
			t.Errorf("then %d messages had gone out", n)
		}
		c.Close()
		writer.Wait()
	})
}
