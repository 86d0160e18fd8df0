package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// timeline returns the timeline of one request in lines, once nothing moves. It checks that no entry is older than the
// one before.
func (w *world) timeline(id string) []string {
	w.t.Helper()
	synctest.Wait()
	traces := w.hub.Traces(event.TraceFilter{RequestID: id})
	if len(traces) != 1 {
		w.t.Fatalf("%d timelines of %s", len(traces), id)
	}
	var lines []string
	var before time.Time
	for _, e := range traces[0].Entries {
		if e.Time.Before(before) {
			w.t.Errorf("%s: entry %s is older than the one before", id, entryLine(e))
		}
		before = e.Time
		lines = append(lines, entryLine(e))
	}
	return lines
}

func entryLine(e event.TraceEntry) string {
	switch {
	case e.State != 0:
		return e.State.String()
	case e.Cancellation != nil:
		return fmt.Sprintf("cancelled by %s: %s", e.Cancellation.Origin, e.Cancellation.Reason)
	case e.Prompt != nil && e.Prompt.Cause == 0:
		return fmt.Sprintf("%s opened", e.Prompt.Kind)
	case e.Prompt != nil:
		return fmt.Sprintf("%s closed: %s", e.Prompt.Kind, e.Prompt.Cause)
	case e.Sending != nil:
		return strings.TrimSpace(fmt.Sprintf("cancel %s %s", e.Sending.Delivery, e.Sending.Err))
	case e.Err != nil:
		line := "error " + e.Err.Reason
		if may := strings.HasSuffix(e.Err.Message,
			"; the server may go on"); may != (e.Err.Meta["server_may_continue"] == "true") {
			line += ", contradicts itself"
		} else if may {
			line += ", the server may go on"
		}
		return line
	}
	m := e.Message
	arrow := "<-"
	if m.Direction == event.Outgoing {
		arrow = "->"
	}
	line := fmt.Sprintf("%s %s %s", arrow, m.Type, m.Method)
	if m.ErrorCode != 0 {
		line += fmt.Sprintf(" %d", m.ErrorCode)
	}
	if m.Dropped {
		line += " dropped"
	}
	return line
}

// sizes checks that each request and notification that the hub sent for a request has the size that the server saw.
func (w *world) sizes(id string, s *fakeserver.Server) {
	w.t.Helper()
	got := map[string]int{}
	for _, m := range s.Received() {
		got[m.Method+string(m.ID)] = len(m.Raw)
		if m.Method == "notifications/cancelled" {
			got[m.Method+string(m.Param("requestId"))] = len(m.Raw)
		}
	}
	for _, e := range w.hub.Traces(event.TraceFilter{RequestID: id})[0].Entries {
		if m := e.Message; m != nil && m.Direction == event.Outgoing && !m.Dropped && m.Type != "response" {
			if m.Bytes == 0 || got[m.Method+m.WireID] != m.Bytes {
				w.t.Errorf("%s: %d bytes in the timeline, %d at the server", entryLine(e), m.Bytes, got[m.Method+m.WireID])
			}
		}
	}
}

