package ipc

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
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

// A call with a trace context in its metadata, through the real hub: the server gets the context, and the timeline and
// the bundle hold the same trace.
func TestEndToEndTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		server := fakeserver.New()
		server.Tool("echo", func(c *fakeserver.CallContext) { c.Text("SECRET") })
		_, conn := realHub(t, server)
		client := mcphubv1.NewMcpHubServiceClient(conn)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent, "tracestate", "a=1", "baggage", "b=2")
		for _, id := range []string{"r1", "r2"} {
			if _, err := client.CallTool(ctx, &mcphubv1.CallToolRequest{RequestId: id,
				Server: "s", Tool: "echo", ArgumentsJson: `{"a":"SECRET"}`, Preapproved: true}); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{RequestId: "r1", Bundle: true})
		if err != nil || len(resp.GetTraces()) != 1 {
			t.Fatal(err, resp)
		}
		tr := resp.GetTraces()[0]
		var states []string
		messages := 0
		for _, e := range tr.GetEntries() {
			if e.GetState() != nil {
				states = append(states, e.GetState().GetState().String())
			}
			if e.GetMessage() != nil {
				messages++
			}
		}
		if tr.GetTraceId() != parent[3:35] || messages != 2 ||
			tr.GetRequest().GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE ||
			!slices.Equal(states[len(states)-2:], []string{"REQUEST_STATE_RUNNING", "REQUEST_STATE_DONE"}) {
			t.Errorf("%v", tr)
		}
		var b struct {
			Version string
			HubID   string
			Servers []map[string]any
			Traces  []json.RawMessage
		}
		if err := json.Unmarshal([]byte(resp.GetBundleJson()), &b); err != nil || b.Version != "test" || len(b.Traces) != 1 ||
			len(b.Servers) != 1 || b.Servers[0]["state"] != "ready" {
			t.Fatalf("%v: %s", err, resp.GetBundleJson())
		}
		again := new(mcphubv1.Trace)
		if err := protojson.Unmarshal(b.Traces[0], again); err != nil || !cmp.Equal(again, tr, protocmp.Transform()) {
			t.Errorf("%v: %v", err, again)
		}
		for _, m := range server.Received() {
			if meta := (fakeserver.Message{Params: m.Param("_meta")}); m.Method == "tools/call" &&
				(string(meta.Param("traceparent")) != `"`+parent+`"` || string(meta.Param("tracestate")) != `"a=1"` ||
					string(meta.Param("baggage")) != `"b=2"`) {
				t.Errorf("the server got %s", m.Params)
			}
		}
		all, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{Server: "s", MaxTraces: 2})
		if err != nil || len(all.GetTraces()) != 2 || all.GetTraces()[1].GetRequest().GetRequestId() != "r2" ||
			all.GetBundleJson() != "" {
			t.Errorf("%v, %v", err, all)
		}
		none, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{RequestId: "nobody"})
		if err != nil || len(none.GetTraces()) != 0 {
			t.Errorf("%v, %v", err, none)
		}
	})
}
