package questions

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
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
	if a, err := parse(); err != nil || a.elicit != "" || a.sample != "decline" {
		t.Errorf("by default: %+v, %v", a, err)
	}
	const open, ask = "open", "ask"
	tests := []struct {
		name     string
		answers  Answers
		prompt   *mcphubv1.Prompt
		terminal bool
		want     string // accept CONTENT, decline, dismiss, open or ask
	}{
		{"approve allow", Answers{Approve: "allow"}, approvalPrompt, false, "accept "},
		{"approve deny", Answers{Approve: "deny"}, approvalPrompt, true, "decline"},
		{"approve hang", Answers{Approve: "hang"}, approvalPrompt, true, open},
		{"approve by default on a terminal", Answers{}, approvalPrompt, true, ask},
		{"sample decline", Answers{sample: "decline"}, samplingPrompt, false, "decline"},
		{"sample hang", Answers{sample: "hang"}, samplingPrompt, false, open},
		{"sample text", Answers{sample: `say "hi"`}, samplingPrompt, false,
			`accept {"role":"assistant","content":{"type":"text","text":"say \"hi\""},"model":"mcphub-cli","stopReason":"endTurn"}`},
		{"form accept", Answers{elicit: "accept", content: `{"a":1}`}, formPrompt, false, `accept {"a":1}`},
		{"form decline", Answers{elicit: "decline"}, formPrompt, false, "decline"},
		{"form dismiss", Answers{elicit: "dismiss"}, formPrompt, false, "dismiss"},
		{"form hang", Answers{elicit: "hang"}, formPrompt, false, open},
		{"url accept", Answers{elicit: "accept", content: `{"a":1}`}, urlPrompt, false, "accept "},
		{"url dismiss", Answers{elicit: "dismiss"}, urlPrompt, false, "dismiss"},
		{"sign-in on a terminal", Answers{}, signInPrompt, true, "accept "},
		{"sign-in print", Answers{signIn: "print"}, signInPrompt, false, "accept "},
		{"sign-in decline", Answers{signIn: "decline"}, signInPrompt, true, "decline"},
		{"sign-in hang", Answers{signIn: "hang"}, signInPrompt, true, open},
		{"sign-in that waits for the browser", Answers{signIn: "print"}, waitingPrompt, false, open},
		{"sign-in that waits, on a terminal", Answers{}, waitingPrompt, true, open},
		{"a kind from the future", Answers{Approve: "allow", elicit: "accept", sample: "x"}, unknownPrompt, true, "dismiss"},
	}
	for _, test := range tests {
		answer, _, asked := test.answers.AnswerTo(test.prompt, test.terminal)
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
	given := Answers{Approve: "deny", signIn: "decline", launch: "deny",
		Inputs: Inputs{Values: map[string]string{"a": "b"}}}
	for name, test := range map[string]struct {
		answers  Answers
		terminal bool
		without  []mcphubv1.PromptKind
	}{
		"on a terminal":            {Answers{}, true, nil},
		"flags without a terminal": {given, false, nil},
		"neither": {Answers{launch: "ask"}, false, []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
			mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN, mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
			mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT}},
	} {
		want := slices.DeleteFunc(slices.Clone(door.AllKinds), func(k mcphubv1.PromptKind) bool {
			return slices.Contains(test.without, k)
		})
		if diff := cmp.Diff(want, test.answers.Kinds(test.terminal)); diff != "" {
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
		got := exit.Advised(e.Message, e.Meta)
		want := `server "s" wants it, and nobody could be asked: there is no terminal; ` + flag
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := exit.Advised("something else failed", nil); got != "something else failed" {
		t.Errorf("another error became %q", got)
	}
}
