package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A cancellation goes out once the headers of its call have come, or a second after the last byte of the call,
// whichever is first. The exchange of the call ends with the acknowledgement if the headers came before, and a second
// later if not, however old the call is. Finding B17.
func TestCancelWaitsForItsCall(t *testing.T) {
	type world = map[string]func(*exchangeSeen)
	silent := world{"tools/call": func(x *exchangeSeen) { x.left() }}
	headersAfter := func(d time.Duration) world {
		return world{"tools/call": func(x *exchangeSeen) { elapse(d); x.events(": open\n\n"); x.left() }}
	}
	const ms, hour = time.Millisecond, time.Hour
	for name, c := range map[string]struct {
		on     world
		cancel time.Duration // after the call was written
		at     time.Duration // of the notification, likewise
		over   time.Duration // of the end of the call's exchange, likewise
	}{
		"no headers":                         {silent, 0, time.Second, 2 * time.Second},
		"no headers, half a second later":    {silent, 500 * ms, time.Second, 2 * time.Second},
		"no headers, cancelled after 3s":     {silent, 3 * time.Second, 3 * time.Second, 4 * time.Second},
		"no headers, cancelled after 1h":     {silent, hour, hour, hour + time.Second},
		"headers in between":                 {headersAfter(300 * ms), 100 * ms, 300 * ms, 300 * ms},
		"headers too late":                   {headersAfter(1500 * ms), 100 * ms, time.Second, 2500 * ms},
		"headers before":                     {headersAfter(0), 100 * ms, 100 * ms, 100 * ms},
		"headers before, cancelled after 1h": {headersAfter(0), hour, hour, hour},
		"the connection is lost": {world{"tools/call": func(*exchangeSeen) {
			elapse(200 * ms)
			panic(http.ErrAbortHandler)
		}}, 100 * ms, time.Second, 200 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			var over time.Duration
			serve := c.on["tools/call"]
			on := world{}
			inWebWorld(t, on, func(w *webWorld) {
				on["tools/call"] = func(x *exchangeSeen) {
					defer func() { over = time.Since(w.began) }()
					serve(x)
				}
				w.legacy("2025-11-25")
				from := time.Since(w.began)
				w.send("1", "tools/call")
				synctest.Wait()
				elapse(c.cancel)
				told := make(chan error, 2)
				w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
				w.wantNothing()
				w.wantOpen(0)
				notes := w.requests("notifications/cancelled")
				if len(notes) != 1 || notes[0].At-from != c.at {
					w.Fatalf("notifications %+v, want one after %v", notes, c.at)
				}
				if over-from != c.over {
					w.Errorf("the exchange was over after %v, want %v", over-from, c.over)
				}
				late := name == "headers too late" // see TestCancelReadBeforeItsCall
				if err := <-told; (err != nil) != late || len(told) != 0 {
					w.Errorf("told %v", err)
				}
			})
		})
	}
}

// A cancellation that went out before the headers of its call had come does not count as delivered merely because it
// was acknowledged: the server may have read it before the call. Finding B17.
func TestCancelReadBeforeItsCall(t *testing.T) {
	for name, c := range map[string]struct {
		// what the server does with the call, half a second after it has acknowledged the cancellation
		then func(*exchangeSeen)
		at   time.Duration // when the outcome is reported, after the call was written
		err  error
	}{
		"headers, and it works on": {func(x *exchangeSeen) {
			x.events(": open\n\n")
			x.left()
		}, 2500 * time.Millisecond, errMayBeFirst},
		"headers, and its end": {func(x *exchangeSeen) { x.events(": open\n\n") }, 1500 * time.Millisecond, nil},
		"headers, and the end a moment later": {func(x *exchangeSeen) {
			x.events(": open\n\n")
			elapse(300 * time.Millisecond)
		},
			1800 * time.Millisecond, nil},
		"an answer": {func(x *exchangeSeen) { x.result(`{}`) }, 1500 * time.Millisecond, nil},
		"the end":   {func(*exchangeSeen) { panic(http.ErrAbortHandler) }, 1500 * time.Millisecond, nil},
		"nothing":   {func(x *exchangeSeen) { x.left() }, 2 * time.Second, nil},
		"a refusal": {func(x *exchangeSeen) {
			x.w.WriteHeader(405)
		}, 1500 * time.Millisecond, ErrCancelNotNeeded},
		"too many requests": {func(x *exchangeSeen) {
			x.w.WriteHeader(429)
		}, 1500 * time.Millisecond, ErrCancelNotNeeded},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) {
				elapse(1500 * time.Millisecond)
				c.then(x)
			}}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				synctest.Wait()
				from := time.Now()
				told := make(chan error, 2)
				w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
				err := <-told
				if at := time.Since(from); !errors.Is(err, c.err) || at != c.at {
					w.Errorf("told %v after %v, want %v after %v", err, at, c.err, c.at)
				}
				elapse(time.Minute)
				w.wantOpen(0)
				if n, calls := len(w.requests("notifications/cancelled")), len(w.requests("tools/call")); n != 1 || calls != 1 ||
					len(told) != 0 {
					w.Errorf("%d notifications of %d calls, %d more told", n, calls, len(told))
				}
			})
		})
	}
}

