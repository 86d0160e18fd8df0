package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const (
	traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceID     = "0af7651916cd43dd8448eb211c80319c"
)

// carried is the trace context in the _meta of the latest request of a method.
func carried(s *fakeserver.Server, method string) string {
	text := ""
	for _, m := range s.Received() {
		if m.Method == method {
			meta := fakeserver.Message{Params: m.Param("_meta")}
			text = fmt.Sprintf("%s %s %s", meta.Param("traceparent"), meta.Param("tracestate"), meta.Param("baggage"))
		}
	}
	return strings.ReplaceAll(text, `"`, "")
}

func TestTraceContextReachesTheServer(t *testing.T) {
	for _, modern := range []bool{false, true} {
		for _, web := range []bool{false, true} {
			subtest(t, fmt.Sprintf("modern %v web %v", modern, web), func(t *testing.T) {
				var opts []fakeserver.Option
				if modern {
					opts = append(opts, fakeserver.WithModern())
				}
				opts = append(opts, fakeserver.WithCapabilities(`{"tools":{},"resources":{},"prompts":{}}`))
				s := hanging(opts...)
				s.Handle("resources/read", func(c *fakeserver.CallContext) { c.Result(`{"resultType":"complete","contents":[]}`) })
				s.Handle("prompts/get", func(c *fakeserver.CallContext) { c.Result(`{"resultType":"complete","messages":[]}`) })
				var w *world
				if web {
					w = newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s), "s:"+allow).world
				} else {
					w = newWorld(t, serversOf("s", s), "s:"+allow)
				}
				given := journal.SpanContext{Parent: traceParent, State: "vendor=1,other=2", Baggage: "user=7"}
				whole := traceParent + " vendor=1,other=2 user=7"
				for i, c := range []struct {
					what     string
					trace    journal.SpanContext
					meta     string
					want, id string
				}{
					{"as it came", given, "", whole, traceID},
					{"beside other meta", given, `{"x/y":1}`, whole, traceID},
					{"none", journal.SpanContext{}, "", "  ", ""},
					{"a later version", journal.SpanContext{Parent: "cc" + traceParent[2:] + "-more"}, "", "cc" + traceParent[2:] +
						"-more  ", traceID},
					{"no trace", journal.SpanContext{Baggage: "user=7"}, "", "  user=7", ""},
					{"short", journal.SpanContext{Parent: traceParent[1:], State: "a=1", Baggage: "b=1"}, "", "  b=1", ""},
					{"upper case", journal.SpanContext{Parent: strings.ToUpper(traceParent), State: "a=1"}, "", "  ", ""},
					{"all zero", journal.SpanContext{Parent: "00-00000000000000000000000000000000-b7ad6b7169203331-01"}, "", "  ", ""},
					{"forbidden version", journal.SpanContext{Parent: "ff" + traceParent[2:]}, "", "  ", ""},
					{"more than version 0 has", journal.SpanContext{Parent: traceParent + "-more"}, "", "  ", ""},
					{"state with a line break", journal.SpanContext{Parent: traceParent, State: "a=1\nb"}, "", traceParent +
						"  ", traceID},
					{"baggage without end", journal.SpanContext{Parent: traceParent, Baggage: strings.Repeat("x", 9000)},
						"", traceParent + "  ", traceID},
					{"meta wins", given, `{"traceparent":"00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}`,
						"00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00  user=7", "1" + traceID[1:]},
					{"meta wins, whatever it is", given, `{"traceparent":7,"baggage":"mine"}`, "7  mine", ""},
				} {
					id := fmt.Sprint("r", i)
					w.call(hub.CallRequest{ID: id, Server: "s", Tool: "echo", Trace: c.trace, Meta: c.meta}).ok(t)
					if got := carried(s, "tools/call"); got != c.want {
						t.Errorf("%s: the server got %q; want %q", c.what, got, c.want)
					}
					if got := w.hub.Traces(event.TraceFilter{RequestID: id})[0].TraceID; got != c.id {
						t.Errorf("%s: trace id %q; want %q", c.what, got, c.id)
					}
				}
				if _, err := w.hub.ReadResource(context.Background(), hub.CallRequest{Server: "s", URI: "file:///a",
					Trace: given}); err != nil || carried(s, "resources/read") != whole {
					t.Errorf("resources/read: %v, %q", err, carried(s, "resources/read"))
				}
				if _, err := w.hub.GetMcpPrompt(context.Background(), hub.CallRequest{Server: "s", McpPrompt: "p",
					Trace: given}); err != nil || carried(s, "prompts/get") != whole {
					t.Errorf("prompts/get: %v, %q", err, carried(s, "prompts/get"))
				}
			})
		}
	}
}

// The requests that are made about a task carry the context of its call, and so do the rounds of one.
func TestTraceContextOfTasksAndRounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, modern := range []bool{false, true} {
			s := newTaskServer(modern)
			w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
			_, c := taskWorld(w, hub.CallRequest{Trace: journal.SpanContext{Parent: traceParent}})
			pass(1500e6)
			s.set("T-1", "completed", "")
			c.ok(t)
			methods := []string{"tools/call", "tasks/get"}
			if !modern {
				methods = append(methods, "tasks/result")
			}
			for _, method := range methods {
				if got := carried(s.Server, method); got != traceParent+"  " {
					t.Errorf("modern %v, %s: %q", modern, method, got)
				}
			}
		}
		s := rounds(1)
		w, v := withWindow(t, s)
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask", Trace: journal.SpanContext{Parent: traceParent}})
		v.accept(formYes)
		c.ok(t)
		if got := carried(s, "tools/call"); got != traceParent+"  " {
			t.Errorf("second round: %q", got)
		}
	})
}
