package door

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestWaitFor: what comes later is waited for, what came before is found, and the wait ends with the window or ctx.
func TestWaitFor(t *testing.T) {
	started := func(id string) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestStarted{
			McpRequestStarted: &mcphubv1.McpRequestStarted{Request: &mcphubv1.Request{RequestId: id}}}}
	}
	synctest.Test(t, func(t *testing.T) {
		events := make(chan *mcphubv1.AttachResponse)
		var log EventLog
		go log.Follow(&Window{Events: events})
		pick := func(e *mcphubv1.AttachResponse) (string, bool) {
			return e.GetMcpRequestStarted().GetRequest().GetRequestId(), e.GetMcpRequestStarted() != nil
		}
		late := errors.New("too late")
		ctx, done := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer done()
		if id, err := WaitFor(ctx, &log, "a start", pick); !errors.Is(err, late) {
			t.Errorf("%q, %v; want the cause of the context's end", id, err)
		}
		go func() {
			<-time.After(time.Second)
			events <- new(mcphubv1.AttachResponse)
			events <- started("late")
			close(events)
		}()
		for range 2 { // it is waited for, and found again
			if id, err := WaitFor(t.Context(), &log, "a start", pick); err != nil || id != "late" {
				t.Errorf("%q, %v", id, err)
			}
		}
		never := func(*mcphubv1.AttachResponse) (string, bool) { return "", false }
		if id, err := WaitFor(t.Context(), &log, "a start", never); err == nil || !strings.Contains(err.Error(), "ended") {
			t.Errorf("%q, %v; want that the window ended", id, err)
		}
	})
}
