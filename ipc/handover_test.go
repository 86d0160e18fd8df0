package ipc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Large results count against a bound until they are handed over: the hub counts one until the context of its call
// ends, and gRPC ends that once it has queued the answer. Finding A15.
func TestLargeResultsCountUntilTheyAreHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var of context.Context
		h := &fakeHub{}
		h.call = func(ctx context.Context, _ hub.CallRequest) (*hub.CallResult, error) {
			of = ctx
			return &hub.CallResult{Result: json.RawMessage(`"` + strings.Repeat("x", 800<<10) + `"`)}, nil
		}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		if _, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "large"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if of.Err() == nil {
			t.Error("the result counts after the host has it")
		}
	})
}
