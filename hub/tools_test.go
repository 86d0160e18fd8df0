package hub_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// listed gives the names of a server's tools.
func (w *world) listed(name string) string {
	w.t.Helper()
	list, _, err := w.hub.Tools(context.Background(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// A change of the tools is told to the windows, and the next list is asked for anew.
func TestToolsChanged(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answers("a")
				if era == "modern" {
					s = fakeserver.New(fakeserver.WithModern())
					s.Tool("a", func(c *fakeserver.CallContext) { c.Text("a") })
				}
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				for range 2 {
					if got := w.listed("s"); got != "a" {
						t.Errorf("tools %s", got)
					}
				}
				synctest.Wait()
				s.Tool("b", func(c *fakeserver.CallContext) { c.Text("b") })
				if err := s.NotifyToolsChanged(); err != nil {
					t.Fatal(err)
				}
				if changed := eventsOf[*event.ToolsChanged](v); len(changed) != 1 || changed[0].Server != "s" {
					t.Errorf("%+v", changed)
				}
				if got := w.listed("s"); got != "a b" {
					t.Errorf("tools %s", got)
				}
				if n := s.Count(fakeserver.Method("tools/list")); n != 2 {
					t.Errorf("the tools were asked for %d times", n)
				}
			})
		})
	}
}

// A list that was under way when the tools changed is not what later callers get.
func TestToolsChangedWhileListing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const list = `{"tools":[{"name":"a","inputSchema":{"type":"object"}}`
		s := answers("a", "b")
		slow := make(chan struct{})
		var asked atomic.Int32
		s.Handle("tools/list", func(c *fakeserver.CallContext) {
			if asked.Add(1) == 1 {
				<-slow
				c.Result(list + `]}`)
				return
			}
			c.Result(list + `,{"name":"b","inputSchema":{"type":"object"}}]}`)
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		first := w.call(hub.CallRequest{Server: "s", Tool: "a"})
		synctest.Wait()
		if err := s.NotifyToolsChanged(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.call(hub.CallRequest{Server: "s", Tool: "b"}).ok(t)
		close(slow)
		first.ok(t)
		if got := w.listed("s"); got != "a b" {
			t.Errorf("tools %s", got)
		}
	})
}

// The log level goes to a legacy server at once, and with each request to a modern one.
func TestSetLogLevel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		legacy, modern, dumb := hanging(), hanging(fakeserver.WithModern()),
			fakeserver.New(fakeserver.WithCapabilities(`{"tools":{}}`))
		w := newWorld(t, map[string]*fakeserver.Server{"legacy": legacy, "modern": modern, "dumb": dumb}, "modern:"+allow)
		ctx := context.Background()
		if err := w.hub.SetLogLevel(ctx, "legacy", "warning"); err != nil || legacy.LogLevel() != "warning" {
			t.Errorf("%v, level %q", err, legacy.LogLevel())
		}
		if err := w.hub.SetLogLevel(ctx, "modern", "error"); err != nil {
			t.Error(err)
		}
		w.call(hub.CallRequest{Server: "modern", Tool: "echo"}).ok(t)
		if n := modern.Count(func(m fakeserver.Message) bool {
			return m.Method == "tools/call" && strings.Contains(string(m.Param("_meta")),
				`"io.modelcontextprotocol/logLevel":"error"`)
		}); n != 1 {
			t.Errorf("%d calls carried the level", n)
		}
		wantReason(t, w.hub.SetLogLevel(ctx, "dumb", "info"), event.ReasonNoLogging)
		wantReason(t, w.hub.SetLogLevel(ctx, "legacy", "loud"), event.ReasonInvalidRequest)
		wantReason(t, w.hub.SetLogLevel(ctx, "none", "info"), event.ReasonServerNotFound)
	})
}
