package ipc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Large results count from the moment that the hub has them until the host does; one that finds no room is its call's own loss.
func TestLargeResultsCountUntilTheyAreHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, most, room := 0, 0, 1<<20
		h := &fakeHub{}
		h.hold = func(bytes int) (func(), error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if held+bytes > room {
				return nil, &hub.Error{Code: hub.CodeResourceExhausted, Reason: hub.ReasonBoundExceeded, Message: "too much"}
			}
			held += bytes
			most = max(most, held)
			return func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				held -= bytes
			}, nil
		}
		h.call = func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
			size := map[string]int{"small": 1000, "large": 800 << 10, "huge": 2 << 20}[c.Tool]
			return &hub.CallResult{Result: json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}, nil
		}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		for _, tool := range []string{"small", "large", "large", "huge", "large"} {
			_, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: tool})
			if refused := status.Code(err) == codes.ResourceExhausted && reasonOf(err) == hub.ReasonBoundExceeded; refused != (tool == "huge") || !refused && err != nil {
				t.Errorf("%s: %v", tool, err)
			}
			synctest.Wait()
			h.mu.Lock()
			if held != 0 {
				t.Errorf("%s: %d bytes are held after the call", tool, held)
			}
			h.mu.Unlock()
		}
		if most < 800<<10 {
			t.Errorf("at most %d bytes were held", most)
		}
	})
}
