package host

import mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"

// Accept returns a yes to a prompt that a person has seen in full. A yes to a launch carries the hash of what was
// shown, without which the hub refuses it for an entry that a program had written. Scope and content are set in the
// answer's Accept.
//
// Send it with a message id: the hub replies only then, and the reply says whether it has refused the answer. After a
// refusal the prompt is still open.
func Accept(prompt *mcphubv1.Prompt) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: prompt.GetPromptId(), Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{LaunchHash: prompt.GetServerLaunch().GetLaunchHash()},
	}}
}

// Decline returns a no to a prompt.
func Decline(prompt *mcphubv1.Prompt, reason string) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: prompt.GetPromptId(), Action: &mcphubv1.PromptAnswer_Decline{
		Decline: &mcphubv1.DeclinePrompt{Reason: reason},
	}}
}
