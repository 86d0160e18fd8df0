package call

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func toolAnswer(json string) answer {
	return &mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: json}}
}

// TestAnswerText: the text of each kind of result; what is no text is named, and a result without any is shown whole.
func TestAnswerText(t *testing.T) {
	read := func(json string) answer {
		return &mcphubv1.ReadResourceResponse{Outcome: &mcphubv1.ReadResourceResponse_ResultJson{ResultJson: json}}
	}
	fill := func(json string) answer {
		return &mcphubv1.GetMcpPromptResponse{Outcome: &mcphubv1.GetMcpPromptResponse_ResultJson{ResultJson: json}}
	}
	noText := `{"content":[
		{"type":"image","data":"AAAA","mimeType":"image/png"},
		{"type":"audio","data":"AA==","mimeType":"audio/wav"},
		{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"four"}},
		{"type":"resource","resource":{"uri":"a:b","blob":"AAA="}},
		{"type":"resource_link","uri":"a:c","name":"a\u001b name","size":70000},
		{"type":"resource_link","uri":"a:d"},
		{"type":"new","x":1}, {}]}`
	tests := []struct {
		answer answer
		text   string
		others []string
	}{
		{read(`{"contents":[{"uri":"a:b","text":"one"},{"uri":"a:c","blob":"AA=="},{"uri":"a:d","text":""}]}`), "one\n",
			[]string{"resource, a:c, 1 bytes"}},
		{read(`{"contents":[{"uri":"a:c","blob":"AA=="}]}`), `{"contents":[{"uri":"a:c","blob":"AA=="}]}`,
			[]string{"resource, a:c, 1 bytes"}},
		{read(`{"contents":7}`), `{"contents":7}`, nil},
		{fill(`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},` +
			`{"role":"assistant","content":{"type":"image","data":"x"}},` +
			`{"role":"assistant","content":{"type":"text","text":"ho"}}]}`), "user: hi\nassistant: ho",
			[]string{"image, 0 bytes"}},
		{fill(`{"messages":[]}`), `{"messages":[]}`, nil},
		{toolAnswer(`{"content":[{"type":"text","text":"t"}]}`), "t", nil},
		{toolAnswer(noText), noText, []string{"image, image/png, 3 bytes", "audio, audio/wav, 1 bytes",
			"resource, a:b, text/plain, 4 bytes", "resource, a:b, 2 bytes",
			`link, a:c, a\u001b name, 70000 bytes`, "link, a:d",
			"new, 20 bytes", "a part without a type, 2 bytes"}},
	}
	for _, test := range tests {
		text, others := answerText(test.answer)
		if diff := cmp.Diff(test.others, others); text != test.text || diff != "" {
			t.Errorf("%v: %q, want %q; others (-want +got):\n%s", test.answer, text, test.text, diff)
		}
	}
}

// TestOnATerminalJSONIsLaidOut: JSON gets a line for each member, within bounds; other text stays as it is. Characters
// that move the cursor are escaped in both.
func TestOnATerminalJSONIsLaidOut(t *testing.T) {
	deep := strings.Repeat("[", maxLaidOutDepth+1) + strings.Repeat("]", maxLaidOutDepth+1)
	large := `["` + strings.Repeat("x", maxLaidOut) + `"]`
	for in, want := range map[string]string{
		`{"a":1,"b":["}{"]}`:      "{\n  \"a\": 1,\n  \"b\": [\n    \"}{\"\n  ]\n}",
		"plain {\x1b[2J":          `plain {\x1b[2J`,
		`{"a":`:                   `{"a":`,
		"{\"a\":\"\u202e\\\"{\"}": "{\n  \"a\": \"\\u202e\\\"{\"\n}",
		deep:                      deep, large: large, "": "",
	} {
		if got := forTerminal(in); got != want {
			t.Errorf("%.80q: %.200q, want %.200q", in, got, want)
		}
	}
}

// TestStructuredContentOnce: structured content is shown beside the text only if the text says something else.
func TestStructuredContentOnce(t *testing.T) {
	const content = `{"t":[ 33 ],"w":"sun"}`
	for text, want := range map[string]string{
		"It is warm.": content, `{"t": [33], "w": "sun"}`: "", "{\n\"t\":[33],\"w\":\"sun\"\n}": "",
		"In short:\n" + `{"t":[33],"w":"sun"}`: "", `{"t":[34]}`: content,
	} {
		if got := structured(`{"content":[],"structuredContent":`+content+`}`, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	// Large structured content is parsed once, and not once for each line of a long text, which would take minutes.
	large, lines := `"`+strings.Repeat("x", 1<<20)+`"`, strings.Repeat("{}\n", 1<<18)
	if got := structured(`{"content":[],"structuredContent":`+large+`}`, lines); got != large {
		t.Errorf("of many lines: %d bytes", len(got))
	}
	if got := structured(`{"content":[]}`, "t"); got != "" {
		t.Errorf("without any: %q", got)
	}
}

// TestTextForTerminal: a result of pictures only has no text beside their names, and structured content follows the
// text.
func TestTextForTerminal(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[{"type":"image","data":"AAAA"}]}`:                                    "",
		`{"content":[{"type":"image","data":"AAAA"}],"structuredContent":{}}`:             "{}",
		`{"content":[{"type":"text","text":"a\u001b\n"}],"structuredContent":{"b":1}}`:    "a\\x1b\n{\n  \"b\": 1\n}",
		`{"content":[{"type":"text","text":"{\"b\":1}"}],"structuredContent":{ "b" : 1}}`: "{\n  \"b\": 1\n}",
		`{"content":[]}`: "{\n  \"content\": []\n}",
	} {
		r := toolAnswer(result)
		text, others := answerText(r)
		if got := textForTerminal(r, text, others); got != want {
			t.Errorf("%s: %q, want %q", result, got, want)
		}
	}
}

func TestExitStatusOfResponses(t *testing.T) {
	tests := []struct {
		response *mcphubv1.CallToolResponse
		want     exit.Status
	}{
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: `{}`}}, 0},
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: `{}`}, IsError: true}, 1},
		{&mcphubv1.CallToolResponse{Outcome: &mcphubv1.CallToolResponse_Error{Error: &mcphubv1.McpError{Code: -32602}}}, 1},
	}
	for _, test := range tests {
		if got := exitOfResponse(test.response); got != test.want {
			t.Errorf("%v exits with %d, want %d", test.response, got, test.want)
		}
	}
}

func TestResultText(t *testing.T) {
	tests := []struct {
		result, text string
		others       int
	}{
		{`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":""}]}`, "a\n", 1},
		{`{"content":[{"type":"text","text":""}]}`, "", 0},
		{`{"content":[], "structuredContent":{"n":1.0}}`, `{"content":[], "structuredContent":{"n":1.0}}`, 0},
		{`{"content":"odd"}`, `{"content":"odd"}`, 0},
	}
	for _, test := range tests {
		text, others := answerText(toolAnswer(test.result))
		if text != test.text || len(others) != test.others {
			t.Errorf("answerText(%s) = %q, %q; want %q, %d", test.result, text, others, test.text, test.others)
		}
	}
}
