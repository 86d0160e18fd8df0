package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// The error about an unknown name of a server or a tool suggests a similar name that exists, but not a tool that the
// config hides. Finding D9.
func TestNearMisses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("files", answers("read_file", "read_fill", "write_file")),
			`files:"disabledTools":["read_fill"],`+allow)
		for _, c := range []struct{ server, tool, want string }{
			{"flies", "read_file", `there is no server "flies" in the config; did you mean "files"?`},
			{"web", "read_file", `there is no server "web" in the config`},
			{"files", "raed_file", `server "files" has no tool "raed_file"; did you mean "read_file"?`},
			{"files", "xyz", `server "files" has no tool "xyz"`},
		} {
			_, err := w.hub.CallTool(context.Background(), hub.CallRequest{Server: c.server, Tool: c.tool})
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		_, err := w.hub.StopServer(context.Background(), "file", "")
		if err == nil || !strings.HasSuffix(err.Error(), `did you mean "files"?`) {
			t.Error(err)
		}
		_, _, err = w.hub.Tools(context.Background(), "filse")
		if err == nil || !strings.HasSuffix(err.Error(), `did you mean "files"?`) {
			t.Error(err)
		}
	})
}

// A server with hundreds of tools with long names does not make this error long.
func TestNearMissesAmongManyTools(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var names []string
		for i := range 300 {
			names = append(names, fmt.Sprint(strings.Repeat("x", 50), i))
		}
		w := newWorld(t, serversOf("s", answers(names...)), `s:`+allow)
		e := w.call(hub.CallRequest{Server: "s", Tool: strings.Repeat("x", 60)}).want(t, event.CodeNotFound,
			event.ReasonToolNotFound)
		if len(e.Message) > 400 {
			t.Errorf("%d bytes", len(e.Message))
		}
	})
}
