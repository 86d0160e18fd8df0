package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A call that is refused because the server has forgotten the session has not run, and runs once on a new session.
func TestSessionExpired(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		v, s := w.everything(), w.sites["s"]
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		for i := range 20 {
			s.http.Expire()
			synctest.Wait()
			id := fmt.Sprintf("r%d", i)
			if r := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "echo"}).ok(t); textOf(t, r) != "hello" {
				t.Errorf("the result is %s", r.Result)
			}
			v.terminalOf(id)
		}
		if n := toolCalls(s.Server); n != 21 {
			t.Errorf("%d calls reached the server", n)
		}
		if n := s.Count(fakeserver.Method("initialize")); n != 21 {
			t.Errorf("%d sessions", n)
		}
		w.nothingLeft()
	})
}

// A call that was running when the session ended may have had effects: it fails, its error says so, and it is not sent
// again.
func TestSessionExpiredUnderACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		v, s := w.everything(), w.sites["s"]
		hang := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		if got := w.state("r1"); got != "running" {
			t.Fatalf("the call is %q", got)
		}
		s.http.On("POST tools/call", 0, fakeserver.Act{Status: 404})
		s.http.On("POST tools/call", 2, fakeserver.Act{})
		r2 := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
		r2.ok(t)
		e := hang.want(t, event.CodeUnavailable, event.ReasonExchangeFailed)
		if e.Meta["server_may_continue"] != "true" || !strings.Contains(e.Message, "was not repeated") ||
			e.Meta["request_id"] != "r1" {
			t.Errorf("the error is %+v", e)
		}
		if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || !end.ServerMayContinue ||
			end.State != event.StateFailed {
			t.Errorf("the end is %+v", end)
		}
		if n := s.Count(func(m fakeserver.Message) bool { return strings.Contains(m.Raw, `"hang"`) }); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
		w.nothingLeft()
	})
}

// If the server refuses the new session as well, the call fails after this second attempt.
func TestSessionExpiresTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		v, s := w.everything(), w.sites["s"]
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		s.http.On("POST tools/call", 0, fakeserver.Act{Status: 404})
		e := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"}).want(t, event.CodeUnavailable,
			event.ReasonExchangeFailed)
		if e.Meta["server_may_continue"] != "false" || e.Meta["http_status"] != "404" {
			t.Errorf("the error has %+v", e.Meta)
		}
		if end := v.terminalOf("r1").(*event.RequestFinished); end.ServerMayContinue {
			t.Errorf("the end of the request is %+v", end)
		}
		n := 0
		for _, x := range s.http.Exchanges() {
			if x.Message.Method == "tools/call" {
				n++
			}
		}
		if n != 3 {
			t.Errorf("%d calls were sent", n)
		}
		w.nothingLeft()
	})
}

// A call that is cancelled while the new session starts sends nothing there.
func TestSessionExpiredAndCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		v, s := w.everything(), w.sites["s"]
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		gate := make(chan struct{})
		s.http.On("POST initialize", 0, fakeserver.Act{Hold: gate})
		s.http.Expire()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		if got := w.state("r1"); got != "connecting" {
			t.Fatalf("the call is %q", got)
		}
		if _, err := v.win.Cancel("r1", "no"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		close(gate)
		synctest.Wait()
		if n := toolCalls(s.Server); n != 1 {
			t.Errorf("%d calls", n)
		}
		if end := v.terminalOf("r1").(*event.RequestCancelled); end.ServerNotified() || end.ServerMayContinue {
			t.Errorf("the end of the request is %+v", end)
		}
		w.nothingLeft()
	})
}

// A list has no effects, so it is requested again at once if its session was forgotten.
func TestSessionExpiredUnderAList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering()
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s.Server))
		if _, err := w.hub.Resources(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		w.sites["s"].http.Expire()
		synctest.Wait()
		if list, err := w.hub.Resources(context.Background(), "s"); err != nil || len(list) == 0 {
			t.Errorf("the resources are %v, error %v", list, err)
		}
		if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		w.sites["s"].http.Expire()
		synctest.Wait()
		if err := s.NotifyToolsChanged(); err == nil {
			t.Error("a notification was sent although the session has expired")
		}
		if list, _, err := w.hub.Tools(context.Background(), "s"); err != nil || len(list) == 0 {
			t.Errorf("the tools are %v, error %v", list, err)
		}
		w.nothingLeft()
	})
}

