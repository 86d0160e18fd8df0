package fakeserver_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const callEcho = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"p"}}}`

// echo sends a progress notification and then its result.
func echo(c *fakeserver.CallContext) {
	c.Progress(1, 0, "")
	c.Result(`{"n": 1.0}`)
}

func withEcho(opts ...fakeserver.Option) *fakeserver.Server {
	s := fakeserver.New(opts...)
	s.Tool("echo", echo)
	return s
}

const (
	echoProgress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"p"}}`
	echoResult   = `{"jsonrpc":"2.0","id":1,"result":{"n": 1.0}}`
)

func TestHTTPSessionBeginsAndEnds(t *testing.T) {
	overHTTP(t, withEcho(), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.post(callEcho).status(http.StatusBadRequest).close()
		w.initialize()
		if w.headers["Mcp-Session-Id"] != "session-1" {
			t.Errorf("headers %v", w.headers)
		}
		a := w.post(callEcho).status(http.StatusOK)
		a.want(echoProgress)
		a.want(echoResult)
		if end := a.event(); end != "" {
			t.Errorf("after the answer came %q", end)
		}
		w.post(callEcho, "Mcp-Session-Id", "session-9").status(http.StatusNotFound).close()
		w.post(callEcho, "Mcp-Protocol-Version", "1999-01-01").status(http.StatusBadRequest).close()
		w.post(callEcho, "Accept", "application/json").status(http.StatusNotAcceptable).close()
		w.post(callEcho, "Content-Type", "text/plain").status(http.StatusUnsupportedMediaType).close()
		w.post(`no json`).status(http.StatusBadRequest).close()
		w.do(http.MethodPut, fakeserver.PathMCP, "").status(http.StatusMethodNotAllowed).close()
		w.do(http.MethodGet, "/elsewhere", "").status(http.StatusNotFound).close()
		w.do(http.MethodDelete, fakeserver.PathMCP, "").status(http.StatusOK).close()
		w.post(callEcho).status(http.StatusNotFound).close()
	})
}

func TestHTTPRecordsExchanges(t *testing.T) {
	s := withEcho()
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		w.post(callEcho, "X-Team", "blue").rest()
		synctest.Wait()
		all := w.http.Exchanges()
		x := all[len(all)-1]
		if x.N != 3 || x.Verb != "POST" || x.Header.Get("X-Team") != "blue" || x.Message.Raw != callEcho ||
			x.Message.Method != "tools/call" || string(x.Message.ID) != "1" || !x.Ended {
			t.Errorf("recorded %+v", x)
		}
		if m := received(t, s, fakeserver.Method("tools/call")); m.Raw != callEcho || m.Conn != 1 {
			t.Errorf("received %+v", m)
		}
	})
}

func TestHTTPAnswersInJSON(t *testing.T) {
	s := withEcho()
	overHTTP(t, s, fakeserver.HTTPOptions{JSON: true}, func(t *testing.T, w *web) {
		a := w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
		if a.res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Content-Type %q", a.res.Header.Get("Content-Type"))
		}
		w.headers["Mcp-Session-Id"] = a.res.Header.Get("Mcp-Session-Id")
		a.rest()
		if got := w.post(callEcho).rest(); got != echoResult {
			t.Errorf("got %s", got)
		}
		// The progress does not fit into a JSON body, so it was kept for the standalone stream.
		g := w.do(http.MethodGet, fakeserver.PathMCP, "")
		g.want(echoProgress)
		g.close()
	})
}

func TestHTTPServerAsksOnEitherStream(t *testing.T) {
	s := fakeserver.New()
	answers := make(chan fakeserver.Message, 1)
	s.Tool("ask", func(c *fakeserver.CallContext) {
		o := c.Request("elicitation/create", `{"message":"a"}`)
		answers <- <-o.Response()
		c.Request("elicitation/create", `{"message":"b"}`).Cancel("not needed")
		c.Text("done")
	})
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		g := w.do(http.MethodGet, fakeserver.PathMCP, "").status(http.StatusOK)
		a := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
		a.want(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"a"}}`)
		w.post(`{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}`).status(http.StatusAccepted).close()
		if m := <-answers; string(m.Result) != `{"action":"decline"}` {
			t.Errorf("the tool got %s", m.Raw)
		}
		a.has(`"message":"b"`)
		a.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"not needed","requestId":1}}`)
		a.has("done")
		o, err := s.Request("roots/list", "")
		if err != nil {
			t.Fatal(err)
		}
		g.want(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
		w.post(`{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}`).close()
		if m := <-o.Response(); string(m.Result) != `{"roots":[]}` {
			t.Errorf("the server got %s", m.Raw)
		}
		g.close()
	})
}

