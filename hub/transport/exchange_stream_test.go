package transport

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStreamEndsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		revision string // "" is modern
		stream   string
	}{
		"legacy without an id":         {"2025-11-25", "data: " + hello + "\n\n"},
		"legacy, nothing at all":       {"2025-06-18", ""},
		"legacy, within an event":      {"2025-11-25", "data: {"},
		"legacy, an id for no header":  {"2025-11-25", "id: a\u0001\n\n"},
		"modern without an id":         {"", "data: " + hello + "\n\n"},
		"modern with an id":            {"", "id: 1\nretry: 5\ndata: " + hello + "\n\n"},
		"legacy, an id was taken back": {"2025-11-25", "id: 1\n\nid\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) { x.events(c.stream) }}
			inWebWorld(t, on, func(w *webWorld) {
				if w.modern(); c.revision != "" {
					w.legacy(c.revision)
				}
				w.send("1", "tools/call")
				if strings.Contains(c.stream, hello) {
					w.wantBody("1", hello)
				}
				w.wantFailed("1", MayHaveRun, "the stream ended before the answer")
				w.wantNothing()
				w.wantOpen(0)
				for _, x := range w.requests("GET") {
					if x.Header.Get("Last-Event-Id") != "" {
						w.Error("it was resumed")
					}
				}
				if n := len(w.requests("tools/call")); n != 1 {
					w.Errorf("the call was sent %d times", n)
				}
			})
		})
	}
}

// resumed handles GET: it refuses the standalone stream, and passes each resumption, with its number, to do.
func resumed(do func(x *exchangeSeen, n int)) func(*exchangeSeen) {
	var n atomic.Int32
	return func(x *exchangeSeen) {
		if x.Header.Get("Last-Event-Id") == "" {
			x.w.WriteHeader(405)
			return
		}
		do(x, int(n.Add(1)))
	}
}

func (f *fakeWeb) resumptions() (all []*exchangeSeen) {
	for _, x := range f.requests("GET") {
		if x.Header.Get("Last-Event-Id") != "" {
			all = append(all, x)
		}
	}
	return all
}

func TestResumeWithLastEventID(t *testing.T) {
	for _, id := range []string{"1", "a b", "_/=;,\"'", "日本", strings.Repeat("x", 4000)} {
		t.Run(id[:min(len(id), 9)], func(t *testing.T) {
			on := map[string]func(*exchangeSeen){
				"tools/call": func(x *exchangeSeen) { x.events("id: 0\n\nid: " + id + "\ndata: " + hello + "\n\n") },
				"GET": resumed(func(x *exchangeSeen, n int) {
					if n == 1 {
						x.events("id: second\ndata: " + hello + "\n\n")
						return
					}
					x.events(`data: {"jsonrpc":"2.0","id":1,"result":"late"}` + "\n\n")
				}),
			}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				w.wantBody("1", hello)
				w.wantBody("1", hello)
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":"late"}`)
				var got []string
				for _, x := range w.resumptions() {
					got = append(got, x.Header.Get("Last-Event-Id"), x.Header.Get("Mcp-Session-Id"),
						x.Header.Get("Mcp-Protocol-Version"))
				}
				if d := cmp.Diff([]string{id, "s-1", "2025-11-25", "second", "s-1", "2025-11-25"}, got); d != "" {
					w.Error(d)
				}
				w.wantNothing()
				w.wantOpen(0)
			})
		})
	}
}

func TestResumeOfInitialize(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"initialize": func(x *exchangeSeen) { x.w.Header().Set("Mcp-Session-Id", "s-1"); x.events("id: 1\n\n") },
		"GET": resumed(func(x *exchangeSeen, _ int) {
			x.events(`data: {"jsonrpc":"2.0","id":0,"result":{}}` + "\n\n")
		}),
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		if x := w.resumptions(); len(x) != 1 || x[0].Header.Get("Mcp-Session-Id") != "s-1" {
			w.Errorf("resumed %d times", len(x))
		}
	})
}

func TestRetryHonoured(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want time.Duration
	}{
		"named":   {"id: 1\nretry: 500\n\n", 500 * time.Millisecond},
		"default": {"id: 1\n\n", defaultRetry},
		"long":    {"id: 1\nretry: 90000\n\n", 90 * time.Second},
		"zero":    {"id: 1\nretry: 0\n\n", minRetry},
	} {
		t.Run(name, func(t *testing.T) {
			var ended time.Duration
			on := map[string]func(*exchangeSeen){}
			inWebWorld(t, on, func(w *webWorld) {
				on["tools/call"] = func(x *exchangeSeen) {
					x.events(c.head)
					elapse(3 * time.Second)
					ended = time.Since(w.began)
				}
				on["GET"] = resumed(func(x *exchangeSeen, _ int) {
					x.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\n")
				})
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
				if after := w.resumptions()[0].At - ended; after != c.want {
					w.Errorf("resumed after %v, want %v", after, c.want)
				}
			})
		})
	}
}

