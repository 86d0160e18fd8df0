package hostile_test

import (
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/hostile"
)

// TestPingBesideQuestions: a server whose open questions have reached their limit still gets an answer to its ping.
// Finding A10.
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

// TestAddressesOfQuestions: a URL that runs code, reads a file or hides its host is refused to the server and shown to
// nobody. Finding C6.
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

// snapshotMost limits the bytes that a new window gets while a hostile server asks: the open questions of one server,
// and some more for the rest.
const snapshotMost = 24 << 20

// TestLargeQuestions_amount: a question that is too large is refused to the server, and the open questions of a server
// are limited in total. No window is ended because of them, and a new window gets at most snapshotMost bytes. Finding
// A4.
func TestLargeQuestions_amount(t *testing.T) {
	for name, refused := range map[string]int{"questions-huge": 64, "sampling-huge": 8, "questions-large": 0} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			attack := s.call(name, hostile.Tool)
			s.does(name, "asked", max(refused, 1))
			if refused > 0 {
				s.does(name, "refused", refused)
			}
			s.bystander()
			w := fakeeditor.Open(t.Context(), s.conn, fakeeditor.Options{TB: t})
			bytes := 0
			for _, e := range w.Events() {
				bytes += proto.Size(e)
			}
			if bytes > snapshotMost {
				t.Errorf("a new window got %d bytes", bytes)
			}
			for _, p := range w.Prompts() {
				if size := proto.Size(p); size > 10<<20 {
					t.Errorf("a question of %d bytes is open", size)
				}
			}
			s.window.CancelRequest(attack.id, "enough")
			s.ends(attack, "the call that asked")
			s.bystander()
		})
	}
}

// TestNag: when the user has declined several questions of a server in a row, further ones are refused without asking.
// Finding A7.
func TestNag(t *testing.T) {
	s := play(t, "", "nag")
	s.ends(s.call("nag", hostile.Tool), "the call")
	var waiting sync.WaitGroup
	t.Cleanup(waiting.Wait)
	const most = 20 // more than the free ones only if the machine pauses for as long as the server has to
	shown := 0
	for shown < most {
		// The server gets an answer that the user did not give. Another one may come from the end of its call, which takes
		// back a question that came at the same time.
		unasked, answers := make(chan struct{}), shown+2
		waiting.Go(func() {
			s.evil["nag"].Await("answered", answers, t.Context().Done())
			close(unasked)
		})
		p := s.prompt(form, unasked)
		if p == nil {
			break
		}
		shown++
		s.window.Decline(p.GetPromptId(), "no")
		s.window.WaitClosed(p.GetPromptId())
	}
	if shown <= bounds.RefusalsFree || shown >= most {
		t.Errorf("%d questions in a row were shown, want %d", shown, bounds.RefusalsFree+1)
	}
	s.bystander()
}
