package ipc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/journal"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestGetTraceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := mcphubv1.NewMcpHubServiceClient(serve(t, &fakeHub{}, Options{}))
		plain, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{RequestId: "r", Server: "s", MaxTraces: 7})
		want(t, err, plain,
			&mcphubv1.GetTraceResponse{Traces: []*mcphubv1.Trace{{Request: &mcphubv1.Request{RequestId: "r", Server: "s"},
				OmittedEntries: 7}}})
		bundled, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{RequestId: "r", Bundle: true})
		if err != nil {
			t.Fatal(err)
		}
		var bundle struct {
			About  string
			Traces []struct{ Request struct{ RequestID string } }
		}
		if err := json.Unmarshal([]byte(bundled.GetBundleJson()), &bundle); err != nil || bundle.About != "this" ||
			len(bundle.Traces) != 1 || bundle.Traces[0].Request.RequestID != "r" {
			t.Errorf("bundle %s: %v", bundled.GetBundleJson(), err)
		}
		if _, err := client.GetTrace(t.Context(), &mcphubv1.GetTraceRequest{MaxTraces: -1}); status.Code(
			err) != codes.InvalidArgument {
			t.Errorf("a negative number: %v", err)
		}
	})
}

func TestRememberedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := mcphubv1.NewMcpServerServiceClient(serve(t, &fakeHub{}, Options{}))
		listed, err := client.ListRemembered(t.Context(), &mcphubv1.ListRememberedRequest{Server: "s"})
		want(t, err, listed, &mcphubv1.ListRememberedResponse{Remembered: []*mcphubv1.Remembered{{
			RememberedId: "r", Kind: mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL, Server: "s", Tool: "t",
			Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_WORKSPACE, Folders: []string{"/w"},
		}}})
		forgotten, err := client.Forget(t.Context(), &mcphubv1.ForgetRequest{RememberedIds: []string{"r", "q"}})
		want(t, err, forgotten, &mcphubv1.ForgetResponse{Forgotten: 2})
		for name, r := range map[string]*mcphubv1.ForgetRequest{
			"an empty id": {RememberedIds: []string{""}}, "too many": {RememberedIds: strings.Split(strings.Repeat("x,", 4097),
				",")},
		} {
			if _, err := client.Forget(t.Context(), r); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Each reload says whether the hub watches the files, and cached tools come only when they are asked for.
func TestWatchAndCachedToolsAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		client := mcphubv1.NewMcpServerServiceClient(serve(t, h, Options{}))
		for _, byHost := range []bool{false, true} {
			if _, err := client.ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{WatchedByHost: byHost}); err != nil {
				t.Fatal(err)
			}
			tools, err := client.ListTools(t.Context(), &mcphubv1.ListToolsRequest{AllowCached: byHost})
			if err != nil || tools.GetTools()[0].GetCached() != byHost {
				t.Errorf("allow_cached %v: %v, %v", byHost, tools, err)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.watched) != 2 || !h.watched[0] || h.watched[1] {
			t.Errorf("watched %v, want true, false", h.watched)
		}
	})
}

// The caller's W3C trace context is taken from the call's metadata, without fields that come twice or are too long.
func TestTraceContextIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got journal.SpanContext
		h := &fakeHub{call: func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
			got = c.Trace
			return &hub.CallResult{}, nil
		}}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-a-b-01", "tracestate", "v=1",
			"baggage", strings.Repeat("x", maxTraceContext+1))
		if _, err := client.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}); err != nil ||
			got != (journal.SpanContext{Parent: "00-a-b-01", State: "v=1"}) {
			t.Errorf("got %+v, %v", got, err)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", "00-c-d-01")
		if _, err := client.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}); err != nil ||
			got != (journal.SpanContext{State: "v=1"}) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
