package hostile_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const form = mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM

// TestOutputThatCannotBeChecked: a tool's output whose schema costs too much to check does not fail the call, and
// delays no other. Findings A1, A2.
func TestOutputThatCannotBeChecked(t *testing.T) {
	for _, name := range []string{"output-self-ref", "output-forever"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			for range 3 {
				attack := s.call(name, hostile.Tool)
				s.ends(attack, "a call of such a tool")
				if attack.err != nil {
					t.Errorf("the call failed: %v", attack.err)
				}
			}
			s.bystander()
		})
	}
}

// TestFormThatCannotBeChecked: the answer to a form whose schema costs too much to check is sent unchecked, or refused.
// It delays nothing else. Findings A1, A2.
func TestFormThatCannotBeChecked(t *testing.T) {
	for _, name := range []string{"form-self-ref", "form-self-allof", "form-self-dynamic", "form-doubling",
		"form-forever"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "", name)
			attack := s.call(name, hostile.Tool)
			p := s.window.WaitPrompt(form)
			s.bystander()
			answered := make(chan *mcphubv1.Reply, 1)
			go func() { answered <- s.window.Accept(p.GetPromptId(), `{"name":"Ada"}`) }()
			// The same window can cancel a call while its answer is checked.
			hang := s.call("good", "hang")
			s.window.WaitRequest(hang.id, mcphubv1.RequestState_REQUEST_STATE_RUNNING)
			cancelled := make(chan struct{})
			go func() {
				defer close(cancelled)
				s.window.CancelRequest(hang.id, "enough")
			}()
			s.in("a cancel behind the answer to a form", cancelled)
			s.bystander()
			if r := <-answered; r.GetError() != nil { // it may be refused: then the user can still decline
				s.window.Decline(p.GetPromptId(), "")
			}
			s.ends(attack, "the call that asked")
			s.ends(hang, "the call that was cancelled")
		})
	}
}