// stalled is an Authorizer that makes the HTTP client pause for 1.5s between the headers of a request and its body.
type stalled struct{ Authorizer }

func (stalled) Observe(*http.Request, *http.Response) bool { return false }

func (stalled) Sign(_ context.Context, req *http.Request) error {
	*req = *req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { elapse(1500 * time.Millisecond) },
	}))
	return nil
}

// A call that the HTTP client has not sent a second after it was cancelled, as on a slow machine, is given up. It is
// never sent, so the server gets no notification of its cancellation either. Finding B17.
func TestCancelOfACallThatDoesNotLeave(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		w.legacy("2025-11-25")
		elapse(time.Minute)
		w.send("1", "tools/call")
		synctest.Wait()
		from := time.Now()
		told := make(chan error, 2)
		w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
		if err := <-told; !errors.Is(err, ErrCancelNotNeeded) || time.Since(from) != cancelDelay {
			w.Errorf("told %v after %v", err, time.Since(from))
		}
		w.wantNothing()
		w.wantOpen(0)
		if n, calls := len(w.requests("notifications/cancelled")), len(w.requests("tools/call")); n+calls+len(told) != 0 {
			w.Errorf("%d notifications, %d calls, %d more told", n, calls, len(told))
		}
	}, func(_ *webWorld, o *HTTPOptions) { o.Auth = stalled{} })
}

// Close reports the outcome of a cancellation that was acknowledged and still waits for its call to be read.
func TestCloseTellsOfCancelsThatWaitForTheirCall(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) { x.left() }}, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("1", "tools/call")
		synctest.Wait()
		told := make(chan error, 2)
		w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
		elapse(1500 * time.Millisecond)
		from := time.Now()
		_ = w.s.Close()
		if err := <-told; err != nil || time.Since(from) != 0 || len(told) != 0 {
			w.Errorf("told %v after %v", err, time.Since(from))
		}
	})
}

// A cancellation that goes out before the headers of its call have come gets a new connection: a server that reads its
// connections in the order in which they came then reads the call first.
func TestCancelWithoutHeadersGetsAConnection(t *testing.T) {
	for name, headers := range map[string]bool{"headers": true, "no headers": false} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			conns := 0
			inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) {
				if headers {
					x.events(": open\n\n")
				}
				x.left()
			}}, func(w *webWorld) {
				w.legacy("2025-11-25") // leaves a connection that is idle
				w.send("1", "tools/call")
				w.send("2", "tools/call")
				synctest.Wait()
				w.send("", "notifications/message") // leaves one that is idle
				synctest.Wait()
				before := conns
				told := make(chan error, 2)
				w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
				if err := <-told; err != nil {
					w.Errorf("told %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if more := conns - before; headers != (more == 0) {
					w.Errorf("%d more connections", more)
				}
			}, func(w *webWorld, o *HTTPOptions) {
				rt := roundTripperOver(func(ctx context.Context, network, address string) (net.Conn, error) {
					mu.Lock()
					conns++
					mu.Unlock()
					return w.net.DialContext(ctx, network, address)
				})
				o.RoundTripper = rt
				w.Cleanup(rt.close)
			})
		})
	}
}

