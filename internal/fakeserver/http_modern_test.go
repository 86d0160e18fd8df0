package fakeserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func (w *web) modern(id int, method, params string, headers ...string) *answer {
	w.t.Helper()
	body, own := modernCall(id, method, params)
	return w.post(body, append(own, headers...)...)
}

func TestHTTPModernCall(t *testing.T) {
	s := withEcho(fakeserver.WithModern())
	overHTTP(t, s, fakeserver.HTTPOptions{Resumable: true}, func(t *testing.T, w *web) {
		w.modern(1, "server/discover", "").has(`"supportedVersions":["2026-07-28"]`)
		a := w.modern(1, "tools/call", `"name":"echo"`)
		a.want(echoResult) // no progress without a token, and no event ids
		if got := a.event(); got != "" {
			t.Errorf("after the answer came %q", got)
		}
		if id := a.res.Header.Get("Mcp-Session-Id"); id != "" {
			t.Errorf("session %q", id)
		}
	})
}

func TestHTTPModernStatuses(t *testing.T) {
	overHTTP(t, withEcho(fakeserver.WithModern()), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		for _, tt := range []struct {
			name    string
			a       *answer
			status  int
			message string
		}{
			{"no _meta", w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Method", "tools/list"), 400,
				`"id":1,"error":{"code":-32602`},
			{"no method header", w.modern(1, "tools/list", "", "Mcp-Method", ""), 400, `"id":1,"error":{"code":-32020`},
			{"other name", w.modern(1, "tools/call", `"name":"echo"`, "Mcp-Name", "Echo"), 400, `-32020`},
			{"encoded name", w.modern(1, "tools/call", `"name":"echo"`, "Mcp-Name", "=?base64?ZWNobw==?="), 200, `"n": 1.0`},
			{"other version", w.post(strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+
				`}}`, "2026-07-28", "2030-01-01", 1),
				"Mcp-Method", "tools/list", "Mcp-Protocol-Version", "2030-01-01"), 400, `-32022`},
			{"unknown method", w.modern(1, "no/such", ""), 404, `"id":1,"error":{"code":-32601`},
			{"initialize", w.post(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "Mcp-Method", "initialize"), 404, `-32601`},
			{"GET", w.do(http.MethodGet, fakeserver.PathMCP, ""), 405, ``},
			{"DELETE", w.do(http.MethodDelete, fakeserver.PathMCP, ""), 405, ``},
			{"notification with a version", w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "Mcp-Method",
				"notifications/cancelled", "Mcp-Protocol-Version", "2026-07-28"), 202, ``},
			{"notification", w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "Mcp-Method",
				"notifications/cancelled"), 202, ``},
		} {
			tt.a.status(tt.status)
			if got := tt.a.rest(); !strings.Contains(got, tt.message) {
				t.Errorf("%s: %s", tt.name, got)
			}
		}
	})
}

func TestHTTPModernProbeOfALegacyServer(t *testing.T) {
	overHTTP(t, withEcho(), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		a := w.modern(1, "server/discover", "").status(http.StatusBadRequest)
		if got := a.rest(); !strings.Contains(got, `"id":null`) || !strings.Contains(got, `-32000`) {
			t.Errorf("got %s", got)
		}
		w.initialize()
	})
	overHTTP(t, withEcho(fakeserver.WithExitOnProbe()), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		if got := w.modern(1, "server/discover", "").rest(); got != "<unexpected EOF>" {
			t.Errorf("got %s", got)
		}
		w.initialize()
	})
	// The server is of both eras.
	overHTTP(t, withEcho(fakeserver.WithModern(), fakeserver.WithRevision("2025-11-25")), fakeserver.HTTPOptions{},
		func(t *testing.T, w *web) {
			w.modern(1, "tools/call", `"name":"echo"`).want(echoResult)
			w.initialize()
			a := w.post(callEcho)
			a.want(echoProgress)
			a.want(echoResult)
		})
}

// Closing the request cancels the call, also before the headers have come. A notification cancels nothing.
func TestHTTPModernCloseCancels(t *testing.T) {
	s := fakeserver.New(fakeserver.WithModern())
	causes := make(chan error, 1)
	s.Tool("hang", func(c *fakeserver.CallContext) { causes <- c.Hang() })
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		cancelled := func(close func()) {
			t.Helper()
			w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, "Mcp-Method",
				"notifications/cancelled").status(http.StatusAccepted)
			synctest.Wait()
			if len(causes) != 0 {
				t.Fatal("a notification cancelled the call")
			}
			close()
			var e *fakeserver.CancelledError
			if err := <-causes; !errors.As(err, &e) || !e.Closed || e.Reason != "" {
				t.Errorf("cancelled by %v", err)
			}
		}
		a := w.modern(7, "tools/call", `"name":"hang"`)
		cancelled(a.close)

		w.http.On("POST tools/call", 1, fakeserver.Act{Silent: true})
		body, headers := modernCall(7, "tools/call", `"name":"hang"`)
		answers, close := w.begin(http.MethodPost, fakeserver.PathMCP, body, headers...)
		synctest.Wait()
		cancelled(close)
		if a := <-answers; a != nil {
			t.Errorf("answered %d", a.res.StatusCode)
		}
	})
}

func TestHTTPModernSubscription(t *testing.T) {
	s := withEcho(fakeserver.WithModern())
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		a := w.modern(5, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		a.has("notifications/subscriptions/acknowledged", `"io.modelcontextprotocol/subscriptionId":5`)
		w.modern(6, "tools/call", `"name":"echo"`).rest() // a later exchange that has ended
		synctest.Wait()
		if err := s.NotifyToolsChanged(); err != nil {
			t.Fatal(err)
		}
		a.has("notifications/tools/list_changed", `"io.modelcontextprotocol/subscriptionId":5`)
		sub := s.Subscriptions()[0]
		sub.EndWithResult()
		a.has(`"id":5,"result"`)
		if got := a.event(); got != "" {
			t.Errorf("after the result came %q", got)
		}
		b := w.modern(7, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		b.has("acknowledged")
		b.close()
		synctest.Wait()
		if n := len(s.Subscriptions()); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

// Over HTTP/2 one exchange can be closed, and another broken, without effect on the others of their connection.
func TestHTTP2OneStreamOfMany(t *testing.T) {
	s := fakeserver.New(fakeserver.WithModern())
	causes := make(chan error, 2)
	release := make(chan struct{})
	s.Tool("hang", func(c *fakeserver.CallContext) { causes <- c.Hang() })
	s.Tool("wait", func(c *fakeserver.CallContext) { <-release; c.Text("waited") })
	h := fakeserver.NewHTTP(s, fakeserver.HTTPOptions{})
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	defer h.Close()
	w := &web{t: t, http: h, trip: server.Client().Transport, base: server.URL}

	other := w.modern(1, "tools/call", `"name":"wait"`)
	if other.res.ProtoMajor != 2 {
		t.Fatalf("HTTP/%d", other.res.ProtoMajor)
	}
	w.modern(2, "tools/call", `"name":"hang"`).close()
	var e *fakeserver.CancelledError
	if err := <-causes; !errors.As(err, &e) || !e.Closed {
		t.Errorf("cancelled by %v", err)
	}
	h.On("POST tools/call", 1, fakeserver.Act{Break: true})
	body, headers := modernCall(3, "tools/call", `"name":"wait"`)
	answers, _ := w.begin(http.MethodPost, fakeserver.PathMCP, body, headers...)
	if a := <-answers; a != nil {
		t.Errorf("answered %d", a.res.StatusCode)
	}
	close(release)
	other.has("waited")
}
