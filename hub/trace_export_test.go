package hub

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// TraceBytes is what the recorder believes that its timelines hold. For tests.
func (h *Hub) TraceBytes() int64 { return h.record.bytes.Load() }

// TelemetryOfOneRequest gives a function that does what telemetry does in the life of one request. For tests.
func (h *Hub) TelemetryOfOneRequest() func() {
	s := &server{name: "s"}
	r := &request{tool: "t", method: "tools/call", server: s, wireID: "1", cause: &cause, trace: timelineOfTests}
	return func() {
		h.startSpan(h.calledBy(context.Background(), &TraceContext{}), r)
		if r.propagated(nil, &TraceContext{}) == nil == (h.tracer != nil) {
			panic("a trace context without a trace, or none with one")
		}
		r.spanRound()
		r.spanPrompt(event.PromptSampling, 0)
		r.spanPrompt(event.PromptSampling, event.CauseAnswered)
		r.spanCancel()
		h.endSpan(r, ending{state: event.StateDone})
	}
}

var (
	cause           = event.CancelCause{Origin: event.OriginUser}
	timelineOfTests = new(recorder).timeline()
)

// BenchTimeline gives a function that notes what is noted of one call: seven entries. For benchmarks.
func BenchTimeline() func() {
	rec := &recorder{began: time.Now()}
	n := uint64(0)
	id := jsonrpc.IntID(12345)
	info := event.RequestInfo{ID: "r1"}
	return func() {
		n++
		t := rec.timeline()
		t.begin(n)
		for _, state := range []event.RequestState{event.StateQueued, event.StateConnecting, event.StateRunning} {
			t.add(record{what: recordState, state: uint8(state)})
		}
		t.message(jsonrpc.Observed{Sender: jsonrpc.Outgoing, Kind: jsonrpc.KindRequest, Method: "tools/call", ID: id,
			Bytes: 100})
		t.message(jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindNotification, Method: methodProgress,
			Bytes: 100})
		t.message(jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindResponse, Method: "tools/call", ID: id,
			Bytes: 100})
		t.add(record{what: recordState, state: uint8(event.StateDone)})
		t.end(info)
	}
}

// tracesInconsistent tells what contradicts itself in the flight recorder. h.mu is held.
func (h *Hub) tracesInconsistent() string {
	if unsafe.Sizeof(record{}) != recordBytes {
		return fmt.Sprintf("a record has %d bytes, counted as %d", unsafe.Sizeof(record{}), recordBytes)
	}
	held := int64(0)
	var locked []*timeline
	defer func() {
		for _, t := range locked {
			t.mu.Unlock()
		}
	}()
	look := func(t *timeline, open bool) string {
		t.mu.Lock() // until all have been counted: messages come and let timelines grow at any moment
		locked = append(locked, t)
		held += t.charged
		switch {
		case t.gone, t.charged == 0:
			return fmt.Sprintf("timeline %d is kept and was forgotten", t.n)
		case open != (t.at == nil):
			return fmt.Sprintf("timeline %d: open %v, and yet %+v", t.n, open, t.at)
		case len(t.records) > maxTraceEntries:
			return fmt.Sprintf("timeline %d has %d entries", t.n, len(t.records))
		}
		return ""
	}
	for _, r := range h.requests {
		if bad := look(r.trace, true); bad != "" {
			return bad
		}
	}
	for _, t := range h.record.ended {
		if bad := look(t, false); bad != "" {
			return bad
		}
	}
	if len(h.record.ended) > maxTraces {
		return fmt.Sprintf("%d timelines are kept", len(h.record.ended))
	}
	if got := h.record.bytes.Load(); got != held {
		return fmt.Sprintf("timelines hold %d bytes, counted as %d", held, got)
	}
	return ""
}
