package hostile_test

import (
	"context"
	"runtime"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestEndlessLists_amount: a list ends at the limit of its bytes and pages, and its memory is released. Finding A5.
func TestEndlessLists_amount(t *testing.T) {
	for name, pages := range map[string]int{"list-forever": 6, "list-many": 10_000} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			before := heap()
			ctx, stop := context.WithTimeoutCause(t.Context(), bound, errBound)
			defer stop()
			r, err := s.servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: name})
			if err == nil && len(r.GetTroubles()) == 0 {
				t.Errorf("an endless list was listed: %d tools", len(r.GetTools()))
			}
			if ctx.Err() != nil {
				t.Fatal("an endless list did not end")
			}
			if n := s.evil[name].Count("pages"); n > pages {
				t.Errorf("%d pages were asked for, want at most %d", n, pages)
			}
			s.bystander()
			if after := heap(); after > before+40<<20 {
				t.Errorf("%d MiB are kept", (after-before)>>20)
			}
			runtime.KeepAlive(s)
		})
	}
}
