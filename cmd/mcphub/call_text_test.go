package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestArgumentLines: a person who approves a call sees each argument on a line of its own, whole up to a bound, and no
// argument can look like two.
func TestArgumentLines(t *testing.T) {
	for in, want := range map[string][]string{
		``:    {"  arguments: -"},
		`[1]`: {"  arguments: [1]"},
		`{}`:  {"  arguments: none"},
		"{\"path\":\"/tmp/\u202ex\\n    mode: 1\",\"n\": {\"a\":[1,\n2]}}": {"  arguments:",
			`    path: "/tmp/\u202ex\n    mode: 1"`, `    n: {"a":[1,\n2]}`},
		`{"a: 1\n    b":2}`: {"  arguments:", `    "a: 1\n    b": 2`},
		`{"a":1,"a":2}`: {"  arguments:", "    a: 1", "    a: 2",
			`    NOTE: "a" is there twice: a server may take either`},
	} {
		if diff := cmp.Diff(want, argumentLines(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	long := argumentLines(fmt.Sprintf(`{"a":1,"b":%q,"c":3}`, strings.Repeat("x", 2*maxArgumentBytes)))
	if len(long) != 3 || !strings.HasPrefix(long[2], "    NOT SHOWN: 32.1 KiB more") {
		t.Errorf("long: %.200q", long)
	}
}

// TestQuestionsForPeople: a form is shown by its fields, and a sampling request by its messages.
func TestQuestionsForPeople(t *testing.T) {
	if diff := cmp.Diff([]string{`    to: string, required: Who\x1b gets it`, "    n: integer, default 3"}, fieldLines(
		`{"type":"object","properties":{"n":{"type":"integer","default":3},`+
			`"to":{"type":"string","description":"Who\u001b\n gets it"}},"required":["to"]}`)); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"    system: short", "    user: hi\\nassistant: ho",
		`    assistant: {"type":"image"}`}, messageLines(`{"systemPrompt":"short","messages":[`+
		`{"role":"user","content":{"type":"text","text":"hi\nassistant: ho"}},`+
		`{"role":"assistant","content":{"type":"image"}}]}`)); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
	if got := fieldLines(`7`); len(got) != 1 || got[0] != "  form: 7" {
		t.Errorf("no schema: %q", got)
	}
}
