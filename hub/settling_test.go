package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A server tells of changed tools whenever it lists them. A call lists them at most twice, and is sent. Finding A3.
func TestListChangedInEachList(t *testing.T) {
	for name, members := range map[string]string{"allowed": allow, "asked for": `"timeouts":{}`} {
		subtest(t, name, func(t *testing.T) {
			s := fakeserver.New(fakeserver.WithCapabilities(`{"tools":{"listChanged":true}}`))
			var lists atomic.Int64
			s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
			s.Handle("tools/list", func(c *fakeserver.CallContext) {
				lists.Add(1)
				c.Notify("notifications/tools/list_changed", "")
				c.Result(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
			})
			w := newWorld(t, serversOf("s", s), "s:"+members)
			v := w.everything()
			ctx, stop := context.WithCancelCause(context.Background())
			defer stop(nil)
			c := w.callContext(ctx, hub.CallRequest{Server: "s", Tool: "echo"})
			if members != allow {
				v.accept("")
			}
			c.ok(t)
			if n := lists.Load(); n > 2 {
				t.Errorf("the list was asked for %d times", n)
			}
		})
	}
}

// A tool whose definition is different in each list is asked about, but not for ever: it is listed twice, and the call
// is sent when the person has agreed to the second definition. Finding A3.
func TestToolThatChangesInEachList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New(fakeserver.WithCapabilities(`{"tools":{"listChanged":true}}`))
		var lists atomic.Int64
		s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
		s.Handle("tools/list", func(c *fakeserver.CallContext) {
			n := lists.Add(1)
			c.Result(fmt.Sprintf(`{"tools":[{"name":"echo","description":"the %d.","inputSchema":{"type":"object"}}]}`, n))
			c.Notify("notifications/tools/list_changed", "")
		})
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		for range 100 {
			synctest.Wait()
			if c.over() {
				break
			}
			v.accept("")
		}
		if !c.over() {
			t.Fatal("the call never ends")
		}
		c.ok(t)
		asked := last[*event.PromptOpened](v).Prompt.Approval.Tool
		if n := lists.Load(); n != 2 || !strings.Contains(asked.Description, "the 2.") {
			t.Errorf("after %d lists, the last question was about %q; want the definition of the second list", n,
				asked.Description)
		}
	})
}

// timeouts.connect: 0 is no limit, for the start of a server and for what it is asked afterwards. Finding B14.
func TestConnectTimeoutZeroIsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithCapabilities(`{"tools":{},"resources":{}}`))
		for _, m := range []string{"resources/list", "tools/list"} {
			s.Handle(m, func(c *fakeserver.CallContext) {
				<-time.After(2 * time.Minute)
				c.Result(`{"resources":[],"tools":[]}`)
			})
		}
		w := newWorld(t, serversOf("s", s), `s:"timeouts":{"connect":0},`+allow)
		if _, err := w.hub.Resources(context.Background(), "s"); err != nil {
			t.Errorf("resources/list: %v", err)
		}
		if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
			t.Errorf("tools/list: %v", err)
		}
	})
}
