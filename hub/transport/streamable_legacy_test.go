package transport

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const hello = `{"jsonrpc":"2.0","method":"notifications/message"}`

func TestSessionHeaders(t *testing.T) {
	for _, c := range []struct{ revision, version string }{{"2025-03-26", ""}, {"2025-06-18", "2025-06-18"},
		{"2025-11-25", "2025-11-25"}} {
		t.Run(c.revision, func(t *testing.T) {
			config := http.Header{"X-Own": {"1"}, "mcp-session-id": {"forged"}, "Accept": {"text/html"},
				"Content-Type": {"text/plain"}, "Mcp-Protocol-Version": {"x"}}
			inWebWorld(t, nil, func(w *webWorld) {
				w.legacy(c.revision)
				w.send("1", "tools/call")
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
				w.s.Send(Message{Body: []byte(`{"jsonrpc":"2.0","id":9,"result":{}}`)})
				synctest.Wait()
				_ = w.s.Close()
				if len(w.seen) != 6 {
					w.Fatalf("seen %q", w.noted())
				}
				for i, x := range w.seen {
					session, version := "s-1", c.version
					if i == 0 {
						session, version = "", ""
					}
					accept := "application/json, text/event-stream"
					switch x.Verb {
					case "GET":
						accept = "text/event-stream"
					case "DELETE":
						accept = ""
					}
					got := []string{x.Header.Get("Mcp-Session-Id"), x.Header.Get("Mcp-Protocol-Version"), x.Header.Get("Accept"),
						x.Header.Get("X-Own")}
					if d := cmp.Diff([]string{session, version, accept, "1"}, got); d != "" {
						w.Errorf("%s %s: %s", x.Verb, x.Method, d)
					}
					if x.Verb == "POST" && x.Header.Get("Content-Type") != "application/json" {
						w.Errorf("%s: content type %q", x.Method, x.Header.Get("Content-Type"))
					}
				}
			}, func(_ *webWorld, o *HTTPOptions) { o.Header = config })
		})
	}
}

func TestSessionIDNotVisible(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		w.session = "a\u00e9"
		w.s.Speak(false, "")
		w.send("0", "initialize")
		w.wantFailed("0", MayHaveRun, "session id")
	})
}

func TestDeleteAtEnd(t *testing.T) {
	t.Run("last of all", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){}
		inWebWorld(t, on, func(w *webWorld) {
			on["tools/call"] = func(x *exchangeSeen) { x.left(); w.note("left") }
			w.legacy("2025-11-25")
			w.send("1", "tools/call")
			synctest.Wait()
			_ = w.s.Close()
			_ = w.s.Close()
			synctest.Wait()
			if notes := w.noted(); !slices.Contains(notes, "left") || len(w.requests("DELETE")) != 1 {
				w.Errorf("%q", notes)
			}
			if err := <-w.over; err != ErrHTTPClosed {
				w.Errorf("the end is %v", err)
			}
		})
	})
	t.Run("bounded", func(t *testing.T) {
		inWebWorld(t, map[string]func(*exchangeSeen){"DELETE": func(x *exchangeSeen) { x.left() }}, func(w *webWorld) {
			w.legacy("2025-11-25")
			from := time.Now()
			_ = w.s.Close()
			if took := time.Since(from); took != deleteTimeout {
				w.Errorf("Close took %v", took)
			}
		})
	})
	t.Run("no session", func(t *testing.T) {
		inWebWorld(t, nil, func(w *webWorld) {
			w.session = ""
			w.legacy("2025-11-25")
			_ = w.s.Close()
			if len(w.requests("DELETE")) != 0 {
				w.Error("a session that there is not was deleted")
			}
		})
	})
}

