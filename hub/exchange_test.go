package hub_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
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
		w.begin("", "echo").ok(t)
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