// The error of a failure below JSON-RPC says whether the call may have run.
func TestExchangeFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		modern bool
		act    fakeserver.Act
		may    bool
		status string
	}{
		{"sent elsewhere", false, fakeserver.Act{Status: 302}, false, "302"},
		{"sent elsewhere, modern", true, fakeserver.Act{Status: 302}, false, "302"},
		{"refused", false, fakeserver.Act{Status: 500}, true, "500"},
		{"refused, modern", true, fakeserver.Act{Status: 503}, true, "503"},
		{"a page in place of an answer", false, fakeserver.Act{Status: 200,
			Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"}, true, "200"},
		{"broken before headers", false, fakeserver.Act{Break: true}, true, ""},
		{"broken before headers, modern", true, fakeserver.Act{Break: true}, true, ""},
		{"an answer without the answer, modern", true, fakeserver.Act{SSE: true, CutBytes: 3}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				if c.modern {
					s = hanging(fakeserver.WithModern())
				}
				w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s), "s:"+allow)
				v := w.everything()
				w.sites["s"].http.On("POST tools/call", 1, c.act)
				call := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
				pass(10 * time.Minute)
				e := call.want(t, event.CodeUnavailable, event.ReasonExchangeFailed)
				if e.Meta["server_may_continue"] != fmt.Sprint(c.may) || e.Meta["http_status"] != c.status ||
					e.Meta["server"] != "s" {
					t.Errorf("%s: %+v", e.Message, e.Meta)
				}
				if end, ok := v.terminalOf("r1").(*event.RequestFinished); !ok || end.ServerMayContinue != c.may || end.Err != e {
					t.Errorf("the end is %+v", end)
				}
				n := 0
				for _, x := range w.sites["s"].http.Exchanges() {
					if x.Message.Method == "tools/call" {
						n++
					}
				}
				if n != 1 {
					t.Errorf("sent %d times", n)
				}
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				w.nothingLeft()
			})
		})
	}
}

// The error of a list that fails below JSON-RPC names the list, not a tool.
func TestExchangeOfAListFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering()
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s.Server))
		w.sites["s"].http.On("POST resources/list", 1, fakeserver.Act{Status: 503})
		_, err := w.hub.Resources(context.Background(), "s")
		e := event.AsError(err)
		if e == nil || e.Reason != event.ReasonExchangeFailed || strings.Contains(e.Message, "tool") ||
			!strings.Contains(e.Message, "list its resources") {
			t.Errorf("the error is %v", err)
		}
		if _, ok := e.Meta["request_id"]; ok {
			t.Errorf("the error has %+v", e.Meta)
		}
	})
}

// A server behind a URL is shown with its transport and URL, and without a PID. A cancel of a modern call over HTTP
// closes its stream and sends no notification.
func TestServerBehindAURLIsShown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging(fakeserver.WithModern())), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		if got := w.state("r1"); got != "running" {
			t.Fatalf("the call is %q", got)
		}
		if i := w.server("s"); i.Transport != event.TransportHTTP || i.URL != "http://127.0.0.1:1/mcp" || i.PID != 0 ||
			i.Era != event.EraModern || i.SignIn != 0 {
			t.Errorf("the server is %+v", i)
		}
		if _, err := v.win.Cancel("r1", "no"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		// Closing the stream told the server, and a real server (mcp-go) continued nevertheless. Finding B11.
		if end := v.terminalOf("r1").(*event.RequestCancelled); !end.ServerNotified() || !end.ServerMayContinue {
			t.Errorf("the end of the request is %+v", end)
		}
		if got := cancels(w.sites["s"].Server); len(got) != 0 {
			t.Errorf("notifications %v", got)
		}
		w.nothingLeft()
	})
}