// A server may end the connection again and again while a tool works (2025-11-25): with each stream it gives a new id.
func TestServerClosesAtWill(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"tools/call": func(x *exchangeSeen) { x.events("id: 0\nretry: 1000\n\n") },
		"GET": resumed(func(x *exchangeSeen, n int) {
			if n < 200 {
				x.events(fmt.Sprintf("id: %d\n\n", n))
				return
			}
			x.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\n")
		}),
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("1", "tools/call")
		w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
	})
}

func TestResumeGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		get  func(x *exchangeSeen, n int)
		want int // attempts
		text string
	}{
		"refused":       {func(x *exchangeSeen, _ int) { x.w.WriteHeader(405) }, 1, "HTTP status 405"},
		"server errors": {func(x *exchangeSeen, _ int) { x.w.WriteHeader(502) }, maxBroken, "5 attempts"},
		"empty streams": {func(x *exchangeSeen, _ int) { x.events(": nothing\n\n") }, maxEmpty, "20 streams"},
		"HTML": {func(x *exchangeSeen, _ int) {
			x.w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(x.w, "<p>Hi</p>")
		}, 1, "text/html"},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) {
				x.events("id: 0\n\n")
			}, "GET": resumed(c.get)}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/call")
				w.wantFailed("1", MayHaveRun, "the stream ended before the answer", c.text)
				if n := len(w.resumptions()); n != c.want {
					w.Errorf("%d attempts, want %d", n, c.want)
				}
			})
		})
	}
	t.Run("silent streams do not count as failures", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){
			"tools/call": func(x *exchangeSeen) { x.events("id: 0\n\n") },
			"GET": resumed(func(x *exchangeSeen, n int) {
				if x.events(": nothing\n\n"); n < 100 {
					elapse(time.Minute) // and then a proxy cuts it
					return
				}
				x.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\n")
			}),
		}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "tools/call")
			w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
		})
	})
	t.Run("the session has gone", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){
			"tools/call": func(x *exchangeSeen) { x.events("id: 0\n\n") },
			"GET":        resumed(func(x *exchangeSeen, _ int) { x.w.WriteHeader(404) }),
		}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "tools/call")
			if err := <-w.over; err != ErrSessionExpired {
				w.Errorf("the end is %v", err)
			}
			w.wantFailed("1", MayHaveRun)
		})
	})
}

func TestStreamIsReadToItsEnd(t *testing.T) {
	on := map[string]func(*exchangeSeen){
		"ends": func(x *exchangeSeen) {
			x.events("data: " + x.answer("1") + "\n\n")
			x.events("data: " + hello + "\n\n")
		},
		"stays": func(x *exchangeSeen) { x.events("data: " + x.answer("1") + "\n\n"); x.left() },
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.modern()
		w.send("1", "ends")
		w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":1}`)
		w.wantBody("1", hello)
		w.send("2", "stays")
		w.wantBody("2", `{"jsonrpc":"2.0","id":2,"result":1}`)
		from := time.Now()
		w.working.Wait()
		if took := time.Since(from); took != afterAnswer {
			w.Errorf("the stream was closed %v after the answer, want %v", took, afterAnswer)
		}
	})
}

// What one exchange brings keeps its order, whatever the others do.
func TestOrderWithinAStream(t *testing.T) {
	on := map[string]func(*exchangeSeen){"tools/call": func(x *exchangeSeen) {
		for i := range 100 {
			x.events(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":%d}\n\n", i))
		}
		x.events("data: " + x.answer("1") + "\n\n")
	}}
	inWebWorld(t, on, func(w *webWorld) {
		w.modern()
		for id := range 10 {
			w.send(fmt.Sprint(id), "tools/call")
		}
		next := map[string]int{}
		for range 10 * 101 {
			r := w.next()
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%d}`, next[r.Stream])
			if next[r.Stream] == 100 {
				want = `{"jsonrpc":"2.0","id":` + r.Stream + `,"result":1}`
			}
			if string(r.Body) != want {
				w.Fatalf("%s of %s, want %s", r.Body, r.Stream, want)
			}
			next[r.Stream]++
		}
		synctest.Wait()
		w.wantOpen(0)
	})
}