// The reported outcome of a cancellation is what is known about it. Finding B2.
func TestCancelIsToldAsItIs(t *testing.T) {
	open := func(x *exchangeSeen) { x.events(": open\n\n"); x.left() }
	for name, c := range map[string]struct {
		call, note func(*exchangeSeen)
		then       func(w *webWorld)
		notNeeded  bool
		text       string // of the error; "" for none
		notes      int
	}{
		"acknowledged": {call: open, note: (*exchangeSeen).accepted, notes: 1},
		"500": {call: open, note: func(x *exchangeSeen) {
			x.w.WriteHeader(500)
		}, text: "status 500", notes: 1},
		"400": {call: open, note: func(x *exchangeSeen) {
			x.w.WriteHeader(400)
		}, text: "status 400", notes: 1},
		"no answer": {call: open, note: func(x *exchangeSeen) {
			x.left()
		}, text: "did not answer within 5s", notes: 1},
		"the connection breaks": {call: open, note: func(*exchangeSeen) {
			panic(http.ErrAbortHandler)
		}, text: "broke off", notes: 1},
		"closed meanwhile": {call: open, note: func(x *exchangeSeen) { x.left() }, then: func(w *webWorld) {
			_ = w.s.Close()
		}, text: "closed", notes: 1},
		"its call breaks off": {call: func(x *exchangeSeen) {
			elapse(500 * time.Millisecond)
			panic(http.ErrAbortHandler)
		}, notes: 1},
		"refused meanwhile": {call: func(x *exchangeSeen) {
			elapse(500 * time.Millisecond)
			x.w.WriteHeader(405)
		}, notNeeded: true},
		"asked to wait": {call: func(x *exchangeSeen) {
			elapse(500 * time.Millisecond)
			x.w.WriteHeader(429)
		}, notNeeded: true},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"tools/call": c.call}
			if c.note != nil {
				on["notifications/cancelled"] = c.note
			}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				synctest.Wait()
				told := make(chan error, 2)
				w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
				synctest.Wait()
				if c.then != nil {
					c.then(w)
				} else {
					w.wantNothing()
				}
				err := <-told
				switch {
				case c.notNeeded != errors.Is(err, ErrCancelNotNeeded):
					w.Errorf("told %v", err)
				case !c.notNeeded && (err == nil) != (c.text == ""), err != nil && !strings.Contains(err.Error(), c.text):
					w.Errorf("told %v, want %q", err, c.text)
				}
				if n := len(w.requests("notifications/cancelled")); n != c.notes || len(told) != 0 ||
					len(w.requests("tools/call")) != 1 {
					w.Errorf("%d notifications, %d more told: %q", n, len(told), w.noted())
				}
				w.wantOpen(0)
			})
		})
	}
	t.Run("over before", func(t *testing.T) {
		inWebWorld(t, nil, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "tools/call")
			w.next()
			told := make(chan error, 2)
			w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
			_ = w.s.Close()
			w.s.CancelAndAbort("2", cancelNote, func(err error) { told <- err })
			if err := <-told; !errors.Is(err, ErrCancelNotNeeded) {
				w.Errorf("told %v", err)
			}
			if err := <-told; !errors.Is(err, ErrHTTPClosed) {
				w.Errorf("told %v", err)
			}
		})
	})
}

