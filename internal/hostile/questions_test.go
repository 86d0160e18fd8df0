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

// TestAddressesOfQuestions: an address that runs something, reads a file or hides where it leads is refused to the server, and shown to nobody. Finding C6.
func TestAddressesOfQuestions(t *testing.T) {
	for _, name := range []string{"url-javascript", "url-file", "url-data", "url-vscode", "url-userinfo"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			attack := s.call(name, hostile.Tool)
			s.does(name, "refused", 1)
			s.ends(attack, "the call that asked")
			for _, e := range s.window.Events() {
				if e.GetPromptOpened() != nil {
					t.Errorf("shown: %v", e)
				}
			}
			s.bystander()
		})
	}
}
