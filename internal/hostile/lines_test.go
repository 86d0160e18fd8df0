package hostile_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestStorm: what one server says a thousand times a second ends no window and starves no other server's progress. Finding A6.
func TestStorm(t *testing.T) {
	for _, name := range []string{"storm", "stderr"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			attack := s.call(name, hostile.Tool)
			work := s.call("good", "work")
			progressed := make(chan struct{})
			go func() {
				defer close(progressed)
				s.other.WaitEvent("progress of another server's call", func(e *mcphubv1.AttachResponse) bool {
					p := e.GetMcpRequestProgressed()
					return p.GetRequestId() == work.id && p.GetProgress() != nil
				})
			}()
			s.in("progress of another server's call", progressed)
			s.bystander()
			s.ends(attack, "the call that storms")
			s.other.CancelRequest(work.id, "enough")
			s.ends(work, "the other server's call")
		})
	}
}
