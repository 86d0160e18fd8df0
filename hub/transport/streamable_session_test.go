package transport

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// noSession is what the TypeScript SDK's examples answer, with status 400, to a session that they do not know.
const noSession = `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`

func refuse400(body string) func(*exchangeSeen) { return func(x *exchangeSeen) { x.json(400, body) } }

// A server that was restarted may answer 400 for a session that it does not know. A ping finds that out. Finding B4.
func TestSession400(t *testing.T) {
	for name, c := range map[string]struct {
		call, ping func(*exchangeSeen)
		over       bool
		pings      int
	}{
		"TypeScript SDK": {refuse400(noSession), refuse400(noSession), true, 1},
		"not initialized": {refuse400("Bad Request: Server not initialized"),
			refuse400("Bad Request: Server not initialized"), true, 1},
		"404 to the ping":   {refuse400(""), func(x *exchangeSeen) { http.NotFound(x.w, x.r) }, true, 1},
		"the session lives": {refuse400("no"), func(x *exchangeSeen) { x.result("{}") }, false, 1},
		"it knows no ping": {refuse400("no"), func(x *exchangeSeen) {
			x.json(404, `{"jsonrpc":"2.0","id":`+x.ID+`,"error":{"code":-32601,"message":"no"}}`)
		}, false, 1},
		"no rights":             {refuse400("no"), func(x *exchangeSeen) { x.w.WriteHeader(403) }, false, 1},
		"trouble":               {refuse400("no"), func(x *exchangeSeen) { x.w.WriteHeader(500) }, false, 1},
		"no answer to the ping": {refuse400("no"), func(x *exchangeSeen) { x.left() }, false, 1},
		"an answer to this one call": {refuse400(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`),
			refuse400(""), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": c.call, "ping": c.ping}, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				r := w.next()
				e, _ := r.Err.(*HTTPError)
				if over := errors.Is(r.Err, ErrSessionExpired); over != c.over || over &&
					(r.FailedID != "1" || e.Delivery != NotSent || e.Status != 400) {
					w.Errorf("received %s, failed %q: %v", r.Body, r.FailedID, r.Err)
				}
				pings := w.requests("ping")
				if len(pings) != c.pings || c.pings > 0 && pings[0].Header.Get("Mcp-Session-Id") != "s-1" {
					w.Errorf("%d pings", len(pings))
				}
				if c.over {
					if err := <-w.over; err != ErrSessionExpired {
						w.Errorf("the end is %v", err)
					}
					return
				}
				if e != nil && e.Delivery != MayHaveRun {
					w.Errorf("%+v", e)
				}
				w.send("2", "x")
				w.wantBody("2", `{"jsonrpc":"2.0","id":2,"result":{}}`)
			})
		})
	}
}

// However many calls are answered 400, there is one ping at a time, and none of those calls has run. Finding B4.
func TestSession400OnePing(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"tools/call": refuse400(noSession),
		"ping":       func(x *exchangeSeen) { elapse(time.Second); x.json(400, noSession) },
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		for i := range 10 {
			w.send(fmt.Sprint(i+1), "tools/call")
		}
		<-w.over
		synctest.Wait()
		if n := len(w.requests("ping")); n != 1 {
			w.Errorf("%d pings", n)
		}
		for range 10 {
			if r := <-w.got; r.FailedID == "" || !errors.Is(r.Err, ErrSessionExpired) || r.Err.(*HTTPError).Delivery != NotSent {
				w.Errorf("received %s: %+v", r.Body, r.Err)
			}
		}
	})
}

// What is sent after the server has ended the session is reported as not sent, as long as Receive reports anything.
// After that, Send says that it was not sent.
func TestSentAfterTheSessionEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewStreamable(HTTPOptions{URL: "http://127.0.0.1:1/mcp"})
		defer c.Close()
		c.end(ErrSessionExpired, nil)
		if err := c.Send(Message{ID: "1", Method: "tools/call"}); err != nil {
			t.Errorf("a request before Receive has ended: %v", err)
		}
		if err := c.Send(Message{Method: "notifications/progress"}); err != nil {
			t.Errorf("a notification before Receive has ended: %v", err)
		}
		r, err := c.Receive()
		e, ok := r.Err.(*HTTPError)
		if !ok || r.FailedID != "1" || e.Delivery != NotSent || !errors.Is(e, ErrSessionExpired) {
			t.Errorf("received %+v, %v", r, err)
		}
		if r, err := c.Receive(); err != ErrSessionExpired {
			t.Errorf("received %+v, %v", r, err)
		}
		if err := c.Send(Message{ID: "2", Method: "tools/call"}); err != ErrSessionExpired {
			t.Errorf("a request after that: %v", err)
		}
	})
}

// A 400 to a notification, or to the GET of the standalone stream, has the same effect. Finding B4.
func TestSession400ElsewhereToo(t *testing.T) {
	var restarted atomic.Bool
	refused := func(otherwise func(*exchangeSeen)) func(*exchangeSeen) {
		return func(x *exchangeSeen) {
			if restarted.Load() {
				x.json(400, noSession)
				return
			}
			otherwise(x)
		}
	}
	for name, c := range map[string]struct {
		on   map[string]func(*exchangeSeen)
		then func(w *webWorld)
	}{
		"a notification": {
			map[string]func(*exchangeSeen){"notifications/x": refused((*exchangeSeen).accepted)},
			func(w *webWorld) { w.send("", "notifications/x") },
		},
		"the standalone stream": {
			map[string]func(*exchangeSeen){"GET": refused(func(x *exchangeSeen) {
				x.events(": open\n\n")
				elapse(time.Second)
			})}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			restarted.Store(false)
			c.on["ping"] = refused((*exchangeSeen).accepted)
			inWebWorld(t, c.on, func(w *webWorld) {
				w.legacy("2025-11-25")
				restarted.Store(true)
				if c.then != nil {
					c.then(w)
				}
				if err := <-w.over; err != ErrSessionExpired {
					w.Errorf("the end is %v", err)
				}
				if n := w.noted(); !slices.Contains(n, "ping") || len(w.requests("DELETE")) != 0 {
					w.Errorf("%q", n)
				}
			})
		})
	}
}

// The standalone stream may meet the refusal before a call does that is on its way. The call hears of it, too, and has
// surely not run. One whose stream has begun is reported all the same.
func TestSessionOverWhileACallIsOnItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		call     func(*exchangeSeen)
		delivery Delivery
	}{
		"refused, too": {func(x *exchangeSeen) {
			elapse(1500 * time.Millisecond)
			http.NotFound(x.w, x.r)
		}, NotSent},
		"answers": {func(x *exchangeSeen) {
			x.events(": begun\n\n")
			<-x.r.Context().Done()
		}, MayHaveRun},
	} {
		t.Run(name, func(t *testing.T) {
			var restarted atomic.Bool
			inWebWorld(t, map[string]func(*exchangeSeen){"tools/call": c.call, "GET": func(x *exchangeSeen) {
				if restarted.Load() {
					http.NotFound(x.w, x.r)
					return
				}
				x.events(": open\n\n")
				elapse(time.Second)
			}}, func(w *webWorld) {
				w.legacy("2025-11-25")
				restarted.Store(true)
				faketime.Pass(900 * time.Millisecond)
				w.send("1", "tools/call")
				r := w.next()
				if e, ok := r.Err.(*HTTPError); !ok || r.FailedID != "1" || e.Delivery != c.delivery ||
					!errors.Is(e, ErrSessionExpired) {
					w.Errorf("received %+v, %v", r, r.Err)
				}
			})
		})
	}
}

// Without a session, and in the modern era, 400 is about the request.
func TestSession400WithoutSession(t *testing.T) {
	inWebWorld(t, map[string]func(*exchangeSeen){"x": refuse400("no")}, func(w *webWorld) {
		w.session = ""
		w.legacy("2025-11-25")
		w.send("1", "x")
		w.wantFailed("1", MayHaveRun, "no")
		w.modern()
		w.send("2", "x")
		w.wantFailed("2", MayHaveRun, "no")
		if n := len(w.requests("ping")); n != 0 {
			w.Errorf("%d pings", n)
		}
	})
}
