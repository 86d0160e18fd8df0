package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A server that was restarted answers 400 to a session that it does not know. The call that gets this answer has not
// run, and runs once on a new session. Finding B4.
func TestSessionRefusedWith400(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
		s := w.sites["s"]
		w.everything()
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		unknown := fakeserver.Act{Status: 400,
			Body: `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`}
		s.http.On("POST tools/call", 1, unknown)
		s.http.On("POST ping", 1, unknown)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		if n := s.Count(fakeserver.Method("initialize")); n != 2 {
			t.Errorf("%d sessions, want 2", n)
		}
		w.nothingLeft()
	})
}

// An error says how often a call was sent, and does not say that it was not repeated if it was. A call is not repeated
// after a 503. Finding B1.
func TestErrorsSayHowOftenACallWasSent(t *testing.T) {
	for name, c := range map[string]struct {
		before []fakeserver.Act // the answers before the last
		last   fakeserver.Act
		text   string
		calls  int
	}{
		"500": {nil, fakeserver.Act{Status: 500}, "was not repeated", 1},
		"503": {nil, fakeserver.Act{Status: 503, Header: map[string]string{"Retry-After": "1"}},
			"was not repeated", 1},
		"429, 500": {[]fakeserver.Act{{Status: 429}}, fakeserver.Act{Status: 500}, "was sent 2 times", 2},
		"429, 429, 503": {[]fakeserver.Act{{Status: 429}, {Status: 429}},
			fakeserver.Act{Status: 503, Header: map[string]string{"Retry-After": "1"}}, "was sent 3 times", 3},
		"404, 500": {[]fakeserver.Act{{Status: 404}}, fakeserver.Act{Status: 500}, "was sent 2 times", 2},
		"404, 429, broken": {[]fakeserver.Act{{Status: 404}, {Status: 429}}, fakeserver.Act{Break: true}, "was sent 3 times",
			3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), "s:"+allow)
				s := w.sites["s"]
				w.everything()
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				for i, a := range append(c.before, c.last) {
					s.http.On("POST tools/call", i+1, a)
				}
				e := w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeUnavailable, event.ReasonExchangeFailed)
				if !strings.Contains(e.Message, c.text) || c.calls > 1 && strings.Contains(e.Message, "not repeated") ||
					e.Meta["server_may_continue"] != "true" {
					t.Errorf("%s (%v)", e.Message, e.Meta)
				}
				n := -1 // the first call does not count
				for _, x := range s.http.Exchanges() {
					if x.Message.Method == "tools/call" {
						n++
					}
				}
				if n != c.calls {
					t.Errorf("sent %d times, want %d", n, c.calls)
				}
				w.nothingLeft()
			})
		})
	}
}

// A call that comes when its transport has learned that the server ended the session, and the session has not ended
// yet, is not sent on the old session. It runs once, on a new one.
func TestCallWhileTheSessionExpires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		servers := serversOf("s", hanging())
		site := newWebWorld(t, fakeserver.HTTPOptions{}, servers)
		s := site.sites["s"]
		var first *lateEnd
		open := func(ctx context.Context) (*mcp.Link, error) {
			link, err := mcp.HTTP(transport.HTTPOptions{URL: "http://" + s.host + "/mcp", RoundTripper: site.road})(ctx)
			if err == nil && first == nil {
				conn := link.Conn.(jsonrpc.Sender)
				first = &lateEnd{Sender: conn, ending: make(chan struct{})}
				link.Conn = first
			}
			return link, err
		}
		w := newWorldWith(t, hub.Options{Open: func(config.Server, func(string)) mcp.Opener { return open }}, servers,
			"s:"+allow)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		s.http.Expire()
		refused := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		<-first.ending
		late := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
		refused.ok(t)
		late.ok(t)
		if calls, sessions := toolCalls(s.Server), s.Count(fakeserver.Method("initialize")); calls != 3 || sessions != 2 {
			t.Errorf("%d calls reached the server in %d sessions", calls, sessions)
		}
		w.nothingLeft()
	})
}

// lateEnd is a connection whose end the hub receives a second late.
type lateEnd struct {
	jsonrpc.Sender
	ending chan struct{} // closed when that second begins
}

func (c *lateEnd) ReadMessage(results *bounds.Account) (jsonrpc.Message, error) {
	m, err := c.Sender.ReadMessage(results)
	if err == transport.ErrSessionExpired {
		close(c.ending)
		<-time.After(time.Second)
	}
	return m, err
}
