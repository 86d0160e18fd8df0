package hostile_test

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestToolsThatAlwaysChange: a tool whose definition changes with each list is asked about again after each change. If
// the user accepts each time, every call is sent or fails with a clear error after a few lists. Finding A3.
func TestToolsThatAlwaysChange(t *testing.T) {
	s := play(t, "", "changes-always")
	answered := map[string]bool{}
	for range 2 {
		s.callAndAccept("changes-always", answered)
	}
	if n := s.evil["changes-always"].Count("lists"); n > 10 {
		t.Errorf("%d lists for two calls", n)
	}
	if len(answered) == 0 {
		t.Error("nobody was asked about a tool that had changed")
	}
	t.Logf("%d lists, %d questions, %d calls", s.evil["changes-always"].Count("lists"), len(answered),
		s.evil["changes-always"].Count("calls"))
	s.bystander()
}

// callAndAccept calls the tool of a hostile server and accepts each question about it until the call has ended. It
// records the accepted prompts in answered.
func (s *stage) callAndAccept(name string, answered map[string]bool) {
	s.t.Helper()
	attack := s.call(name, hostile.Tool)
	late := time.After(bound)
	for {
		changed := s.window.Changed()
		for _, p := range s.window.Prompts() {
			if id := p.GetPromptId(); !answered[id] {
				answered[id] = true
				s.window.AcceptFor(id, mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE)
			}
		}
		select {
		case <-attack.done:
			s.t.Logf("the call ended: %v", attack.err)
			return
		case <-late:
			s.t.Fatal("a call of a server whose tools always change did not end")
		case <-changed:
		}
	}
}
