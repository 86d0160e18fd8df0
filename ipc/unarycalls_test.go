package ipc

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The log line of a call is written when the call is over, and says when it began and how long it took.
func TestLineTellsWhenCallBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &logBook{}
		h := &fakeHub{call: func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
			time.Sleep(3 * time.Second)
			return &hub.CallResult{Result: json.RawMessage(`{}`)}, nil
		}}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, book.options()))
		start := time.Now()
		if _, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{Server: "s", Tool: "t"}); err != nil {
			t.Fatal(err)
		}
		lines := book.lines(t, "finished call")
		if len(lines) != 1 {
			t.Fatalf("the log: %s", book.text())
		}
		if l := lines[0]; l["grpc.start_time"] != start.Format(time.RFC3339) || l["grpc.time_ms"] != "3000" ||
			l["grpc.code"] != "OK" || l["grpc.method"] != "CallTool" {
			t.Errorf("the line says %v; the call began at %s and took 3s", l, start.Format(time.RFC3339))
		}
	})
}
