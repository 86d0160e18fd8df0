package hub

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/internal/conversation"
)

// TraceBytes is the recorder's own count of what its timelines hold. For tests.
func (h *Hub) TraceBytes() int64 { return h.record.Held() }

// Replayed plays what the core was told to a fresh one, and returns how its effects differ from what was recorded.
// complete is false if the record does not begin with the hub. For tests.
func (h *Hub) Replayed() (record, diff string, complete bool) {
	var flight journal.Flight
	h.update(func(st *state) { flight = st.record.Flight() })
	record = strings.Join(flight.Lines(), "\n") + "\n"
	got, err := conversation.Play(record, nil)
	if err != nil {
		return record, err.Error(), !errors.Is(err, conversation.ErrPartial)
	}
	return record, cmp.Diff(record, got), true
}

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
		for _, e := range effectsOfTests {
			r.span.Ordered(e)
		}
		h.state.endSpan(r, &ending{state: event.StateDone})
	}
}

var (
	cause           = event.CancelCause{Origin: event.OriginUser}
	timelineOfTests = new(journal.Recorder).NewTimeline()
	effectsOfTests  = []core.Effect{core.PromptOpened{Kind: event.PromptSampling},
		core.PromptClosed{Kind: event.PromptSampling, End: core.End{Cause: event.CauseAnswered}},
		core.CancelAccepted{Cancel: event.Cancellation{Origin: event.OriginUser}}}
)

// tracesInconsistent tells what contradicts itself in the flight recorder. The hub's lock is held.
func (h *Hub) tracesInconsistent() string {
	open := make([]*journal.Timeline, 0, len(h.state.requests))
	for _, r := range h.state.requests {
		open = append(open, r.trace)
	}
	return h.record.Inconsistent(open)
}
