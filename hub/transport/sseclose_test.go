package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Connect ends with its context, whether it waits for the headers or for the endpoint, and leaves no connection.
func TestSSEConnectIsCancelled(t *testing.T) {
	cause := errors.New("the user went away")
	for _, headers := range []bool{false, true} {
		t.Run(fmt.Sprintf("headers came %t", headers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newSSEFake()
				f.open = func(w http.ResponseWriter, r *http.Request) bool {
					w.Header().Set("Content-Type", "text/event-stream")
					for headers && r.Context().Err() == nil { // a stream that lives, but names no endpoint
						w.Write([]byte(": ping\n\n"))
						w.(http.Flusher).Flush()
						time.Sleep(time.Second)
					}
					<-r.Context().Done()
					return true
				}
				p, client := f.serve(t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, cause)
				defer cancel()
				c := NewSSE(HTTPOptions{URL: "http://h/sse", RoundTripper: client})
				begun := time.Now()
				err := c.Connect(ctx)
				var failure *HTTPError
				if !errors.Is(err, cause) || !errors.As(err, &failure) || !strings.Contains(failure.Text, "named no endpoint") {
					t.Error(err)
				}
				if took := time.Since(begun); took != 10*time.Second {
					t.Errorf("it took %v", took)
				}
				<-f.left
				synctest.Wait()
				if n := p.openConns(); n != 0 {
					t.Errorf("%d connections left", n)
				}
				if _, err := c.Receive(); !errors.Is(err, cause) {
					t.Errorf("read: %v", err)
				}
			})
		})
	}
}

// An endpoint that comes late, but in time, is used; after Connect has returned, its context has no effect.
func TestSSEConnectSlowEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		f.endpoint = ""
		_, client := f.serve(t)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errSSETestOver)
		defer cancel()
		c := NewSSE(HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		defer c.Close()
		go func() {
			time.Sleep(9 * time.Second)
			f.say <- "event: endpoint\ndata: /m\n\n"
			time.Sleep(24 * time.Hour)
			f.say <- "data: 1\n\n"
		}()
		if err := c.Connect(ctx); err != nil {
			t.Fatal(err)
		}
		wantSSEMessage(t, c, "1")
	})
}

// Close may be called by any goroutine, at any time and repeatedly. It leaves neither goroutines (or the bubble would
// not end) nor connections. Receive and Connect return ErrHTTPClosed; a POST that Close cuts reports no error.
func TestSSECloseLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		p, client := f.serve(t)
		f.post = func(_ http.ResponseWriter, r *http.Request, body string) {
			if body == "hang" {
				<-r.Context().Done()
			}
		}
		c := NewSSE(HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.sentSSE(c, "a", "b")
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := c.Receive(); err != ErrHTTPClosed {
				t.Errorf("read: %v", err)
			}
		})
		sendSSE(c, "hang")
		synctest.Wait()
		begun := time.Now()
		for range 8 {
			all.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(begun); took != 0 {
			t.Errorf("Close took %v", took)
		}
		sendSSE(c, "late")
		if _, err := c.Receive(); err != ErrHTTPClosed {
			t.Errorf("read after Close: %v", err)
		}
		if err := c.Connect(t.Context()); err != ErrHTTPClosed {
			t.Errorf("connect after Close: %v", err)
		}
		client.CloseIdleConnections()
		<-f.left
		synctest.Wait()
		if n := p.openConns(); n != 0 {
			t.Errorf("%d connections left", n)
		}
		if n := len(f.posts); n != 1 {
			t.Errorf("%d POSTs", n)
		}
	})
}

// Close returns while a message waits for a Receive that is never called.
func TestSSECloseWithUnreadMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		_, client := f.serve(t)
		c := NewSSE(HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.say <- "data: 1\n\ndata: 2\n\n"
		synctest.Wait()
		c.Close()
		<-f.left
	})
}

func TestSSECloseDuringConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSSEFake()
		f.endpoint = ""
		p, client := f.serve(t)
		c := NewSSE(HTTPOptions{URL: "http://h/sse", RoundTripper: client})
		opened := make(chan error)
		go func() { opened <- c.Connect(t.Context()) }()
		synctest.Wait()
		c.Close()
		if err := <-opened; err != ErrHTTPClosed {
			t.Error(err)
		}
		<-f.left
		synctest.Wait()
		if n := p.openConns(); n != 0 {
			t.Errorf("%d connections left", n)
		}
	})
}

// On real sockets, with the transport's own HTTP client: Close closes every connection to the server.
func TestSSECloseEndsRealConnections(t *testing.T) {
	f := newSSEFake()
	gone := make(chan struct{}, 100)
	s := httptest.NewUnstartedServer(f)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			gone <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	for range 20 {
		c := NewSSE(HTTPOptions{URL: s.URL})
		if err := c.Connect(sseContext(t)); err != nil {
			t.Fatal(err)
		}
		f.sentSSE(c, "x")
		c.Close()
		for range 2 { // that of the stream and that of the POST
			<-gone
		}
		<-f.left
	}
}
