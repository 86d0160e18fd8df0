package hub_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
)

// What is long in an event counts towards the limits of a window and of what is kept.
func TestPayloadCountsLongText(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, b := range []hub.EventBody{
		&hub.ResourceUpdated{URI: long},
		&hub.PromptOpened{Prompt: hub.PromptInfo{Kind: hub.PromptSignIn, SignIn: &hub.SignInQuestion{URL: long}}},
		&hub.PromptOpened{Prompt: hub.PromptInfo{Kind: hub.PromptToolApproval, Approval: &hub.ToolApproval{Changes: []hub.DefinitionChange{{Before: long}}}}},
		&hub.PromptOpened{Prompt: hub.PromptInfo{Kind: hub.PromptServerLaunch, Launch: &hub.LaunchQuestion{Args: []string{long}}}},
		&hub.RequestFinished{Err: &hub.Error{Message: long}},
		&hub.RequestFinished{McpError: &hub.McpError{Data: long}},
		&hub.RequestCancelled{Err: &hub.Error{Meta: map[string]string{"k": long}}},
	} {
		if n := hub.PayloadSize(b); n < 1000 {
			t.Errorf("%T counts as %d bytes", b, n)
		}
	}
}
