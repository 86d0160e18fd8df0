package hostile_test

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestToolsThatAlwaysChange: a tool that is another one whenever it is looked at is asked about, as each change is; a
// person who says yes each time gets a call that was sent or fails clearly, after a few lists. Finding A3.
func TestToolsThatAlwaysChange(t *testing.T) {
	s := play(t, "", "changes-always")
	attack := s.call("changes-always", hostile.Tool)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	answered := map[string]bool{}
	late := time.After(bound)
	for open := true; open; {
		select {
		case <-attack.done:
			open = false
		case <-late:
			t.Fatal("a call of a server whose tools always change did not end")
		case <-look.C:
			for _, p := range s.window.Prompts() {
				if id := p.GetPromptId(); !answered[id] {
					answered[id] = true
					s.window.AcceptFor(id, mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE)
				}
			}
		}
	}
	if n := s.evil["changes-always"].Count("lists"); n > 10 {
		t.Errorf("%d lists for one call", n)
	}
	if len(answered) == 0 {
		t.Error("nobody was asked about a tool that had changed")
	}
	t.Logf("%d lists, %d questions, %d calls: %v", s.evil["changes-always"].Count("lists"), len(answered),
		s.evil["changes-always"].Count("calls"), attack.err)
	s.bystander()
}
