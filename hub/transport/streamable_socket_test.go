package transport

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// These tests use real sockets: what they show lies in net/http and below.

// connCount counts the connections of a test server.
type connCount struct {
	mu     sync.Mutex
	opened int
	open   map[net.Conn]bool
	none   chan struct{} // closed, and made anew, when open gets empty
}

func (c *connCount) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		c.opened++
		c.open[conn] = true
	case http.StateClosed, http.StateHijacked:
		if delete(c.open, conn); len(c.open) == 0 {
			close(c.none)
			c.none = make(chan struct{})
		}
	}
}

func (c *connCount) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// gone waits until no connection is open.
func (c *connCount) gone(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	open, none := len(c.open), c.none
	c.mu.Unlock()
	if open > 0 {
		hangs(t, none, fmt.Sprintf("%d connections are open", open))
	}
}

// hangs receives from ch.
func hangs[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(faketime.Long):
		t.Fatal("still waiting: " + what)
		panic("unreachable")
	}
}

func socketServer(t *testing.T, h http.HandlerFunc, http2 bool) (*httptest.Server, *connCount, HTTPOptions) {
	count := &connCount{open: map[net.Conn]bool{}, none: make(chan struct{})}
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ConnState = count.state
	o := HTTPOptions{}
	if http2 {
		srv.EnableHTTP2 = true
		// All exchanges of a test share one connection: with the default of 250 streams, the others would dial all at once,
		// and on a busy machine some of so many handshakes take longer than the client waits.
		srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2000}
		srv.StartTLS()
		rt := newRoundTripper()
		rt.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		t.Cleanup(rt.close)
		o.RoundTripper = rt
	} else {
		srv.Start()
	}
	o.URL = srv.URL
	t.Cleanup(func() {
		srv.CloseClientConnections() // else Close waits for ever for the handlers of a test that has failed
		srv.Close()
	})
	return srv, count, o
}

func TestHTTP2AbortResetsOneStream(t *testing.T) {
	arrived, reset, finish := make(chan string, 10), make(chan string, 10), make(chan struct{})
	_, count, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the request came over %s", r.Proto)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		name := r.Header.Get("Mcp-Name")
		if name == "mid-stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+hello+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		arrived <- name
		select {
		case <-r.Context().Done():
			reset <- name
		case <-finish:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":3,"result":1}`)
		}
	}, true)
	s := NewStreamable(o)
	s.Speak(true, "2026-07-28")
	for id, name := range map[string]string{"1": "before headers", "2": "mid-stream", "3": "lives"} {
		s.Send(Message{ID: id, Method: "tools/call", Name: name, Body: message(id, "tools/call")})
		hangs(t, arrived, "the request")
	}
	if r, err := s.Receive(); err != nil || r.Stream != "2" {
		t.Fatalf("%+v %v", r, err)
	}
	for _, c := range []struct{ id, name string }{{"1", "before headers"}, {"2", "mid-stream"}} {
		s.Abort(c.id)
		if got := hangs(t, reset, "the reset of "+c.name); got != c.name {
			t.Errorf("%s was reset", got)
		}
	}
	close(finish)
	if r, err := s.Receive(); err != nil || string(r.Body) != `{"jsonrpc":"2.0","id":3,"result":1}` {
		t.Errorf("%+v %v", r, err)
	}
	if n := count.total(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	_ = s.Close()
	o.RoundTripper.(*roundTripper).close()
	count.gone(t)
}

// Over HTTP/2, too, the transport knows that a request was written, so that its cancel sends a notification first.
func TestHTTP2CancelAndAbort_real(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	_, _, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "cancelled") {
			seen <- "notification"
			w.WriteHeader(http.StatusAccepted)
			return
		}
		seen <- "call"
		<-r.Context().Done()
		seen <- "closed"
	}, true)
	s := NewStreamable(o)
	defer func() { _ = s.Close() }()
	s.Speak(false, "2025-11-25")
	s.Send(Message{ID: "1", Method: "tools/call", Body: message("1", "tools/call")})
	for i, want := range []string{"call", "notification", "closed"} {
		if got := hangs(t, seen, want); got != want {
			t.Errorf("seen %s, want %s", got, want)
		}
		if i == 0 {
			s.CancelAndAbort("1", cancelNote, func(error) {})
		}
	}
}

