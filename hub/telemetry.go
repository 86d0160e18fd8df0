package hub

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Spans follow the semantic conventions of OpenTelemetry for MCP (gen-ai/mcp, in development): one for each request,
// with its target in the name where that is one of few (a tool, a prompt template, but not a URI). Arguments, results,
// URIs and reasons are never in them.

const tracerName = "github.com/mcphub-go/mcphub/hub"

// calledBy is ctx with the span of a caller, for the span of a request. Without telemetry it is ctx.
func (h *Hub) calledBy(ctx context.Context, c *TraceContext) context.Context {
	if h.tracer == nil {
		return ctx
	}
	ids, ok := traceIDs(c.Parent)
	if !ok {
		return ctx
	}
	if state, err := trace.ParseTraceState(c.State); err == nil && headerText(c.State) {
		ids.TraceState = state
	}
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(ids))
}

// startSpan begins r's span, if the host wants spans. h.mu is held.
func (h *Hub) startSpan(ctx context.Context, r *request) {
	if h.tracer == nil {
		return
	}
	name, kind := r.method, trace.SpanKindClient
	attributes := []attribute.KeyValue{attribute.String("mcp.method.name", r.method),
		attribute.String("mcphub.server", r.server.name), attribute.String("mcphub.request.id", r.id)}
	if r.direction == event.Incoming {
		kind = trace.SpanKindServer
		if r.parent != nil && r.parent.span != nil {
			ctx = trace.ContextWithSpan(ctx, r.parent.span)
		}
	}
	switch {
	case r.tool != "":
		name += " " + r.tool
		attributes = append(attributes, attribute.String("gen_ai.tool.name", r.tool),
			attribute.String("gen_ai.operation.name", "execute_tool"))
	case r.method == methodGetPrompt:
		name += " " + r.subject
		attributes = append(attributes, attribute.String("gen_ai.prompt.name", r.subject))
	}
	_, r.span = h.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(r.start),
		trace.WithAttributes(attributes...))
}

// spanHeaders is the W3C form of a span's context. Where nobody records it, the caller's passes through.
func spanHeaders(sc trace.SpanContext, caller TraceContext) (parent, state string) {
	if !sc.IsValid() {
		return caller.Parent, caller.State
	}
	return fmt.Sprintf("00-%s-%s-%02x", sc.TraceID(), sc.SpanID(), byte(sc.TraceFlags()&trace.FlagsSampled)),
		sc.TraceState().String()
}

// spanRound notes that a message of r was begun: one for each round.
func (r *request) spanRound() {
	if r.span != nil {
		r.span.AddEvent("mcphub.round", trace.WithAttributes(attribute.String("jsonrpc.request.id", r.wireID)))
	}
}

func (r *request) spanCancel() {
	if r.span != nil {
		r.span.AddEvent("mcphub.cancel", trace.WithAttributes(attribute.String("mcphub.cancel.origin",
			r.cause.Origin.String())))
	}
}

// spanPrompt notes that a prompt has opened, or, with a cause, closed.
func (r *request) spanPrompt(kind event.PromptKind, cause event.PromptCause) {
	switch {
	case r.span == nil:
	case cause == 0:
		r.span.AddEvent("mcphub.prompt.opened", trace.WithAttributes(attribute.String("mcphub.prompt.kind", kind.String())))
	default:
		r.span.AddEvent("mcphub.prompt.closed", trace.WithAttributes(attribute.String("mcphub.prompt.kind", kind.String()),
			attribute.String("mcphub.prompt.cause", cause.String())))
	}
}

// endSpan ends r's span with what became of it. h.mu is held.
func (h *Hub) endSpan(r *request, e ending) {
	if r.span == nil {
		return
	}
	attributes := []attribute.KeyValue{attribute.String("mcphub.request.state", e.state.String())}
	if r.wireID != "" {
		attributes = append(attributes, attribute.String("jsonrpc.request.id", bounds.Printable(r.wireID)))
	}
	switch r.server.Transport() {
	case event.TransportStdio:
		attributes = append(attributes, attribute.String("network.transport", "pipe"))
	case event.TransportHTTP, event.TransportSSE:
		attributes = append(attributes, attribute.String("network.transport", "tcp"),
			attribute.String("network.protocol.name", "http"))
	}
	if session := r.server.Session(); session != nil {
		attributes = append(attributes, attribute.String("mcp.protocol.version", session.Revision()))
	}
	fault, status := "", ""
	switch {
	case e.state == event.StateCancelled:
		fault = "cancelled"
		if r.cause.Err != nil {
			fault = r.cause.Err.Reason
		}
		status = "cancelled by " + r.cause.Origin.String()
	case e.mcpError != nil:
		fault = strconv.FormatInt(e.mcpError.Code, 10)
		attributes = append(attributes, attribute.String("rpc.response.status_code", fault))
	case e.err != nil:
		fault = e.err.Reason
	case e.isError:
		fault = "tool_error"
	}
	if fault != "" {
		attributes = append(attributes, attribute.String("error.type", fault))
		r.span.SetStatus(codes.Error, status)
	}
	r.span.SetAttributes(attributes...)
	r.span.End()
}
