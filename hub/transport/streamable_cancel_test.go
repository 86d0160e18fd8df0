package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var cancelNote = []byte(
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)

// A cancellation that is on its way when the transport is closed still reaches the server, and a server that does not
// answer it delays Close by lastWordsTime.
func TestCancelAndAbortBeforeClose(t *testing.T) {
	for name, c := range map[string]struct {
		answers bool
		took    time.Duration
	}{"answered": {true, 300 * time.Millisecond}, "unanswered": {false, lastWordsTime}} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){}
			inWebWorld(t, on, func(w *webWorld) {
				heard := false
				on["tools/call"] = func(x *exchangeSeen) { x.left() }
				on["notifications/cancelled"] = func(x *exchangeSeen) {
					if !c.answers {
						x.left()
						return
					}
					elapse(300 * time.Millisecond)
					heard = true
					x.accepted()
				}
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				synctest.Wait()
				w.s.CancelAndAbort("1", cancelNote, func(error) {})
				from := time.Now()
				_ = w.s.Close()
				if took := time.Since(from); took != c.took {
					w.Errorf("Close took %v, want %v", took, c.took)
				}
				if heard != c.answers {
					w.Errorf("heard: %v", heard)
				}
				w.wantOpen(0)
			})
		})
	}
}

func TestCancelAndAbortStillDelivers(t *testing.T) {
	on := map[string]func(*exchangeSeen){}
	inWebWorld(t, on, func(w *webWorld) {
		on["tools/call"] = func(x *exchangeSeen) {
			elapse(time.Second)
			x.events("data: " + hello + "\n\n")
			x.events("data: " + x.answer(`"late"`) + "\n\n")
		}
		on["notifications/cancelled"] = func(x *exchangeSeen) { elapse(2 * time.Second); x.accepted() }
		w.legacy("2025-11-25")
		w.send("1", "tools/call")
		synctest.Wait()
		w.s.CancelAndAbort("1", cancelNote, func(error) {})
		w.wantBody("1", hello)
		w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":"late"}`)
		w.wantNothing()
	})
}

// A request that was not written yet is aborted without a notification: the server has nothing to cancel.
func TestCancelAndAbortBeforeWritten(t *testing.T) {
	for name, cancel := range map[string]func(s *Streamable){
		"CancelAndAbort": func(s *Streamable) { s.CancelAndAbort("1", cancelNote, func(error) {}) },
		"Abort":          func(s *Streamable) { s.Abort("1") },
	} {
		t.Run(name, func(t *testing.T) {
			inWebWorld(t, nil, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.s.rt.(interface{ CloseIdleConnections() }).CloseIdleConnections()
				w.net.dial = func(context.Context) error { elapse(time.Minute); return nil }
				w.send("1", "tools/call")
				synctest.Wait()
				cancel(w.s)
				w.wantNothing()
				w.wantOpen(0)
				if len(w.requests("tools/call"))+len(w.requests("notifications/cancelled")) != 0 {
					w.Errorf("%q", w.noted())
				}
			})
		})
	}
}

