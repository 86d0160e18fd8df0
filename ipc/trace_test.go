package ipc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Each kind of trace entry is converted to its field of the contract.
func TestTraceConversion(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var c converter
	got := c.trace(event.TraceInfo{
		Request: event.RequestInfo{ID: "r1", Server: "s", Method: "tools/call", State: event.StateDone}, Omitted: 3,
		TraceID: "abc",
		Entries: []event.TraceEntry{
			{Time: at, State: event.StateRunning},
			{Time: at, Message: &event.TraceMessage{Direction: event.Outgoing, Type: "request", Method: "tools/call",
				WireID: "7",
				Bytes:  99}},
			{Time: at, Message: &event.TraceMessage{Direction: event.Incoming, Type: "error", Method: "tools/call", WireID: "7",
				Bytes: 9, ErrorCode: -32000, Dropped: true}},
			{Time: at, Cancellation: &event.Cancellation{Origin: event.OriginUser, Reason: "no", Time: at}},
			{Time: at, Prompt: &event.TracePrompt{PromptID: "prompt-1", Kind: event.PromptSampling,
				Cause: event.CauseWithdrawn}},
			{Time: at, Err: &event.Error{Code: event.CodeCancelled, Reason: "CANCELLED", Message: "cancelled"}},
		},
	})
	want := new(mcphubv1.Trace)
	if err := protojson.Unmarshal([]byte(`{"request":{"requestId":"r1","server":"s","method":"tools/call","state":"REQUEST_STATE_DONE"},"omittedEntries":3,"traceId":"abc","entries":[
		{"time":"2026-01-02T03:04:05.000000006Z","state":{"state":"REQUEST_STATE_RUNNING"}},
		{"time":"2026-01-02T03:04:05.000000006Z","message":{"direction":"REQUEST_DIRECTION_OUTGOING","type":"request","method":"tools/call","wireIdJson":"7","sizeBytes":99}},
		{"time":"2026-01-02T03:04:05.000000006Z","message":{"direction":"REQUEST_DIRECTION_INCOMING","type":"error","method":"tools/call","wireIdJson":"7","sizeBytes":9,"errorCode":-32000,"dropped":true}},
		{"time":"2026-01-02T03:04:05.000000006Z","cancellation":{"origin":"ORIGIN_USER","reason":"no","time":"2026-01-02T03:04:05.000000006Z"}},
		{"time":"2026-01-02T03:04:05.000000006Z","prompt":{"promptId":"prompt-1","kind":"PROMPT_KIND_SAMPLING","cause":"PROMPT_CAUSE_WITHDRAWN"}},
		{"time":"2026-01-02T03:04:05.000000006Z","hubError":{"code":"CANCELLED","reason":"CANCELLED","message":"cancelled"}}]}`), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
