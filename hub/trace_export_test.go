package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
)

// TraceBytes is the recorder's own count of what its timelines hold. For tests.
func (h *Hub) TraceBytes() int64 { return h.record.Held() }

// TelemetryOfOneRequest gives a function that does what telemetry does in the life of one request. For tests.
func (h *Hub) TelemetryOfOneRequest() func() {
	s := h.bareServer("s")
	r := &request{tool: "t", method: "tools/call", server: s, wireID: "1", cause: &cause, trace: timelineOfTests}
	return func() {
		h.state.startSpan(h.tracer.CalledBy(context.Background(), &journal.SpanContext{}), r)
		if meta, _ := journal.Propagate(nil, &journal.SpanContext{}, r.span); meta == nil == (h.tracer != nil) {
			panic("a trace context without a trace, or none with one")
		}
		r.span.Round(r.wireID)
		r.span.Prompt(event.PromptSampling, 0)
		r.span.Prompt(event.PromptSampling, event.CauseAnswered)
		r.span.Cancelled(r.cause.Origin)
		h.state.endSpan(r, &ending{state: event.StateDone})
	}
}

var (
	cause           = event.CancelCause{Origin: event.OriginUser}
	timelineOfTests = new(journal.Recorder).NewTimeline()
)

// tracesInconsistent tells what contradicts itself in the flight recorder. The hub's lock is held.
func (h *Hub) tracesInconsistent() string {
	open := make([]*journal.Timeline, 0, len(h.state.requests))
	for _, r := range h.state.requests {
		open = append(open, r.trace)
	}
	return h.record.Inconsistent(open)
}
