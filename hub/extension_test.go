package hub_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const uiExtension = "io.modelcontextprotocol/ui"

func showing(settings string) map[string]json.RawMessage {
	return map[string]json.RawMessage{uiExtension: json.RawMessage(settings)}
}

// declared returns the settings of an extension that the server was sent last in a message of a method, or "".
func declared(s *fakeserver.Server, method, name string) string {
	synctest.Wait()
	text := ""
	for _, m := range s.Received() {
		if m.Method != method {
			continue
		}
		var params struct {
			Capabilities struct {
				Extensions map[string]json.RawMessage
			}
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		if json.Unmarshal(m.Params, &params) != nil {
			continue
		}
		text = string(params.Capabilities.Extensions[name])
		var perRequest struct {
			Extensions map[string]json.RawMessage
		}
		if json.Unmarshal(params.Meta["io.modelcontextprotocol/clientCapabilities"], &perRequest) == nil &&
			perRequest.Extensions != nil {
			text = string(perRequest.Extensions[name])
		}
	}
	return text
}

// The extensions that windows show are declared to servers: at the start of a legacy session, and with each request of
// a modern one. If windows declare different settings, those of the older window count.
func TestExtensionsOfWindows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		legacy, modern := hanging(), hanging(fakeserver.WithModern())
		w := newWorld(t, map[string]*fakeserver.Server{"legacy": legacy, "modern": modern}, "legacy:"+allow, "modern:"+allow)
		old := w.attach(hub.Hello{Extensions: showing(`{"mimeTypes":["text/html"]}`)})
		w.attach(hub.Hello{Extensions: map[string]json.RawMessage{uiExtension: json.RawMessage(`{"other":true}`),
			"com.example/x": json.RawMessage(`{}`)}})
		w.call(hub.CallRequest{Server: "legacy", Tool: "echo"}).ok(t)
		w.call(hub.CallRequest{Server: "modern", Tool: "echo"}).ok(t)
		for _, c := range []struct {
			s      *fakeserver.Server
			method string
		}{{legacy, "initialize"}, {modern, "tools/call"}} {
			if got := declared(c.s, c.method, uiExtension); got != `{"mimeTypes":["text/html"]}` {
				t.Errorf("%s declared %q", c.method, got)
			}
			if got := declared(c.s, c.method, "com.example/x"); got != `{}` {
				t.Errorf("%s declared %q", c.method, got)
			}
		}
		old.win.Detach(true)
		w.call(hub.CallRequest{Server: "modern", Tool: "echo"}).ok(t)
		if got := declared(modern, "tools/call", uiExtension); got != `{"other":true}` {
			t.Errorf("after the older window has gone: %q", got)
		}
	})
}

// A legacy server that was connected before a window could show an extension is connected again once it is idle. A
// modern one need not be.
func TestExtensionsGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		legacy, modern := hanging(), hanging(fakeserver.WithModern())
		w := newWorld(t, map[string]*fakeserver.Server{"legacy": legacy, "modern": modern}, "legacy:"+allow, "modern:"+allow)
		v := w.attach(hub.Hello{})
		ctx := context.Background()
		for _, name := range []string{"legacy", "modern"} {
			if _, err := w.hub.StartServer(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		hang := w.call(hub.CallRequest{ID: "r1", Server: "legacy", Tool: "hang"})
		w.state("r1")
		v.win.SetCapabilities(nil, false, showing(`{}`))
		synctest.Wait()
		if w.starts("legacy") != 1 || hang.over() {
			t.Fatal("a session in use was ended")
		}
		if _, err := v.win.Cancel("r1", ""); err != nil {
			t.Fatal(err)
		}
		hang.want(t, event.CodeCancelled, event.ReasonCancelled)
		if got := declared(legacy, "initialize", uiExtension); w.starts("legacy") != 2 || got != `{}` {
			t.Errorf("%d starts, declared %q", w.starts("legacy"), got)
		}
		v.win.SetCapabilities(nil, false, nil) // fewer extensions are no reason to connect again
		v.win.SetCapabilities(nil, false, showing(`{}`))
		synctest.Wait()
		if w.starts("legacy") != 2 || w.starts("modern") != 1 {
			t.Errorf("%d and %d starts", w.starts("legacy"), w.starts("modern"))
		}
		w.nothingLeft()
	})
}

// A server whose task is running is not connected again for a new extension before the task has ended.
func TestTaskKeepsItsSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(false)
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		v, c := taskWorld(w, hub.CallRequest{})
		s.Disconnect() // the task survives a change of the connection
		pass(5 * time.Second)
		v.win.SetCapabilities(allKinds, true, showing(`{}`))
		pass(time.Minute)
		if w.starts("s") != 2 {
			t.Errorf("%d starts while a task works", w.starts("s"))
		}
		s.set("T-1", "completed", "")
		c.ok(t)
		pass(time.Second)
		if w.starts("s") != 3 {
			t.Errorf("%d starts once it is idle", w.starts("s"))
		}
		w.nothingLeft()
	})
}
