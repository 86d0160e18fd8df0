package fakeserver_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestHTTPActAnswersInstead(t *testing.T) {
	s := withEcho()
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		w.http.On("POST tools/call", 0, fakeserver.Act{Status: 503})
		w.http.On("POST tools/call", 1, fakeserver.Act{Status: 429, Header: map[string]string{"Retry-After": "2"}})
		w.http.On("POST tools/call", 2, fakeserver.Act{Status: 200, Header: map[string]string{"Content-Type": "text/html"},
			Body: "<html>login</html>"})
		w.http.On("GET", 0, fakeserver.Act{Status: 405})
		a := w.post(callEcho).status(429)
		if a.res.Header.Get("Retry-After") != "2" {
			t.Errorf("headers %v", a.res.Header)
		}
		a.close()
		a = w.post(callEcho).status(200)
		if got := a.rest(); got != "<html>login</html>" || a.res.Header.Get("Content-Type") != "text/html" {
			t.Errorf("got %s, headers %v", got, a.res.Header)
		}
		if n := s.Count(fakeserver.Method("tools/call")); n != 0 {
			t.Errorf("%d calls had effect", n)
		}
		w.post(callEcho).status(503).close()
		w.do(http.MethodGet, fakeserver.PathMCP, "").status(405).close()
	})
}

func TestHTTPActKeepsBack(t *testing.T) {
	s := withEcho()
	overHTTP(t, s, fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
		w.initialize()
		gate := make(chan struct{})
		w.http.On("POST tools/call", 1, fakeserver.Act{Hold: gate})
		w.http.On("POST notifications/cancelled", 1, fakeserver.Act{Silent: true})
		w.http.On("POST tools/call", 2, fakeserver.Act{Break: true})

		answers, _ := w.begin(http.MethodPost, fakeserver.PathMCP, callEcho)
		time.Sleep(time.Hour)
		if len(answers) != 0 || s.Count(fakeserver.Method("tools/call")) != 1 {
			t.Error("answered, or not handled, while held")
		}
		close(gate)
		(<-answers).want(echoProgress)

		answers, leave := w.begin(http.MethodPost, fakeserver.PathMCP,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		time.Sleep(time.Hour)
		if len(answers) != 0 || s.Count(fakeserver.CancelOf(raw(`1`))) != 1 {
			t.Error("answered, or not handled, though silent")
		}
		leave()
		<-answers
		synctest.Wait()

		answers, _ = w.begin(http.MethodPost, fakeserver.PathMCP, callEcho)
		if a := <-answers; a != nil {
			t.Errorf("answered %d", a.res.StatusCode)
		}
	})
}

func TestHTTPActShapesTheStream(t *testing.T) {
	progress := "event: message\ndata: " + echoProgress + "\n\n"
	all := progress + "event: message\ndata: " + echoResult + "\n\n"
	for name, tt := range map[string]struct {
		act  fakeserver.Act
		want string
	}{
		"as it is":  {fakeserver.Act{}, all},
		"end":       {fakeserver.Act{EndAfter: 1}, progress},
		"cut":       {fakeserver.Act{CutAfter: 1}, progress + "<unexpected EOF>"},
		"cut bytes": {fakeserver.Act{CutBytes: 30}, all[:30] + "<unexpected EOF>"},
	} {
		t.Run(name, func(t *testing.T) {
			overHTTP(t, withEcho(), fakeserver.HTTPOptions{}, func(t *testing.T, w *web) {
				w.initialize()
				w.http.On("POST tools/call", 1, tt.act)
				got := w.post(callEcho).rest()
				if got != tt.want {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

func TestHTTPWithSSE(t *testing.T) {
	s := withEcho()
	causes := make(chan error, 1)
	s.Tool("hang", func(c *fakeserver.CallContext) { causes <- c.Hang() })
	overHTTP(t, s, fakeserver.HTTPOptions{Resumable: true}, func(t *testing.T, w *web) {
		w.do(http.MethodPost, fakeserver.PathSSE, "{}").status(http.StatusMethodNotAllowed).close()
		g := w.do(http.MethodGet, fakeserver.PathSSE, "").status(http.StatusOK)
		if got := g.event(); got != "event: endpoint|data: /messages?sessionId=session-1" {
			t.Fatalf("first came %q", got)
		}
		send := func(body string) {
			t.Helper()
			w.do(http.MethodPost, "/messages?sessionId=session-1", body).status(http.StatusAccepted).close()
		}
		send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
		g.has(`"protocolVersion":"2024-11-05"`)
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		send(callEcho)
		g.want(echoProgress)
		g.want(echoResult)
		o, err := s.Request("ping", "")
		if err != nil {
			t.Fatal(err)
		}
		g.want(`{"jsonrpc":"2.0","id":0,"method":"ping"}`)
		send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		if m := <-o.Response(); string(m.Result) != `{}` {
			t.Errorf("the server got %s", m.Raw)
		}
		send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hang"}}`)
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"enough"}}`)
		if err := <-causes; err.Error() != `cancelled by the client: "enough"` {
			t.Errorf("cancelled by %v", err)
		}
		// Over the older HTTP with SSE, the end of the stream ends the session.
		send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"hang"}}`)
		synctest.Wait()
		g.close()
		if err := <-causes; err == nil {
			t.Error("the call ended without a cause")
		}
		synctest.Wait()
		w.do(http.MethodPost, "/messages?sessionId=session-1", callEcho).status(http.StatusNotFound).close()
	})
}