// In a legacy session the notification cancels the call, and closing the stream does not.
func TestHTTPLegacyCancel(t *testing.T) {
	s := fakeserver.New()
	causes := make(chan error, 1)
	s.Tool("hang", func(c *fakeserver.CallContext) { causes <- c.Hang() })
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		a := w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}`)
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}`).close()
		var cancelled *fakeserver.CancelledError
		if err := <-causes; !errors.As(err, &cancelled) || *cancelled != (fakeserver.CancelledError{Reason: "enough"}) {
			t.Errorf("cancelled by %v", err)
		}
		a.close()

		b := w.post(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"hang"}}`)
		b.close()
		time.Sleep(time.Minute)
		select {
		case err := <-causes:
			t.Errorf("leaving cancelled the call: %v", err)
		default:
		}
	})
}

func TestHTTPResumes(t *testing.T) {
	for name, act := range map[string]fakeserver.Act{"ended at will": {EndAfter: 1}, "broken": {CutAfter: 1}} {
		t.Run(name, func(t *testing.T) {
			s := withEcho()
			overHTTP(t, s, fakeserver.HTTPOptions{Resumable: true}, func(t *testing.T, w *web) {
				a := w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
				w.headers["Mcp-Session-Id"] = a.res.Header.Get("Mcp-Session-Id")
				a.close()
				w.http.On("POST tools/call", 1, act)
				a = w.post(callEcho)
				if got := a.event(); got != "id: 2_0|data: " {
					t.Errorf("first came %q", got)
				}
				if got := a.event(); got != "event: message|id: 2_1|data: "+echoProgress {
					t.Errorf("then came %q", got)
				}
				if got, broken := a.event(), act.CutAfter > 0; broken != (got == "<unexpected EOF>") || !broken && got != "" {
					t.Errorf("at the end came %q", got)
				}
				g := w.do(http.MethodGet, fakeserver.PathMCP, "", "Last-Event-ID", "2_1")
				g.has("id: 2_1")
				if got := g.event(); got != "event: message|id: 2_2|data: "+echoResult {
					t.Errorf("after the resumption came %q", got)
				}
				if got := g.event(); got != "" {
					t.Errorf("at the end of the resumed stream came %q", got)
				}
				w.do(http.MethodGet, fakeserver.PathMCP, "", "Last-Event-ID", "9_1").status(http.StatusBadRequest).close()
				if s.Count(fakeserver.Method("tools/call")) != 1 {
					t.Error("the call came twice")
				}
			})
		})
	}
}

func TestHTTPExpire(t *testing.T) {
	s := fakeserver.New()
	causes := make(chan error, 1)
	s.Tool("hang", func(c *fakeserver.CallContext) { causes <- c.Hang() })
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		a := w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}`)
		w.http.Expire()
		if err := <-causes; err == nil {
			t.Error("the call ended without a cause")
		}
		if got := a.rest(); got != "" {
			t.Errorf("its stream ended with %q", got)
		}
		w.post(callEcho).status(http.StatusNotFound).close()
		delete(w.headers, "Mcp-Session-Id")
		w.initialize()
		if w.headers["Mcp-Session-Id"] != "session-2" {
			t.Errorf("headers %v", w.headers)
		}
	})
}

func TestHTTPDisconnectBreaksTheConnection(t *testing.T) {
	s := fakeserver.New()
	s.Tool("crash", func(c *fakeserver.CallContext) { c.Disconnect() })
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		a := w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"crash"}}`)
		if got := a.rest(); got != "<unexpected EOF>" {
			t.Errorf("got %q", got)
		}
		w.post(callEcho).status(http.StatusNotFound).close()
		if err := s.Send("x"); !errors.Is(err, fakeserver.ErrNotConnected) {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

func TestHTTPAfterClose(t *testing.T) {
	overHTTP(t, withEcho(), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		g := w.do(http.MethodGet, fakeserver.PathMCP, "")
		w.http.Close()
		w.http.Close()
		g.rest()
		w.post(callEcho).status(http.StatusServiceUnavailable).close()
	})
}
