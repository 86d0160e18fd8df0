package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Requests and the history have the title of the tool, since people read that instead of the name. The server chooses
// the title, so it is bounded.
func TestRequestsTellTheTitleOfTheirTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		long := strings.Repeat("é", bounds.ToolTitleBytes)
		cut := bounds.Cut(long, bounds.ToolTitleBytes)
		if len(cut) > bounds.ToolTitleBytes {
			t.Fatalf("a title of %d bytes", len(cut))
		}
		work := func(c *fakeserver.CallContext) { c.Text("worked") }
		s.ToolWith(`{"name": "work", "title": "Do the work", "inputSchema": {"type": "object"}}`, work)
		s.ToolWith(`{"name": "long", "title": "`+long+`", "inputSchema": {"type": "object"}}`, work)
		s.ToolWith(`{"name": "old", "inputSchema": {"type": "object"}, "annotations": {"title": "Older"}}`, work)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for _, tool := range []string{"work", "work", "long", "old"} {
			w.call(hub.CallRequest{Server: "s", Tool: tool, Arguments: "{}"}).ok(t)
		}
		c := w.call(hub.CallRequest{ID: "stopped", Server: "s", Tool: "hang"})
		w.state("stopped")
		now := w.attach(hub.Hello{})
		if open := now.start.Snapshot.Requests; len(open) != 1 || open[0].Title != "" || open[0].Tool != "hang" {
			t.Errorf("the snapshot has %+v", open)
		}
		now.win.Detach(true)
		if _, err := v.win.Cancel("stopped", "no"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		var begun, ended []string
		for _, e := range eventsOf[*event.RequestStarted](v) {
			if e.Request.Method == "tools/call" {
				begun = append(begun, e.Request.Tool+": "+e.Request.Title)
			}
		}
		for _, e := range w.history(10) {
			switch b := e.Body.(type) {
			case *event.RequestCancelled:
				ended = append(ended, b.Tool+": "+b.Title)
			case *event.RequestFinished:
				if b.Tool != "" {
					ended = append(ended, b.Tool+": "+b.Title)
				}
			}
		}
		// The first call begins before the server has ever been listed.
		want := []string{"work: ", "work: Do the work", "long: " + cut, "old: Older", "hang: "}
		if fmt.Sprint(begun) != fmt.Sprint(want) {
			t.Errorf("begun: %q, want %q", begun, want)
		}
		want[0] = "work: Do the work"
		if fmt.Sprint(ended) != fmt.Sprint(want) {
			t.Errorf("ended: %q, want %q", ended, want)
		}
	})
}
