package hostile_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
)

// TestPingBesideQuestions: a server with as many questions open as it may is still answered its ping. Finding A10.
func TestPingBesideQuestions(t *testing.T) {
	s := play(t, "", "ping-beside")
	attack := s.call("ping-beside", hostile.Tool)
	s.does("ping-beside", "answered", 1)
	if n := s.evil["ping-beside"].Count("asked"); n != 64 {
		t.Errorf("%d questions", n)
	}
	s.bystander()
	s.window.CancelRequest(attack.id, "enough")
	s.ends(attack, "the call that asked")
}
