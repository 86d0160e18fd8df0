package mcp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Finding B9. A question and its payload agree: names are compared exactly, and a payload with a name twice is refused.
func TestQuestionAndPayloadAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		f := fakeserver.New()
		connect(t, f, h)
		asked := 0
		for _, c := range []struct{ method, params, url, refused string }{
			{method: protocol.MethodElicitation, url: "https://good.example/",
				params: `{"mode":"url","message":"hi","url":"https://good.example/","URL":"https://evil.example/","elicitationId":"1"}`},
			{method: protocol.MethodElicitation, refused: "no url",
				params: `{"mode":"url","message":"hi","URL":"https://evil.example/","elicitationId":"1"}`},
			{method: protocol.MethodElicitation, refused: `name "url"`,
				params: `{"mode":"url","message":"hi","url":"https://good.example/","\u0075rl":"https://evil.example/"}`},
			{method: protocol.MethodElicitation, refused: `name "title"`,
				params: `{"message":"hi","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"A","title":"B"}}}}`},
			{method: protocol.MethodSampling, refused: `name "text"`,
				params: `{"messages":[{"role":"user","content":{"type":"text","text":"a","text":"b"}}],"maxTokens":1}`},
		} {
			got := ask(t, f, c.method, c.params)
			if c.refused != "" {
				if !strings.Contains(got, "-32602") || !strings.Contains(got, strings.ReplaceAll(c.refused, `"`, `\"`)) {
					t.Errorf("%s was answered %s, want %s in it", c.params, got, c.refused)
				}
				continue
			}
			if asked++; len(h.questions()) != asked || h.questions()[asked-1].URL != c.url {
				t.Errorf("%s became %+v", c.params, h.questions())
			}
		}
		if n := len(h.questions()); n != asked {
			t.Errorf("%d questions were asked, want %d", n, asked)
		}
	})
}

// What a sampling request may leave out, and what makes it malformed.
func TestReadSampling(t *testing.T) {
	const one = `{"role":"user","content":{"type":"text","text":"hi"}}`
	for params, want := range map[string]string{
		`{"messages":[` + one + `],"maxTokens":10}`:                                        "",
		`{"messages":[],"maxTokens":1.5,"systemPrompt":null}`:                              "",
		`{"messages":[{"role":"assistant","content":[{"type":"text"},{}]}],"maxTokens":1}`: "",
		`{"messages":[` + one + `]}`:                                                       "required",
		`{"messages":[` + one + `],"maxTokens":null}`:                                      "required",
		`{"messages":[` + one + `],"maxTokens":"1"}`:                                       "malformed",
		`{"messages":null,"maxTokens":1}`:                                                  "required",
		`{"messages":{},"maxTokens":1}`:                                                    "malformed",
		`{"Messages":[],"maxTokens":1}`:                                                    "required",
		`{"messages":[` + one + `],"maxTokens":1,"systemPrompt":5}`:                        "malformed",
		`{"messages":[{"role":"system","content":{}}],"maxTokens":1}`:                      "a message",
		`{"messages":[{"role":"user"}],"maxTokens":1}`:                                     "a message",
		`{"messages":[{"role":"user","content":"hi"}],"maxTokens":1}`:                      "a message",
		`{"messages":[{"role":"user","content":["hi"]}],"maxTokens":1}`:                    "a message",
		`{"messages":[5],"maxTokens":1}`:                                                   "a message",
		`{"messages":[` + one + `],"maxTokens":1,"tools":[]}`:                              "tools",
		`[]`: "malformed",
		``:   "malformed",
	} {
		_, err := readSampling([]byte(params), Capabilities{Sampling: true})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// Finding B9. A tool whose definition has a member twice is refused: a user could approve the one, and another reader
// take the other.
func TestToolThatSaysSomethingTwice(t *testing.T) {
	const good = `{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"description":{},"Description":{}}}}`
	if _, err := ReadTool([]byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		`{"name":"a","description":"reads","description":"deletes"}`,
		`{"name":"a","inputSchema":{"properties":{"p":{"description":"a","\u0064escription":"b"}}}}`,
	} {
		if _, err := ReadTool([]byte(bad)); err == nil || !strings.Contains(err.Error(), `"description"`) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
