package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// withApp returns a server with tools for models, for views, and for both.
func withApp() *fakeserver.Server {
	s := hanging()
	for name, visibility := range map[string]string{"refresh": `["app"]`, "secret": `["model"]`, "both": `["app","model"]`} {
		s.ToolWith(`{"name":"`+name+`","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://v","visibility":`+
			visibility+`}}}`, func(c *fakeserver.CallContext) { c.Text(name) })
	}
	return s
}

// While the call of a view runs, and as long as it is kept, the view can call the tools of its own server, except those
// for models only. The caller that people see names the view. Everything else is refused, and does not reach a server.
func TestCallsOfViews(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, other := withApp(), withApp()
		w := newWorld(t, map[string]*fakeserver.Server{"s": s, "other": other}, "s:"+allow, "other:"+allow)
		v := w.everything()
		hang := w.call(hub.CallRequest{ID: "view", Server: "s", Tool: "hang"})
		w.state("view")
		ofView := func(server, tool string) hub.CallRequest {
			return hub.CallRequest{Server: server, Tool: tool, AppOf: "view"}
		}
		calls := func() {
			t.Helper()
			w.call(ofView("s", "refresh")).ok(t)
			w.call(ofView("s", "both")).ok(t)
			w.call(ofView("s", "echo")).ok(t)
			w.call(ofView("s", "secret")).want(t, event.CodePermissionDenied, event.ReasonNotForApps)
			w.call(ofView("other", "refresh")).want(t, event.CodePermissionDenied, event.ReasonNotForApps)
			w.call(hub.CallRequest{Server: "s", Tool: "refresh", AppOf: "unknown"}).want(t, event.CodePermissionDenied,
				event.ReasonNotForApps)
		}
		calls()
		if _, err := v.win.Cancel("view", "enough"); err != nil {
			t.Fatal(err)
		}
		hang.want(t, event.CodeCancelled, event.ReasonCancelled)
		calls()
		w.read(hub.CallRequest{ID: "resource", Server: "s", URI: "ui://v", AppOf: "view"})
		w.read(hub.CallRequest{Server: "other", URI: "ui://v", AppOf: "view"}).want(t, event.CodePermissionDenied,
			event.ReasonNotForApps)
		w.call(hub.CallRequest{Server: "s", Tool: "refresh", AppOf: "resource"}).want(t, event.CodePermissionDenied,
			event.ReasonNotForApps)
		for _, e := range eventsOf[*event.RequestStarted](v) {
			r := e.Request
			if want := "view of hang"; r.Tool == "refresh" && r.Caller != want {
				t.Errorf("%s is for %q, want %q", r.ID, r.Caller, want)
			}
		}
		if n := other.Count(fakeserver.Method("tools/call")); n != 0 {
			t.Errorf("%d calls of the view have reached another server", n)
		}
		for _, m := range s.Received() {
			if m.Method == "tools/call" && string(m.Param("name")) == `"secret"` {
				t.Error("a tool that is not for views was called")
			}
		}
	})
}

// A call of a view needs approval like any other call, and a No refuses it.
func TestApprovalsOfViews(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withApp()
		w := newWorld(t, serversOf("s", s))
		v := w.everything()
		w.call(hub.CallRequest{ID: "view", Server: "s", Tool: "echo", Preapproved: true}).ok(t)
		c := w.call(hub.CallRequest{Server: "s", Tool: "refresh", AppOf: "view"})
		p := v.prompt()
		if p.Kind != event.PromptToolApproval || c.over() {
			t.Fatalf("asked %+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		w.nothingLeft()
	})
}

// A view belongs to the launch that ran when its call was made. If the entry of the server changes, another server has
// the name, and the view can use neither its tools nor its resources.
func TestViewsOfWhatRanBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := withApp()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		w.call(hub.CallRequest{ID: "view", Server: "s", Tool: "echo"}).ok(t)
		ofView := hub.CallRequest{Server: "s", Tool: "refresh", AppOf: "view"}
		w.call(ofView).ok(t)
		// A call that never reached its server has a view, too: the view is told why there is no result.
		w.call(hub.CallRequest{ID: "refused", Server: "s", Tool: "no such tool"}).want(t, event.CodeNotFound,
			event.ReasonToolNotFound)
		w.call(hub.CallRequest{Server: "s", Tool: "refresh", AppOf: "refused"}).ok(t)
		before := s.Count(fakeserver.Method("tools/call"))
		w.load("s:" + allow + `,"args":["other"]`)
		w.call(ofView).want(t, event.CodePermissionDenied, event.ReasonNotForApps)
		w.read(hub.CallRequest{Server: "s", URI: "ui://v", AppOf: "view"}).want(t, event.CodePermissionDenied,
			event.ReasonNotForApps)
		if n := s.Count(fakeserver.Method("tools/call")); n != before {
			t.Errorf("%d calls of the old view have reached what runs now", n-before)
		}
		w.load("s:" + allow) // the entry is as it was
		w.call(ofView).ok(t)
		w.nothingLeft()
	})
}
