package ipc

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/telemetry"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Conversion of timelines and remembered answers from the hub to the contract.

func (c converter) trace(t event.TraceInfo) *mcphubv1.Trace {
	return &mcphubv1.Trace{Request: c.request(t.Request), Entries: list(t.Entries, c.traceEntry),
		OmittedEntries: int32(t.Omitted), TraceId: c.text(t.TraceID)}
}

func (c converter) traceEntry(e event.TraceEntry) *mcphubv1.TraceEntry {
	m := &mcphubv1.TraceEntry{Time: timestamp(e.Time)}
	switch {
	case e.State != 0:
		m.Event = &mcphubv1.TraceEntry_State{State: &mcphubv1.TraceState{State: mcphubv1.RequestState(e.State)}}
	case e.Message != nil:
		m.Event = &mcphubv1.TraceEntry_Message{Message: &mcphubv1.TraceMessage{
			Direction: mcphubv1.RequestDirection(e.Message.Direction), Type: c.text(e.Message.Type),
			Method: c.text(e.Message.Method), WireIdJson: c.text(e.Message.WireID),
			SizeBytes: int64(e.Message.Bytes), ErrorCode: e.Message.ErrorCode, Dropped: e.Message.Dropped,
		}}
	case e.Cancellation != nil:
		m.Event = &mcphubv1.TraceEntry_Cancellation{Cancellation: c.cancellation(e.Cancellation)}
	case e.Prompt != nil:
		m.Event = &mcphubv1.TraceEntry_Prompt{Prompt: &mcphubv1.TracePrompt{
			PromptId: c.text(e.Prompt.PromptID), Kind: mcphubv1.PromptKind(e.Prompt.Kind),
			Cause: mcphubv1.PromptCause(e.Prompt.Cause),
		}}
	case e.Sending != nil:
		m.Event = &mcphubv1.TraceEntry_Delivery{Delivery: &mcphubv1.TraceDelivery{
			Delivery: mcphubv1.CancelDelivery(e.Sending.Delivery), Error: c.text(e.Sending.Err),
		}}
	case e.Err != nil:
		m.Event = &mcphubv1.TraceEntry_HubError{HubError: c.hubError(e.Err)}
	}
	return m
}

func (c converter) remembered(r event.Remembered) *mcphubv1.Remembered {
	return &mcphubv1.Remembered{
		RememberedId: c.text(r.ID), Kind: mcphubv1.RememberedKind(r.Kind), Server: c.text(r.Server), Tool: c.text(r.Tool),
		InputId: c.text(r.InputID),
		Scope:   mcphubv1.ApprovalScope(r.Scope + 1), Folders: c.texts(r.Folders), WindowId: c.text(r.WindowID),
		Time: timestamp(r.Time), Hash: c.text(r.Hash),
	}
}

// traceBundle returns one JSON object for a bug report, with what the hub says about itself, and the timelines.
func (c converter) traceBundle(about map[string]any, traces []*mcphubv1.Trace) (string, error) {
	all := make([]json.RawMessage, 0, len(traces))
	for _, t := range traces {
		text, err := protojson.Marshal(t)
		if err != nil {
			return "", err
		}
		all = append(all, text)
	}
	bundle := map[string]any{"traces": all}
	for name, value := range about {
		bundle[name] = value
	}
	text, err := json.MarshalIndent(bundle, "", "  ")
	return c.text(string(text)), err
}

// maxTraceContext bounds each header of a caller's trace context, in bytes. W3C requires at least 512, and 8192 for
// baggage.
const maxTraceContext = 8192

// traceContext returns the W3C trace context in a call's metadata.
func traceContext(ctx context.Context) telemetry.Context {
	of := func(name string) string {
		values := metadata.ValueFromIncomingContext(ctx, name) // does not copy the other headers
		if len(values) != 1 || len(values[0]) > maxTraceContext {
			return ""
		}
		return values[0]
	}
	return telemetry.Context{Parent: of("traceparent"), State: of("tracestate"), Baggage: of("baggage")}
}
