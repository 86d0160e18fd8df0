package main

import (
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestAnswerText: the text of each kind of result; what is no text is counted, and a result without any is shown whole.
func TestAnswerText(t *testing.T) {
	read := func(json string) answer {
		return &mcphubv1.ReadResourceResponse{Outcome: &mcphubv1.ReadResourceResponse_ResultJson{ResultJson: json}}
	}
	fill := func(json string) answer {
		return &mcphubv1.GetMcpPromptResponse{Outcome: &mcphubv1.GetMcpPromptResponse_ResultJson{ResultJson: json}}
	}
	tests := []struct {
		answer answer
		text   string
		others int
	}{
		{read(`{"contents":[{"uri":"a:b","text":"one"},{"uri":"a:c","blob":"AA=="},{"uri":"a:d","text":""}]}`), "one\n", 1},
		{read(`{"contents":[{"uri":"a:c","blob":"AA=="}]}`), `{"contents":[{"uri":"a:c","blob":"AA=="}]}`, 0},
		{read(`{"contents":7}`), `{"contents":7}`, 0},
		{fill(
			`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":{"type":"image","data":"x"}},` +
				`{"role":"assistant","content":{"type":"text","text":"ho"}}]}`), "user: hi\nassistant: ho", 1},
		{fill(`{"messages":[]}`), `{"messages":[]}`, 0},
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: `{"content":[{"type":"text","text":"t"}]}`}}, "t", 0},
	}
	for _, test := range tests {
		if text, others := answerText(test.answer); text != test.text || others != test.others {
			t.Errorf("%v: %q, %d; want %q, %d", test.answer, text, others, test.text, test.others)
		}
	}
}