func TestNothingLeft1000Aborts_real(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("HTTP/2: ", http2), func(t *testing.T) {
			const n = 1000
			arrived, left := make(chan struct{}, n), make(chan struct{}, n)
			_, count, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if strings.HasSuffix(r.Header.Get("Mcp-Name"), "1") {
					w.Header().Set("Content-Type", "text/event-stream")
					_ = http.NewResponseController(w).Flush()
				}
				arrived <- struct{}{}
				<-r.Context().Done()
				left <- struct{}{}
			}, http2)
			before := runtime.NumGoroutine()
			s := NewStreamable(o)
			s.Speak(true, "2026-07-28")
			for i := range n {
				id := fmt.Sprint(i)
				s.Send(Message{ID: id, Method: "tools/call", Name: id, Body: message(id, "tools/call")})
				if i == 0 && http2 {
					hangs(t, arrived, "the first") // before they know that it is HTTP/2, all would dial
					arrived <- struct{}{}
				}
			}
			for range n {
				hangs(t, arrived, "the requests")
			}
			for i := range n {
				s.Abort(fmt.Sprint(i))
			}
			for range n {
				hangs(t, left, "the aborts")
			}
			if !http2 {
				count.gone(t) // an aborted HTTP/1.1 exchange closes its connection, without Close
			}
			s.mu.Lock()
			open := len(s.st.open)
			s.mu.Unlock()
			if open != 0 {
				t.Errorf("%d exchanges are left", open)
			}
			_ = s.Close()
			if http2 {
				o.RoundTripper.(*roundTripper).close()
				count.gone(t)
			}
			deadline := time.Now().Add(faketime.Long) // the ends of net/http's goroutines cannot be waited for
			for runtime.NumGoroutine() > before {
				if runtime.Gosched(); time.Now().After(deadline) {
					buf := make([]byte, 1<<16)
					t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
				}
			}
		})
	}
}

func TestCloseLeavesNoConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("HTTP/2: ", http2), func(t *testing.T) {
			arrived := make(chan struct{}, 10)
			_, count, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if arrived <- struct{}{}; r.Header.Get("Mcp-Method") == "slow" {
					<-r.Context().Done()
				}
			}, http2)
			s := NewStreamable(o)
			if rt, ok := o.RoundTripper.(*roundTripper); ok {
				s.own = rt // it was passed in for its certificates only
			}
			s.Speak(true, "2026-07-28")
			for id, method := range map[string]string{"1": "slow", "2": "quick", "3": "slow"} {
				s.Send(Message{ID: id, Method: method, Body: message(id, method)})
				hangs(t, arrived, "the request")
			}
			_ = s.Close()
			count.gone(t)
		})
	}
}

// A dial that ends after everything was closed leaves no connection either.
func TestRoundTripperClosedWhileDialling(t *testing.T) {
	rt := newRoundTripper()
	here, there := net.Pipe()
	rt.close()
	if _, err := rt.keep(here); err == nil {
		t.Error("a closed client took a connection")
	}
	if _, err := there.Write([]byte{0}); err != io.ErrClosedPipe {
		t.Errorf("the connection is open: %v", err)
	}
}

// A message as long as the limit allows comes whole. With -short the limit is 4 MiB.
func TestLargeEvent64MiB_long(t *testing.T) {
	limit, size := 0, defaultMaxMessageBytes
	if testing.Short() {
		limit, size = 4<<20, 4<<20
	}
	const frame = len(`{"jsonrpc":"2.0","id":1,"result":""}`)
	text := strings.Repeat("0123456789abcdef", size/16)[frame:]
	for name, c := range map[string]struct{ kind, before, after string }{
		"event": {"text/event-stream", "id: 1\ndata: ", "\n\n"},
		"JSON":  {"application/json", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", c.kind)
				for _, part := range []string{c.before, `{"jsonrpc":"2.0","id":1,"result":"`, text, `"}`, c.after} {
					_, _ = io.WriteString(w, part)
				}
			}, false)
			o.MaxMessageBytes = limit
			s := NewStreamable(o)
			defer func() { _ = s.Close() }()
			s.Speak(true, "2026-07-28")
			s.Send(Message{ID: "1", Method: "x", Body: message("1", "x")})
			r, err := s.Receive()
			if err != nil || len(r.Body) != size || !strings.HasSuffix(string(r.Body), text+`"}`) {
				t.Errorf("received %d bytes; failed %q: %v; %v", len(r.Body), r.FailedID, r.Err, err)
			}
		})
	}
}

// Answers are read to their ends, so one connection serves one call after the other, in every form of answer.
func TestConnectionIsUsedAgain_real(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, text string){
		"JSON": func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		},
		"JSON in chunks": func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, text)
		},
		"event stream": func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+text+"\n\n")
		},
		"error status": func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = io.WriteString(w, strings.Replace(text, "result", "error", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			_, count, o := socketServer(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				n++
				answer(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n))
			}, false)
			s := NewStreamable(o)
			defer func() { _ = s.Close() }()
			s.Speak(true, "2026-07-28")
			for i := 1; i <= 20; i++ {
				s.Send(Message{ID: fmt.Sprint(i), Method: "x", Body: message(fmt.Sprint(i), "x")})
				if r, err := s.Receive(); err != nil || r.FailedID != "" {
					t.Fatal(r.Err, err)
				}
				s.work.Wait() // the exchange has read to the end
			}
			// An exchange ends a moment before its connection is free, so that now and then one more is opened.
			if c := count.total(); c > 10 {
				t.Errorf("%d connections for 20 calls", c)
			}
		})
	}
}
