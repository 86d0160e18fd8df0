package event

import (
	"strings"
	"testing"
)

// Each long text of an event counts towards the limits of a window and of what is kept.
func TestPayloadCountsLongText(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, b := range []Body{
		&ResourceUpdated{URI: long},
		&PromptOpened{Prompt: PromptInfo{Kind: PromptSignIn, SignIn: &SignInQuestion{URL: long}}},
		&PromptOpened{Prompt: PromptInfo{Kind: PromptToolApproval,
			Approval: &ToolApproval{Changes: []DefinitionChange{{Before: long}}}}},
		&PromptOpened{Prompt: PromptInfo{Kind: PromptServerLaunch,
			Launch: &LaunchQuestion{Args: []string{long}}}},
		&RequestFinished{Err: &Error{Message: long}},
		&RequestFinished{McpError: &McpError{Data: long}},
		&RequestCancelled{Err: &Error{Meta: map[string]string{"k": long}}},
	} {
		if n := PayloadSize(b); n < 1000 {
			t.Errorf("%T counts as %d bytes", b, n)
		}
	}
}
