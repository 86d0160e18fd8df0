package hostile_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestStorm: a server that sends a thousand messages or lines a second neither ends a window nor delays the progress of
// other servers. Finding A6.
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

// TestDeepAnswer: an answer that is nested too deeply fails its call at once, with an error that says so. Finding A8.
func TestDeepAnswer(t *testing.T) {
	for _, name := range []string{"deep-answer", "deep-list"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			attack := s.call(name, hostile.Tool)
			s.ends(attack, "the call with an answer that is too deep")
			if attack.err == nil || !strings.Contains(status.Convert(attack.err).Message(), "deep") {
				t.Errorf("it ended with %v, %v", attack.response, attack.err)
			}
			s.bystander()
			if name == "deep-answer" {
				echo := s.call(name, "echo")
				s.ends(echo, "another call of that server")
				if echo.err != nil {
					t.Errorf("another call of that server failed: %v", echo.err)
				}
			}
		})
	}
}

// TestLongLogLine: a line that is not a message, however long, answers no call: the open call gets its own answer.
// Finding A9.
func TestLongLogLine(t *testing.T) {
	s := play(t, `,"maxMessageBytes":1048576`, "long-log")
	attack := s.call("long-log", hostile.Tool)
	s.ends(attack, "the call")
	if attack.err != nil || !strings.Contains(attack.response.GetResultJson(), "the real answer") {
		t.Errorf("it ended with %v, %v", attack.response, attack.err)
	}
	s.bystander()
}
