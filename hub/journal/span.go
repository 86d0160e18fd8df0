package journal

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Spans follow the semantic conventions of OpenTelemetry for MCP (gen-ai/mcp, in development). Each request has one
// span, with its target in the name if there are few such targets (a tool or a prompt template, but not a URI).
// Arguments, results, URIs and reasons are never in spans.

const tracerName = "github.com/mcphub-go/mcphub/hub"

// Tracer makes spans. The methods of a nil Tracer do nothing.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a Tracer for the host's provider. If provider is nil, it returns nil: then there is no telemetry.
func NewTracer(provider trace.TracerProvider, version string) *Tracer {
	if provider == nil {
		return nil
	}
	return &Tracer{provider.Tracer(tracerName, trace.WithInstrumentationVersion(version))}
}

// Span is the span of one request. The methods of a nil Span do nothing.
type Span struct{ span trace.Span }

// SpanRequest is the data with which a span begins.
type SpanRequest struct {
	Method, Server, ID string
	Tool, Prompt       string // the name of the tool or of the prompt template; "" = none
	Incoming           bool   // the server asks the hub
	Start              time.Time
}

// SpanEnd is the data with which a span ends. At most one of Cancelled, McpError, Err and ToolError is set.
type SpanEnd struct {
	State     event.RequestState
	WireID    string
	Transport event.Transport
	Revision  string // the protocol revision, "" = there is no session
	Cancelled *event.CancelCause
	McpError  *event.McpError
	Err       *event.Error
	ToolError bool
}

// CalledBy returns ctx with the span of a caller, as the parent of a request's span. Without telemetry it returns ctx.
func (t *Tracer) CalledBy(ctx context.Context, c *SpanContext) context.Context {
	if t == nil {
		return ctx
	}
	said := c.checked()
	if sc := said.remote(); sc.IsValid() {
		return trace.ContextWithRemoteSpanContext(ctx, sc)
	}
	return ctx
}

// Start begins the span of a request. parent is the span of the call that caused the request. Without telemetry it
// returns nil.
func (t *Tracer) Start(ctx context.Context, parent *Span, r SpanRequest) *Span {
	if t == nil {
		return nil
	}
	name, kind := r.Method, trace.SpanKindClient
	attributes := []attribute.KeyValue{attribute.String("mcp.method.name", r.Method),
		attribute.String("mcphub.server", r.Server), attribute.String("mcphub.request.id", r.ID)}
	if r.Incoming {
		kind = trace.SpanKindServer
		if parent != nil {
			ctx = trace.ContextWithSpan(ctx, parent.span)
		}
	}
	switch {
	case r.Tool != "":
		name += " " + r.Tool
		attributes = append(attributes, attribute.String("gen_ai.tool.name", r.Tool),
			attribute.String("gen_ai.operation.name", "execute_tool"))
	case r.Prompt != "":
		name += " " + r.Prompt
		attributes = append(attributes, attribute.String("gen_ai.prompt.name", r.Prompt))
	}
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(r.Start),
		trace.WithAttributes(attributes...))
	return &Span{span}
}

// spanHeaders returns the W3C form of a span's context. If the span is not recorded, it returns the caller's.
func spanHeaders(sc trace.SpanContext, caller SpanContext) (parent, state string) {
	if !sc.IsValid() {
		return caller.Parent, caller.State
	}
	return fmt.Sprintf("00-%s-%s-%02x", sc.TraceID(), sc.SpanID(), byte(sc.TraceFlags()&trace.FlagsSampled)),
		sc.TraceState().String()
}

// Round records that the sending of a message of the request has begun. There is one for each round.
func (s *Span) Round(wireID string) {
	if s != nil {
		s.span.AddEvent("mcphub.round", trace.WithAttributes(attribute.String("jsonrpc.request.id", wireID)))
	}
}

// Ordered records that the request was cancelled, or that a prompt has opened or closed.
func (s *Span) Ordered(e core.Effect) {
	if s == nil {
		return
	}
	switch e := e.(type) {
	case core.CancelAccepted:
		s.span.AddEvent("mcphub.cancel", trace.WithAttributes(attribute.String("mcphub.cancel.origin",
			e.Cancel.Origin.String())))
	case core.PromptOpened:
		s.span.AddEvent("mcphub.prompt.opened", trace.WithAttributes(attribute.String("mcphub.prompt.kind", e.Kind.String())))
	case core.PromptClosed:
		s.span.AddEvent("mcphub.prompt.closed", trace.WithAttributes(attribute.String("mcphub.prompt.kind", e.Kind.String()),
			attribute.String("mcphub.prompt.cause", e.End.Cause.String())))
	}
}

// End ends the span with the outcome of the request.
func (s *Span) End(e SpanEnd) {
	if s == nil {
		return
	}
	attributes := []attribute.KeyValue{attribute.String("mcphub.request.state", e.State.String())}
	if e.WireID != "" {
		attributes = append(attributes, attribute.String("jsonrpc.request.id", bounds.Printable(e.WireID)))
	}
	switch e.Transport {
	case event.TransportStdio:
		attributes = append(attributes, attribute.String("network.transport", "pipe"))
	case event.TransportHTTP, event.TransportSSE:
		attributes = append(attributes, attribute.String("network.transport", "tcp"),
			attribute.String("network.protocol.name", "http"))
	}
	if e.Revision != "" {
		attributes = append(attributes, attribute.String("mcp.protocol.version", e.Revision))
	}
	fault, status := "", ""
	switch {
	case e.Cancelled != nil:
		fault = "cancelled"
		if e.Cancelled.Err != nil {
			fault = e.Cancelled.Err.Reason
		}
		status = "cancelled by " + e.Cancelled.Origin.String()
	case e.McpError != nil:
		fault = strconv.FormatInt(e.McpError.Code, 10)
		attributes = append(attributes, attribute.String("rpc.response.status_code", fault))
	case e.Err != nil:
		fault = e.Err.Reason
	case e.ToolError:
		fault = "tool_error"
	}
	if fault != "" {
		attributes = append(attributes, attribute.String("error.type", fault))
		s.span.SetStatus(codes.Error, status)
	}
	s.span.SetAttributes(attributes...)
	s.span.End()
}