func TestSessionExpired(t *testing.T) {
	const lost = `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`
	for name, body := range map[string]string{"plain": "session not found", "JSON-RPC": lost, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){
				"slow":  func(x *exchangeSeen) { x.left() },
				"quick": func(x *exchangeSeen) { http.Error(x.w, body, 404) },
			}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "slow")
				synctest.Wait()
				w.send("2", "quick")
				failed := map[string]*HTTPError{}
				for range 2 {
					r := w.next()
					failed[r.FailedID], _ = r.Err.(*HTTPError)
				}
				if err := <-w.over; err != ErrSessionExpired {
					w.Fatalf("the end is %v", err)
				}
				slow, quick := failed["1"], failed["2"]
				if slow == nil || slow.Delivery != MayHaveRun || !errors.Is(slow, ErrSessionExpired) {
					w.Errorf("the call that was running: %v", slow)
				}
				if quick == nil || quick.Delivery != NotSent || quick.Status != 404 || !errors.Is(quick, ErrSessionExpired) {
					w.Errorf("the call that met it: %v", quick)
				}
				w.send("3", "quick")
				_ = w.s.Close()
				if len(w.requests("DELETE"))+len(w.requests("quick")) != 1 {
					w.Errorf("something was sent to a session that is gone: %q", w.noted())
				}
			})
		})
	}
	t.Run("told by a notification", func(t *testing.T) {
		inWebWorld(t, map[string]func(*exchangeSeen){"notifications/x": func(x *exchangeSeen) {
			x.w.WriteHeader(404)
		}}, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("", "notifications/x")
			if err := <-w.over; err != ErrSessionExpired {
				w.Errorf("the end is %v", err)
			}
		})
	})
	t.Run("an unknown method is none", func(t *testing.T) {
		const unknown = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`
		inWebWorld(t, map[string]func(*exchangeSeen){"x": func(x *exchangeSeen) { x.json(404, unknown) }}, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "x")
			w.wantBody("1", unknown)
			w.send("2", "y")
			w.wantBody("2", `{"jsonrpc":"2.0","id":2,"result":{}}`)
		})
	})
}

func TestInitializedIsAGate(t *testing.T) {
	for name, c := range map[string]struct{ answered, reached time.Duration }{
		"answered": {3 * time.Second, 3 * time.Second},
		"bounded":  {20 * time.Second, initializedTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"notifications/initialized": func(x *exchangeSeen) {
				elapse(c.answered)
				x.accepted()
			}}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.send("1", "tools/list")
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
				if at := w.requests("tools/list")[0].At; at != c.reached {
					w.Errorf("the call came after %v, want %v", at, c.reached)
				}
			})
		})
	}
	t.Run("abort before initialized is answered", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){"notifications/initialized": func(x *exchangeSeen) { x.left() }}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "tools/list")
			w.s.CancelAndAbort("1", message("", "notifications/cancelled"), func(error) {})
			w.wantNothing()
			if len(w.requests("tools/list"))+len(w.requests("notifications/cancelled")) != 0 {
				w.Errorf("%q", w.noted())
			}
		})
	})
}

func TestPostsKeepTheirOrder(t *testing.T) {
	on := map[string]func(*exchangeSeen){"n/0": func(x *exchangeSeen) { elapse(time.Second); x.accepted() }}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		for i := range 5 {
			w.send("", fmt.Sprint("n/", i))
		}
		w.send("1", "overtakes")
		elapse(2 * time.Second)
		synctest.Wait()
		var got []string
		for _, n := range w.noted() {
			if strings.HasPrefix(n, "n/") || n == "overtakes" {
				got = append(got, n)
			}
		}
		slices.Sort(got[:2]) // these two are sent concurrently
		if d := cmp.Diff([]string{"n/0", "overtakes", "n/1", "n/2", "n/3", "n/4"}, got); d != "" {
			w.Error(d)
		}
	})
}

func TestPostsAreBounded(t *testing.T) {
	on := map[string]func(*exchangeSeen){"hangs": func(x *exchangeSeen) { x.left() }}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("", "hangs")
		w.send("", "next")
		elapse(postTimeout)
		synctest.Wait()
		if len(w.requests("next")) != 1 {
			w.Error("a server that does not answer a notification holds up the next one")
		}
	})
}

func TestStandaloneStream(t *testing.T) {
	t.Run("messages, and reopened behind the last", func(t *testing.T) {
		n := 0
		on := map[string]func(*exchangeSeen){"GET": func(x *exchangeSeen) {
			if n++; n == 1 {
				x.events("id: e1\nretry: 700\ndata: " + hello + "\n\n")
				return
			}
			x.events(": keep-alive\n\ndata: " + hello + "\n\n")
			x.left()
		}}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.wantBody("", hello)
			w.wantBody("", hello)
			gets := w.requests("GET")
			if len(gets) != 2 || gets[1].At-gets[0].At != 700*time.Millisecond || gets[1].Header.Get("Last-Event-Id") != "e1" ||
				gets[1].Header.Get("Mcp-Session-Id") != "s-1" {
				w.Errorf("%d times, the second after %v with %v", len(gets), gets[1].At-gets[0].At, gets[1].Header)
			}
			w.wantNothing()
		})
	})
	for _, status := range []int{405, 400, 404, 501} {
		t.Run(fmt.Sprint("none: ", status), func(t *testing.T) {
			on := map[string]func(*exchangeSeen){"GET": func(x *exchangeSeen) { x.w.WriteHeader(status) }}
			inWebWorld(t, on, func(w *webWorld) {
				w.legacy("2025-11-25")
				w.wantNothing()
				if n := len(w.requests("GET")); n != 1 {
					w.Errorf("asked %d times", n)
				}
				w.send("1", "x")
				w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
			})
		})
	}
	t.Run("a 404 later is the session's end", func(t *testing.T) {
		n := 0
		on := map[string]func(*exchangeSeen){"GET": func(x *exchangeSeen) {
			if n++; n == 1 {
				x.events(": open\n\n")
				return
			}
			x.w.WriteHeader(404)
		}}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			if err := <-w.over; err != ErrSessionExpired {
				w.Errorf("the end is %v", err)
			}
		})
	})
	t.Run("failures double the pause", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){"GET": func(x *exchangeSeen) { x.w.WriteHeader(502) }}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			elapse(2 * time.Minute)
			var pauses []time.Duration
			gets := w.requests("GET")
			for i := 1; i < len(gets); i++ {
				pauses = append(pauses, (gets[i].At-gets[i-1].At)/time.Second)
			}
			if d := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 30, 30}, pauses[:7]); d != "" {
				w.Error(d)
			}
		})
	})
	t.Run("slow headers hold up calls for a moment only", func(t *testing.T) {
		on := map[string]func(*exchangeSeen){"GET": func(x *exchangeSeen) { x.left() }}
		inWebWorld(t, on, func(w *webWorld) {
			w.legacy("2025-11-25")
			w.send("1", "x")
			w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
			if at := w.requests("x")[0].At; at != listenTimeout {
				w.Errorf("the call came after %v", at)
			}
		})
	})
	t.Run("not in the modern era", func(t *testing.T) {
		inWebWorld(t, nil, func(w *webWorld) {
			w.modern()
			w.send("", "notifications/initialized")
			w.wantNothing()
			if len(w.requests("GET")) != 0 {
				w.Error("GET was sent")
			}
		})
	})
}

func TestIdleCostsNoGoroutine(t *testing.T) {
	inWebWorld(t, nil, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.send("1", "tools/call")
		w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.send("", "notifications/x")
		w.s.work.Wait() // without Close; if a goroutine stayed, the bubble would deadlock
	})
}

func TestLogsTellNoSecrets(t *testing.T) {
	var log bytes.Buffer
	on := map[string]func(*exchangeSeen){
		"notifications/x": func(x *exchangeSeen) { http.Error(x.w, "their words", 400) },
		"GET":             func(x *exchangeSeen) { http.Error(x.w, "their words", 400) },
		"DELETE":          func(*exchangeSeen) { panic(http.ErrAbortHandler) },
	}
	inWebWorld(t, on, func(w *webWorld) {
		w.legacy("2025-11-25")
		w.s.Send(Message{Method: "notifications/x",
			Body: []byte(`{"jsonrpc":"2.0","method":"notifications/x","params":"payload"}`)})
		synctest.Wait()
		_ = w.s.Close()
		for _, bad := range []string{"secret", "s-1", "payload", "token", "their words", "http://"} {
			if strings.Contains(log.String(), bad) {
				w.Errorf("%q is in the log:\n%s", bad, log.String())
			}
		}
		if n := strings.Count(log.String(), "\n"); n < 3 {
			w.Errorf("%d lines: the test shows nothing", n)
		}
	}, func(_ *webWorld, o *HTTPOptions) {
		o.Header = http.Header{"Authorization": {"token"}}
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
}
