package hub_test

import (
	"fmt"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Windows tell calls of one tool from each other by their arguments and by the client that they are for: while they
// run, when they end, and in the history.
func TestRequestsTellTheirArgumentsAndCaller(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("work", func(c *fakeserver.CallContext) { c.Text("worked") })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		const shown = `path: "/tmp/a", api_key: [redacted]`
		of := hub.CallRequest{Server: "s", Tool: "work", Arguments: `{"path": "/tmp/a", "api_key": "k-1"}`, CallerName: "Other"}
		of.ID = "done"
		w.call(of).ok(t)
		of.ID, of.Tool = "stopped", "hang"
		c := w.call(of)
		w.state("stopped")
		now := w.attach(hub.Hello{})
		open := now.start.Snapshot.Requests
		if len(open) != 1 || open[0].Preview != shown || open[0].Caller != "Other" {
			t.Errorf("the snapshot has %+v", open)
		}
		now.win.Detach(true)
		if _, err := v.win.Cancel("stopped", "no"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		for _, e := range eventsOf[*event.RequestStarted](v) {
			if e.Request.Method == "tools/call" && (e.Request.Preview != shown || e.Request.Caller != "Other") {
				t.Errorf("the start of %+v", e.Request)
			}
		}
		var told []string
		for _, e := range w.history(10) {
			switch b := e.Body.(type) {
			case *event.RequestCancelled:
				told = append(told, b.Tool+" "+b.Preview+" "+b.Caller)
			case *event.RequestFinished:
				told = append(told, b.Tool+" "+b.Preview+" "+b.Caller)
			}
		}
		const startOfSession = "  "
		want := []string{startOfSession, "work " + shown + " Other", "hang " + shown + " Other"}
		if fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("the history has %q, want %q", told, want)
		}
	})
}
