package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// spanLine shows a span in a line: its kind, name and status, the attributes that do not vary, and its events.
func spanLine(s sdktrace.ReadOnlySpan) string {
	var parts []string
	for _, a := range s.Attributes() {
		switch a.Key {
		case "mcphub.request.id", "mcphub.server", "jsonrpc.request.id":
		default:
			parts = append(parts, string(a.Key)+"="+a.Value.String())
		}
	}
	slices.Sort(parts)
	events := slices.Clone(s.Events())
	// The goroutine that has sent a request and the one that receives the question that it led to add their events in
	// either order, so rounds come first here.
	rounds := slices.DeleteFunc(slices.Clone(events), func(e sdktrace.Event) bool { return e.Name != "mcphub.round" })
	for _, e := range append(rounds, slices.DeleteFunc(events, func(e sdktrace.Event) bool {
		return e.Name == "mcphub.round"
	})...) {
		part := e.Name
		for _, a := range e.Attributes {
			if a.Key != "jsonrpc.request.id" {
				part += " " + a.Value.String()
			}
		}
		parts = append(parts, "["+part+"]")
	}
	return fmt.Sprintf("%s %s %s: %s", s.SpanKind(), s.Name(), s.Status().Code, strings.Join(parts, " "))
}

func TestSpans(t *testing.T) {
	bubble(t, func(t *testing.T) {
		recorder := tracetest.NewSpanRecorder()
		a := asking(elicitation, formParams, fakeserver.WithCapabilities(`{"tools":{},"resources":{},"prompts":{}}`))
		a.Tool("refuse", func(c *fakeserver.CallContext) { c.Error(-32050, "SECRET") })
		a.Tool("fail", func(c *fakeserver.CallContext) {
			c.Result(`{"isError":true,"content":[{"type":"text","text":"SECRET"}]}`)
		})
		a.Handle("prompts/get", func(c *fakeserver.CallContext) { c.Result(`{"messages":[]}`) })
		a.Handle("resources/read", func(c *fakeserver.CallContext) { c.Result(`{"contents":[]}`) })
		w := newWorldWith(t, hub.Options{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))},
			serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		// last is the latest span that has ended.
		last := func() sdktrace.ReadOnlySpan {
			synctest.Wait()
			ended := recorder.Ended()
			return ended[len(ended)-1]
		}
		want := func(line string) sdktrace.ReadOnlySpan {
			t.Helper()
			s := last()
			if got := spanLine(s); got != line {
				t.Errorf("the span is\n%s; want\n%s", got, line)
			}
			return s
		}
		tool := func(name, more string) string {
			return "gen_ai.operation.name=execute_tool gen_ai.tool.name=" + name +
				" mcp.method.name=tools/call mcp.protocol.version=2025-11-25 " + more
		}
		caller := journal.SpanContext{Parent: traceParent, State: "vendor=1"}
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo", Arguments: `{"SECRET":1}`, Trace: caller}).ok(t)
		s := want("client tools/call echo Unset: " +
			tool("echo", "mcphub.request.state=done network.transport=pipe [mcphub.round]"))
		if s.Parent().SpanID().String() != "b7ad6b7169203331" || !s.Parent().IsRemote() ||
			s.SpanContext().TraceID().String() != traceID {
			t.Errorf("parent %v", s.Parent())
		}
		if got, want := carried(a.Server, "tools/call"), fmt.Sprintf("00-%s-%s-01 vendor=1 ", traceID,
			s.SpanContext().SpanID()); got != want {
			t.Errorf("the server got %q; want %q", got, want)
		}
		if start := recorder.Ended()[0]; start.Name() != "initialize" || start.SpanKind() != trace.SpanKindClient {
			t.Errorf("the start is %s", spanLine(start))
		}
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "refuse"}).ok(t)
		s = want("client tools/call refuse Error: error.type=-32050 " +
			tool("refuse", "mcphub.request.state=failed network.transport=pipe rpc.response.status_code=-32050 [mcphub.round]"))
		if s.Parent().IsValid() ||
			w.hub.Traces(event.TraceFilter{RequestID: "r2"})[0].TraceID != s.SpanContext().TraceID().String() {
			t.Errorf("parent %v, trace %s", s.Parent(), s.SpanContext().TraceID())
		}
		w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "fail"}).ok(t)
		want("client tools/call fail Error: error.type=tool_error " +
			tool("fail", "mcphub.request.state=done network.transport=pipe [mcphub.round]"))

		c := w.begin("r4", "hang")
		v.cancel("r4", "SECRET")
		c.cancelled(t)
		want("client tools/call hang Error: error.type=cancelled " +
			tool("hang", "mcphub.request.state=cancelled network.transport=pipe [mcphub.round] [mcphub.cancel user]"))

		// until then it would not be known whether the question is of this call or of the one that was cancelled
		pass(30 * time.Second)
		c = w.call(hub.CallRequest{ID: "r5", Server: "s", Tool: "ask"})
		v.accept(formYes)
		c.ok(t)
		s = want("client tools/call ask Unset: " +
			tool("ask", "mcphub.request.state=done network.transport=pipe [mcphub.round] "+
				"[mcphub.prompt.opened elicitation_form] [mcphub.prompt.closed elicitation_form answered]"))
		ended := recorder.Ended()
		question := ended[len(ended)-2]
		if question.Name() != elicitation || question.SpanKind() != trace.SpanKindServer ||
			question.Parent().SpanID() != s.SpanContext().SpanID() {
			t.Errorf("the question is %s, a child of %v", spanLine(question), question.Parent().SpanID())
		}
		if _, err := w.hub.ReadResource(t.Context(), hub.CallRequest{Server: "s", URI: "file:///SECRET"}); err != nil {
			t.Fatal(err)
		}
		want(
			"client resources/read Unset: mcp.method.name=resources/read mcp.protocol.version=2025-11-25 mcphub.request.state=done network.transport=pipe [mcphub.round]")
		if _, err := w.hub.GetMcpPrompt(t.Context(), hub.CallRequest{Server: "s", McpPrompt: "greet"}); err != nil {
			t.Fatal(err)
		}
		want(
			"client prompts/get greet Unset: gen_ai.prompt.name=greet mcp.method.name=prompts/get mcp.protocol.version=2025-11-25 mcphub.request.state=done network.transport=pipe [mcphub.round]")
		for _, s := range recorder.Ended() {
			if text := fmt.Sprintf("%v", tracetest.SpanStubFromReadOnlySpan(s)); strings.Contains(text, "SECRET") {
				t.Errorf("content: %s", text)
			}
		}
		if started, ended := len(recorder.Started()), len(recorder.Ended()); started != ended {
			t.Errorf("%d spans were started, %d ended", started, ended)
		}
	})
}

func TestTelemetryOffCostsNothing(t *testing.T) {
	h := hub.New(hub.Options{})
	defer h.Close(t.Context())
	if n := testing.AllocsPerRun(100, h.TelemetryOfOneRequest()); n != 0 {
		t.Errorf("%v allocations a request without telemetry", n)
	}
	on := hub.New(hub.Options{Tracer: sdktrace.NewTracerProvider()})
	defer on.Close(t.Context())
	if n := testing.AllocsPerRun(100, on.TelemetryOfOneRequest()); n == 0 {
		t.Error("the measurement measures nothing")
	}
}

func TestSpansOfRounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		recorder := tracetest.NewSpanRecorder()
		w := newWorldWith(t, hub.Options{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))},
			serversOf("s", rounds(1)), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		v.accept(formYes)
		c.ok(t)
		ended := recorder.Ended()
		if got := spanLine(ended[len(ended)-1]); !strings.HasSuffix(got,
			"[mcphub.round] [mcphub.round] [mcphub.prompt.opened elicitation_form] [mcphub.prompt.closed elicitation_form answered]") {
			t.Error(got)
		}
	})
}
