package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// wantSSEFailed reads the failure of one request.
func wantSSEFailed(t *testing.T, c *SSE, text string) *HTTPError {
	t.Helper()
	r, err := c.Receive()
	failure, ok := r.Err.(*HTTPError)
	if err != nil || !ok || r.Body != nil || r.FailedID != strconv.Quote(text) {
		t.Fatalf("read %q, %q failed: %v, %v; want the failure of %q", r.Body, r.FailedID, r.Err, err, text)
	}
	return failure
}

// A request that the server refuses fails, with what is known about it; later ones go out, and reading goes on. One
// whose POST is cut after it was written does not fail: its answer comes on the stream, or the stream ends. Finding B3.
func TestSSERefusedMessageIsReported(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, _ *http.Request, body string) {
		switch body {
		case "bad":
			http.Error(w, "can\nnot read", http.StatusBadRequest)
		case "busy":
			w.Header().Set("Retry-After", "300")
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
	for _, want := range []struct {
		message string
		status  int
		text    string
		fate    Delivery
		wait    time.Duration
	}{
		{"bad", 400, "refused the request: can not read", MayHaveRun, 0},
		{"busy", 429, "refused the request", NotSent, 300 * time.Second},
		{"cut", 0, "", 0, 0},
		{"fault", 500, "refused the request", MayHaveRun, 0},
		{"moved", 302, "drop the message", NotSent, 0},
	} {
		f.sentSSE(c, want.message)
		if want.status == 0 {
			continue
		}
		e := wantSSEFailed(t, c, want.message)
		if e.Status != want.status || !strings.Contains(e.Text, want.text) || e.Delivery != want.fate ||
			e.RetryAfter != want.wait || e.Sent != 1 {
			t.Errorf("%s: %+v", want.message, e)
		}
	}
	f.sentSSE(c, "good")
	f.say <- "data: 1\n\n"
	wantSSEMessage(t, c, "1")
}

// A 404 on a POST says that the session is over, so the connection ends. The request that got the 404 has not run.
func TestSSESessionGone(t *testing.T) {
	f := newSSEFake()
	f.post = func(w http.ResponseWriter, r *http.Request, _ string) { http.NotFound(w, r) }
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	sendSSE(c, "a")
	if e := wantSSEFailed(t, c, "a"); e.Delivery != NotSent || !errors.Is(e, ErrSessionExpired) || e.Status != 404 {
		t.Errorf("%+v", e)
	}
	for range 2 {
		if _, err := c.Receive(); err != ErrSessionExpired {
			t.Errorf("read: %v", err)
		}
	}
	sendSSE(c, "b")
	<-f.left
	_ = c.Close()
	if n := len(f.posts); n != 1 {
		t.Errorf("%d POSTs, want 1", n)
	}
}

// The server closes the stream: what came before is read, then io.EOF. A stream that breaks off has another error.
func TestSSEStreamEnds(t *testing.T) {
	f := newSSEFake()
	c := connectSSE(t, HTTPOptions{URL: f.listen(t)})
	f.say <- "data: last\n\n"
	close(f.say)
	wantSSEMessage(t, c, "last")
	for range 2 {
		if _, err := c.Receive(); err != io.EOF {
			t.Fatal(err)
		}
	}
	sendSSE(c, "x")
	if len(f.opened) != 1 || len(f.posts) != 0 {
		t.Error("the stream was opened again")
	}

	f = newSSEFake()
	c = connectSSE(t, HTTPOptions{URL: f.listen(t)})
	f.say <- "data: half a mess"
	close(f.say)
	var failure *HTTPError
	if _, err := c.Receive(); !errors.As(err, &failure) || failure.Status != 0 || failure.Delivery != MayHaveRun ||
		!errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that was cut ends with %v", err)
	}
}

// The stream breaks during calls whose POSTs are not answered yet: the POSTs and all connections end without Close.
func TestSSEServerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		p, client := f.serve(t)
		gone, cancel := context.WithCancelCause(t.Context())
		f.post = func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: dyingServer{client, gone}})
		f.sentSSE(c, "a", "b")
		cancel(errSSETestOver)
		var failure *HTTPError
		if err := sseEnd(c); !errors.As(err, &failure) || failure.Status != 0 {
			t.Fatalf("read: %v", err)
		}
		c.work.Wait() // without Close
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

// A server that answers a POST only when its tool is done, or never: no request fails for that, and no other message
// waits for it. The POST ends with the answer on the stream. Finding B3.
func TestSSESlowPOSTHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		p, client := f.serve(t)
		f.post = func(_ http.ResponseWriter, r *http.Request, body string) {
			if strings.Contains(body, "slow") {
				<-r.Context().Done()
			}
		}
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		begun := time.Now()
		c.Send(Message{Method: "notifications/slow", Body: []byte("slow notification")})
		<-f.posts
		c.Send(Message{ID: "1", Method: "tools/call", Body: []byte("slow call")})
		c.Send(Message{ID: "2", Method: "tools/call", Body: []byte("another slow call")})
		c.Send(Message{Body: []byte("answer")})
		for range 3 {
			<-f.posts
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("the last message went out after %v", took)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		open := p.openConns()
		f.say <- "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
		wantSSEMessage(t, c, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		time.Sleep(afterAnswer)
		synctest.Wait()
		if n := p.openConns(); n != open-1 {
			t.Errorf("%d connections are open, %d before", n, open)
		}
	})
}

// The body of a successful answer to a POST is ignored: one that never ends causes no failure, and is closed after
// drainLimit.
func TestSSEBodyOfAGoodAnswerIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		_, client := f.serve(t)
		left := make(chan time.Duration, 1)
		begun := time.Now()
		f.post = func(w http.ResponseWriter, r *http.Request, _ string) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			left <- time.Since(begun)
		}
		c := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		f.sentSSE(c, "a")
		go func() { f.say <- "data: 1\n\n" }()
		wantSSEMessage(t, c, "1")
		time.Sleep(time.Minute)
		if after := <-left; after != drainLimit {
			t.Errorf("it was left after %v", after)
		}
	})
}
