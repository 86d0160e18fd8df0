package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

var (
	approvalPrompt = &mcphubv1.Prompt{PromptId: "p",
		Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{}}}
	samplingPrompt = &mcphubv1.Prompt{PromptId: "p", Question: &mcphubv1.Prompt_Sampling{Sampling: &mcphubv1.Sampling{}}}
	formPrompt     = &mcphubv1.Prompt{PromptId: "p",
		Question: &mcphubv1.Prompt_ElicitationForm{ElicitationForm: &mcphubv1.ElicitationForm{}}}
	urlPrompt = &mcphubv1.Prompt{PromptId: "p",
		Question: &mcphubv1.Prompt_ElicitationUrl{ElicitationUrl: &mcphubv1.ElicitationUrl{Url: "https://example.org/"}}}
	signInPrompt = &mcphubv1.Prompt{PromptId: "p",
		Question: &mcphubv1.Prompt_SignIn{SignIn: &mcphubv1.SignIn{Url: "https://as.example/"}}}
	waitingPrompt = &mcphubv1.Prompt{PromptId: "p",
		Question: &mcphubv1.Prompt_SignIn{SignIn: &mcphubv1.SignIn{Url: "https://as.example/", Waiting: true}}}
	unknownPrompt = &mcphubv1.Prompt{PromptId: "p"}
)

// TestAnswers: which answer each flag gives to each kind of prompt, and that nothing is accepted by default.
func TestAnswers(t *testing.T) {
	const open, ask = "open", "ask"
	tests := []struct {
		name     string
		answers  answers
		prompt   *mcphubv1.Prompt
		terminal bool
		want     string // accept CONTENT, decline, dismiss, open or ask
	}{
		{"approve allow", answers{approve: "allow"}, approvalPrompt, false, "accept "},
		{"approve deny", answers{approve: "deny"}, approvalPrompt, true, "decline"},
		{"approve hang", answers{approve: "hang"}, approvalPrompt, true, open},
		{"approve by default on a terminal", answers{}, approvalPrompt, true, ask},
		{"sample decline", answers{sample: "decline"}, samplingPrompt, false, "decline"},
		{"sample hang", answers{sample: "hang"}, samplingPrompt, false, open},
		{"sample text", answers{sample: `say "hi"`}, samplingPrompt, false,
			`accept {"role":"assistant","content":{"type":"text","text":"say \"hi\""},"model":"mcphub-cli","stopReason":"endTurn"}`},
		{"form accept", answers{elicit: "accept", content: `{"a":1}`}, formPrompt, false, `accept {"a":1}`},
		{"form decline", answers{elicit: "decline"}, formPrompt, false, "decline"},
		{"form dismiss", answers{elicit: "dismiss"}, formPrompt, false, "dismiss"},
		{"form hang", answers{elicit: "hang"}, formPrompt, false, open},
		{"url accept", answers{elicit: "accept", content: `{"a":1}`}, urlPrompt, false, "accept "},
		{"url dismiss", answers{elicit: "dismiss"}, urlPrompt, false, "dismiss"},
		{"sign-in on a terminal", answers{}, signInPrompt, true, "accept "},
		{"sign-in print", answers{signIn: "print"}, signInPrompt, false, "accept "},
		{"sign-in decline", answers{signIn: "decline"}, signInPrompt, true, "decline"},
		{"sign-in hang", answers{signIn: "hang"}, signInPrompt, true, open},
		{"sign-in that waits for the browser", answers{signIn: "print"}, waitingPrompt, false, open},
		{"sign-in that waits, on a terminal", answers{}, waitingPrompt, true, open},
		{"a kind from the future", answers{approve: "allow", elicit: "accept", sample: "x"}, unknownPrompt, true, "dismiss"},
	}
	for _, test := range tests {
		answer, _, asked := test.answers.answerTo(test.prompt, test.terminal)
		got := open
		switch {
		case asked:
			got = ask
		case answer.GetAccept() != nil:
			got = "accept " + answer.GetAccept().GetContentJson()
		case answer.GetDecline() != nil:
			got = "decline"
		case answer.GetDismiss() != nil:
			got = "dismiss"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if answer != nil && answer.GetPromptId() != "p" {
			t.Errorf("%s: answers the prompt %q", test.name, answer.GetPromptId())
		}
	}
}

// TestNobodyToAsk: where there is no terminal, a question that no flag answers is not shown, so that the hub says that
// nobody could be asked, and not that somebody has refused.
func TestNobodyToAsk(t *testing.T) {
	given := answers{approve: "deny", signIn: "decline", launch: "deny",
		inputs: inputFlags{values: map[string]string{"a": "b"}}}
	for name, test := range map[string]struct {
		answers  answers
		terminal bool
		without  []mcphubv1.PromptKind
	}{
		"on a terminal":            {answers{}, true, nil},
		"flags without a terminal": {given, false, nil},
		"neither": {answers{launch: "ask"}, false, []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
			mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN, mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
			mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT}},
	} {
		want := slices.DeleteFunc(slices.Clone(allKinds), func(k mcphubv1.PromptKind) bool {
			return slices.Contains(test.without, k)
		})
		if diff := cmp.Diff(want, test.answers.kinds(test.terminal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNobodyWasAsked: the command line names the flag that answers, in the place of what helps an editor.
func TestNobodyWasAsked(t *testing.T) {
	for kind, flag := range map[event.PromptKind]string{event.PromptToolApproval: "--approve allow",
		event.PromptSignIn: "--sign-in print", event.PromptServerLaunch: "--launch deny shows",
		event.PromptConfigInput: "--input token=VALUE", event.PromptSampling: "--launch allow, --sign-in print or"} {
		e := event.Unasked("server \"s\" wants it", kind, "attach a window", "input", "token")
		got := withoutTerminal(e.Message, e.Meta)
		want := `server "s" wants it, and nobody could be asked: there is no terminal; ` + flag
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := withoutTerminal("something else failed", nil); got != "something else failed" {
		t.Errorf("another error became %q", got)
	}
}
