package journal

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The keys of _meta for a W3C trace context (SEP-414; 2026-07-28 basic/index, "_meta"). Their values are those of the
// HTTP headers of the same names.
const (
	metaTraceParent = "traceparent"
	metaTraceState  = "tracestate"
	metaBaggage     = "baggage"
)

// maxTraceHeader bounds each value that is passed on, in bytes. W3C requires that tracestate may have 512 bytes, and
// baggage 8192.
const maxTraceHeader = 8192

// SpanContext is the W3C trace context of a caller. It is passed on to the server in _meta. It is empty if there is
// none.
type SpanContext struct{ Parent, State, Baggage string }

// checked returns the context without its malformed parts, so that a server gets nothing that a caller has made up. A
// state without a valid parent is removed.
func (said *SpanContext) checked() SpanContext {
	c := *said
	if !c.remote().IsValid() {
		c.Parent, c.State = "", ""
	}
	if !headerText(c.State) {
		c.State = ""
	}
	if !headerText(c.Baggage) {
		c.Baggage = ""
	}
	return c
}

// headerText reports whether s may be the value of an HTTP header.
func headerText(s string) bool {
	if len(s) > maxTraceHeader {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// remote returns the span that the headers of W3C name. It is invalid if they are malformed.
func (said *SpanContext) remote() trace.SpanContext {
	if said.Parent == "" || len(said.Parent) > maxTraceHeader {
		return trace.SpanContext{}
	}
	headers := propagation.MapCarrier{metaTraceParent: said.Parent, metaTraceState: said.State}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), headers))
}

// Propagate returns meta with the trace context for the server: that of span or, without a span, that of the caller. It
// does not replace what the caller has put into meta. traceID is the trace that the request then belongs to, "" = none.
func Propagate(meta map[string]json.RawMessage, said *SpanContext, span *Span) (out map[string]json.RawMessage,
	traceID string) {
	c := said.checked()
	set := func(key, value string) {
		if _, given := meta[key]; given || value == "" {
			return
		}
		text, err := json.Marshal(value)
		if err != nil {
			return // cannot happen: strings marshal
		}
		if meta == nil {
			meta = map[string]json.RawMessage{}
		}
		meta[key] = text
	}
	if given, ok := meta[metaTraceParent]; ok {
		var parent string // a separate variable, so that c does not escape to the heap
		_ = json.Unmarshal(given, &parent)
		c.Parent, c.State = parent, "" // a value that is not a string names no trace
	} else {
		if span != nil {
			c.Parent, c.State = spanHeaders(span.span.SpanContext(), c)
		}
		set(metaTraceParent, c.Parent)
		set(metaTraceState, c.State)
	}
	set(metaBaggage, c.Baggage)
	if sc := (&SpanContext{Parent: c.Parent}).remote(); sc.IsValid() {
		traceID = sc.TraceID().String()
	}
	return meta, traceID
}