// Timelines are read oldest request first, by id or by server, and the latest ones if there are too many.
func TestTraces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := withWindow(t, hanging())
		w.begin("r1", "echo").ok(t)
		w.begin("r2", "hang")
		for name, tc := range map[string]struct {
			filter event.TraceFilter
			want   []string
		}{
			"all":          {event.TraceFilter{}, []string{"r1", ownID(w.hub, "start", 2), "r2"}},
			"the latest":   {event.TraceFilter{Server: "s", Max: 2}, []string{ownID(w.hub, "start", 2), "r2"}},
			"one":          {event.TraceFilter{RequestID: "r1"}, []string{"r1"}},
			"of no server": {event.TraceFilter{Server: "other"}, nil},
		} {
			var ids []string
			for _, one := range w.hub.Traces(tc.filter) {
				ids = append(ids, one.Request.ID)
			}
			if diff := cmp.Diff(tc.want, ids); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// Timelines and the bundle for a bug report hold no arguments, results, questions and answers, and nothing that a
// server says.
func TestTimelineHoldsNoContent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const mark = "SECRET"
		asks := `{"message":"SECRET in a question","requestedSchema":{"type":"object","properties":{"SECRET_field":{"type":"string"}}}}`
		a := asking(elicitation, asks, fakeserver.WithInstructions("SECRET instructions"))
		a.Tool("leak", func(c *fakeserver.CallContext) {
			c.Progress(1, 2, "SECRET progress")
			c.Log("info", "SECRET log")
			c.Result(`{"content":[{"type":"text","text":"SECRET result"}]}`)
		})
		a.Tool("fail", func(c *fakeserver.CallContext) { c.ErrorData(-32000, "SECRET message", `"SECRET data"`) })
		a.Tool("die", func(c *fakeserver.CallContext) { c.Disconnect() })
		a.Handle("resources/read", func(c *fakeserver.CallContext) { c.Error(-32002, "SECRET: not found") })
		bad := fakeserver.New()
		bad.Handle("initialize", func(c *fakeserver.CallContext) { c.Error(-32000, "SECRET refusal") })
		var w *world
		open := func(s config.Server, stderr func(string)) mcp.Opener {
			return func(ctx context.Context) (*mcp.Link, error) {
				stderr("SECRET on stderr")
				link, err := w.open(s, stderr)(ctx)
				if err == nil {
					link.Ended = func() string {
						return "the process exited with status 3; it says on stderr: Error: SECRET; last lines on stderr: SECRET on stderr"
					}
				}
				return link, err
			}
		}
		w = newWorldWith(t, hub.Options{Open: open}, map[string]*fakeserver.Server{"s": a.Server, "bad": bad},
			"s:"+allow+`,"args":["--token=SECRET"],"env":{"TOKEN":"SECRET"}`, `bad:"args":["SECRET"]`)
		v := w.everything()
		args := `{"text":"SECRET argument"}` // its key is none whose value a preview hides
		meta := `{"traceparent":"SECRET","x/y":"SECRET"}`
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "leak", Arguments: args, Meta: meta}).ok(t)
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "fail", Arguments: args}).ok(t)
		w.hub.ReadResource(context.Background(), hub.CallRequest{ID: "r3", Server: "s", URI: "file:///SECRET"})
		hanging, stop := context.WithCancelCause(context.Background())
		go w.hub.ReadResource(hanging, hub.CallRequest{ID: "r4", Server: "s", URI: "file:///SECRET"})
		stop(context.Canceled)
		ask := w.call(hub.CallRequest{ID: "r5", Server: "s", Tool: "ask", Arguments: args})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept,
			Content: `{"SECRET_field":"SECRET answer"}`})
		ask.ok(t)
		w.call(hub.CallRequest{ID: "r6", Server: "bad", Tool: "x", Arguments: args}).want(t, event.CodeUnavailable,
			event.ReasonServerFailed)
		w.call(hub.CallRequest{ID: "r7", Server: "s", Tool: "die", Arguments: args}).want(t, event.CodeUnavailable,
			event.ReasonServerGone)
		synctest.Wait()
		traces := w.hub.Traces(event.TraceFilter{})
		for _, about := range []any{traces, w.hub.TraceBundle()} {
			text, err := json.Marshal(about)
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(string(text), mark); at >= 0 {
				t.Errorf("content: ...%s...", text[max(0, at-200):min(len(text), at+100)])
			}
		}
		if len(traces) != 10 { // seven, two starts, a question
			t.Errorf("%d timelines", len(traces))
		}
		about := w.hub.TraceBundle()["servers"].([]any)
		for _, one := range about {
			s := one.(map[string]any)
			want := map[string]string{"bad": "SERVER_FAILED; at initialize; JSON-RPC error -32000; the process exited with status 3", "s": "the connection ended; it closed its output; the process exited with status 3"}[s["name"].(string)]
			if s["state"] != "failed" || s["lastError"] != want || s["command"] != s["name"] {
				t.Errorf("%v", s)
			}
		}
	})
}
