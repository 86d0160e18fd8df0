package hostile_test

import (
	"context"
	"runtime"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// endlessLists are servers whose lists do not end, with the most pages that are asked for.
var endlessLists = map[string]int{"list-forever": 6, "list-many": 10_000}

// TestEndlessLists_amount: a list ends at the limit of its bytes and pages. Finding A5.
func TestEndlessLists_amount(t *testing.T) {
	for name := range endlessLists {
		t.Run(name, func(t *testing.T) { play(t, "", name).listsEndless(name) })
	}
}

// TestEndlessListsAreReleased_nightly: what was listed of an endless list is not kept. Finding A5.
func TestEndlessListsAreReleased_nightly(t *testing.T) {
	for name := range endlessLists {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			before := heap()
			s.listsEndless(name)
			if after := heap(); after > before+40<<20 {
				t.Errorf("%d MiB are kept", (after-before)>>20)
			}
			runtime.KeepAlive(s)
		})
	}
}

func (s *stage) listsEndless(name string) {
	s.t.Helper()
	ctx, stop := context.WithTimeoutCause(s.t.Context(), bound, errBound)
	defer stop()
	r, err := s.servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: name})
	if err == nil && len(r.GetTroubles()) == 0 {
		s.t.Errorf("an endless list was listed: %d tools", len(r.GetTools()))
	}
	if ctx.Err() != nil {
		s.t.Fatal("an endless list did not end")
	}
	if n := s.evil[name].Count("pages"); n > endlessLists[name] {
		s.t.Errorf("%d pages were asked for, want at most %d", n, endlessLists[name])
	}
	s.bystander()
}
