package hostile_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/hostile"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const form = mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM

// TestOutputThatCannotBeChecked: so with the output of a tool. Findings A1, A2.
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