// The last byte of a body races with the cancellation: every request that the server has got was cancelled there by a
// notification.
func TestCancelAndAbortRacesTheRequest(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) { x.left() }}, func(w *webWorld) {
		w.legacy("2025-11-25")
		const n = 300
		for i := range n {
			id := fmt.Sprint(i)
			w.send(id, "tools/call")
			for range i % 30 {
				runtime.Gosched() // not synctest.Wait: some are to be caught in the middle
			}
			w.s.CancelAndAbort(id, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`),
				func(error) {})
		}
		w.wantNothing()
		w.wantOpen(0)
		told := map[string]bool{}
		for _, x := range w.requests("notifications/cancelled") {
			_, id, _ := strings.Cut(x.Body, `"requestId":`)
			told[strings.TrimRight(id, "}")] = true
		}
		for _, x := range w.requests("tools/call") {
			if !told[x.ID] {
				w.Errorf("the server knows request %s, and not that it is cancelled", x.ID)
			}
		}
	})
}

// tripFunc is a function as an http.RoundTripper.
type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The HTTP client may overlook that the context ends while it takes a connection. Even then the request is not written,
// and no notification is sent.
func TestCancelAndAbortWhileAConnectionIsTaken(t *testing.T) {
	var w *webWorld
	told := make(chan error, 2)
	slip := func(rt http.RoundTripper) tripFunc {
		return func(r *http.Request) (*http.Response, error) {
			if r.ContentLength == int64(len(message("12", "tools/call"))) {
				w.s.CancelAndAbort("12", cancelNote, func(err error) { told <- err })
				r = r.WithContext(context.WithoutCancel(r.Context()))
			}
			return rt.RoundTrip(r)
		}
	}
	inWebWorld(t, nil, func(world *webWorld) {
		w = world
		w.legacy("2025-11-25")
		w.send("12", "tools/call")
		w.wantNothing()
		w.wantOpen(0)
		if n := w.noted(); slices.Contains(n, "tools/call") || slices.Contains(n, "notifications/cancelled") {
			w.Errorf("%q", n)
		}
		if err := <-told; !errors.Is(err, ErrCancelNotNeeded) || len(told) != 0 {
			w.Errorf("told %v", err)
		}
	}, func(_ *webWorld, o *HTTPOptions) { o.RoundTripper = slip(o.RoundTripper) })
}

func TestAbortMidStream(t *testing.T) {
	on := map[string]func(*exchangeSeen){}
	inWebWorld(t, on, func(w *webWorld) {
		on["tools/call"] = func(x *exchangeSeen) {
			x.events("id: 1\ndata: " + hello + "\n\n")
			x.left()
			w.note("closed " + x.ID)
		}
		w.modern()
		w.send("1", "tools/call")
		w.send("2", "tools/call")
		_, _ = w.next(), w.next()
		w.s.CancelAndAbort("1", cancelNote, func(error) {}) // for the modern era that is Abort
		w.wantNothing()
		w.wantOpen(1)
		if d := cmp.Diff([]string{"tools/call", "tools/call", "closed 1"}, w.noted()); d != "" {
			w.Error(d)
		}
	})
}

// After Abort has returned nothing is received, not even what had been read already.
func TestAbortTakesBackWhatWaits(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		_ = w.s.Close()
		rt := w.s.rt
		on := map[string]func(*exchangeSeen){"notes": func(x *exchangeSeen) { x.events("data: " + hello + "\n\n"); x.left() }}
		w.on = on
		s := NewStreamable(HTTPOptions{URL: "http://server.test/", RoundTripper: rt})
		defer func() { _ = s.Close() }()
		s.Speak(true, "2026-07-28")
		s.Send(Message{ID: "1", Method: "notes", Body: message("1", "notes")})
		s.Send(Message{ID: "2", Method: "answer", Body: message("2", "answer")})
		synctest.Wait() // both wait for Receive
		s.Abort("1")
		s.Abort("2")
		s.Send(Message{ID: "3", Method: "answer", Body: message("3", "answer")})
		if r, err := s.Receive(); err != nil || r.Stream != "3" {
			w.Errorf("received %s of %q: %v", r.Body, r.Stream, err)
		}
	})
}

// While nobody calls Receive, every exchange is blocked with a message. Exchanges can be aborted all the same, and the
// transport closed.
func TestAbortWhileNobodyReceives(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		_ = w.s.Close()
		w.on = map[string]func(*exchangeSeen){"notes": func(x *exchangeSeen) {
			for range receiveAhead * 2 {
				x.events("data: " + hello + "\n\n")
			}
			x.left()
			w.note("closed")
		}}
		s := NewStreamable(HTTPOptions{URL: "http://server.test/", RoundTripper: w.s.rt})
		s.Speak(true, "2026-07-28")
		for i := range 4 {
			s.Send(Message{ID: fmt.Sprint(i), Method: "notes", Body: message(fmt.Sprint(i), "notes")})
		}
		synctest.Wait()
		s.Abort("0")
		s.Abort("1")
		synctest.Wait()
		if n := strings.Count(strings.Join(w.noted(), " "), "closed"); n != 2 {
			w.Errorf("%d exchanges are closed, want 2", n)
		}
		_ = s.Close()
	})
}