// A call whose body was not written to its end is aborted, and no notification is sent. Finding B17.
func TestCancelOfAHalfWrittenCall(t *testing.T) {
	for name, read := range map[string]int{"nothing read": 0, "half read": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				began, on, cut := make(chan struct{}), make(chan struct{}), make(chan error, 1)
				w.fakeWeb.upload = func(r *http.Request) bool {
					if r.ContentLength < 1<<20 {
						return false
					}
					_, _ = io.CopyN(io.Discard, r.Body, int64(read))
					close(began)
					<-on
					_, err := io.Copy(io.Discard, r.Body)
					cut <- err
					return true
				}
				w.s.Send(Message{ID: "1", Method: "tools/call",
					Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"` + strings.Repeat("x", 2<<20) + `"}`)})
				<-began
				synctest.Wait()
				told := make(chan error, 2)
				w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
				close(on)
				if err := <-cut; err == nil {
					w.Error("the server has got all of it")
				}
				if err := <-told; !errors.Is(err, ErrCancelNotNeeded) {
					w.Errorf("told %v", err)
				}
				w.wantNothing()
				w.wantOpen(0)
				if n := len(w.requests("notifications/cancelled")); n != 0 {
					w.Errorf("%d notifications", n)
				}
			})
		})
	}
}

// A legacy session over HTTP+SSE: a cancellation waits for the POST of its own call, and for no other; its true outcome
// is reported, also by Close. Findings B2, B3.
func TestSSECancel(t *testing.T) {
	for name, c := range map[string]struct {
		post  func(r *http.Request, w http.ResponseWriter)
		note  func(r *http.Request, w http.ResponseWriter)
		says  string // on the stream, at the end of the POST
		at    time.Duration
		text  string
		close bool
	}{
		"its POST was answered": {at: 0},
		"its POST is answered": {post: func(*http.Request, http.ResponseWriter) {
			elapse(300 * time.Millisecond)
		}, at: 300 * time.Millisecond},
		"its POST is answered too late": {post: func(r *http.Request, _ http.ResponseWriter) {
			<-r.Context().Done()
		}, at: time.Second},
		"its POST is answered after it": {post: func(*http.Request, http.ResponseWriter) { elapse(1500 * time.Millisecond) },
			at: time.Second, text: "may have read the cancellation first"},
		"its POST is answered after it, and then the call": {
			post: func(*http.Request, http.ResponseWriter) { elapse(1500 * time.Millisecond) }, at: time.Second,
			says: `{"jsonrpc":"2.0","id":"call","error":{"code":0,"message":"cancelled"}}`,
		},
		"500":    {note: func(_ *http.Request, w http.ResponseWriter) { w.WriteHeader(500) }, text: "status 500"},
		"closed": {note: func(r *http.Request, _ http.ResponseWriter) { <-r.Context().Done() }, close: true, text: "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newSSEFake()
				_, client := f.serve(t)
				f.post = func(w http.ResponseWriter, r *http.Request, body string) {
					switch {
					case body == "other":
						<-r.Context().Done()
					case body == "call" && c.post != nil:
						c.post(r, w)
						if c.says != "" {
							w.WriteHeader(http.StatusAccepted)
							_ = http.NewResponseController(w).Flush()
							elapse(100 * time.Millisecond)
							f.say <- "data: " + c.says + "\n\n"
						}
					case body == "cancel" && c.note != nil:
						c.note(r, w)
					}
				}
				conn := connectSSE(t, HTTPOptions{URL: "http://h/sse", RoundTripper: client})
				f.sentSSE(conn, "other", "call")
				synctest.Wait()
				begun, told := time.Now(), make(chan error, 2)
				conn.CancelAndAbort(`"call"`, []byte("cancel"), func(err error) { told <- err })
				if p := <-f.posts; p.body != "cancel" || time.Since(begun) != c.at {
					t.Errorf("%q after %v, want the cancel after %v", p.body, time.Since(begun), c.at)
				}
				if c.close {
					_ = conn.Close()
				}
				err := <-told
				if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
					t.Errorf("told %v, want %q", err, c.text)
				}
				time.Sleep(time.Minute)
				if len(told) != 0 || len(f.posts) != 0 {
					t.Error("there was more")
				}
			})
		})
	}
}

// A cancellation that waits for the headers of its call goes out when the transport is closed.
func TestCloseSendsWaitingCancels(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) { x.left() }}, func(w *webWorld) {
		w.legacy("2025-11-25")
		var want []string
		told := make(chan error, 10)
		for i := range 5 {
			w.send(fmt.Sprint(i+1), "tools/call")
			want = append(want, "notifications/cancelled")
		}
		synctest.Wait()
		for i := range 5 {
			w.s.CancelAndAbort(fmt.Sprint(i+1), cancelNote, func(err error) { told <- err })
		}
		_ = w.s.Close()
		var got []string
		for _, x := range w.requests("notifications/cancelled") {
			got = append(got, x.Method)
		}
		if d := cmp.Diff(want, got); d != "" {
			w.Error(d)
		}
		for range 5 {
			if err := <-told; err != nil {
				w.Errorf("told %v", err)
			}
		}
	})
}

// With a RoundTripper that ignores httptrace, a request whose body was read to its end counts as written.
func TestCancelWithoutTrace(t *testing.T) {
	blind := func(rt http.RoundTripper) tripFunc {
		return func(r *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithCancelCause(context.Background()) // without the trace
			context.AfterFunc(r.Context(), func() { cancel(context.Cause(r.Context())) })
			return rt.RoundTrip(r.WithContext(ctx))
		}
	}
	inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) { x.left() }}, func(w *webWorld) {
		w.legacy("2025-11-25")
		from := time.Since(w.began)
		w.send("1", "tools/call")
		synctest.Wait()
		told := make(chan error, 2)
		w.s.CancelAndAbort("1", cancelNote, func(err error) { told <- err })
		w.wantNothing()
		if notes := w.requests("notifications/cancelled"); len(notes) != 1 || notes[0].At-from != cancelDelay {
			w.Errorf("%+v", notes)
		}
		if err := <-told; err != nil {
			w.Errorf("told %v", err)
		}
	}, func(_ *webWorld, o *HTTPOptions) { o.RoundTripper = blind(o.RoundTripper) })
}
