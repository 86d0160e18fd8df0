package mcp

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestUndeclaredCapability(t *testing.T) {
	withTools := strings.Replace(samplingParams, `"maxTokens"`, `"tools":[],"maxTokens"`, 1)
	withChoice := strings.Replace(samplingParams, `"maxTokens"`, `"toolChoice":{"mode":"auto"},"maxTokens"`, 1)
	for _, c := range []struct {
		revision       string
		served         Capabilities
		method, params string
		code           string
	}{
		{Revision20251125, Capabilities{}, methodSampling, samplingParams, "-32601"},
		{Revision20251125, Capabilities{}, methodElicitation, formParams, "-32601"},
		{Revision20251125, Capabilities{}, methodRoots, ``, "-32601"},
		{Revision20251125, Capabilities{ElicitationForm: true}, methodElicitation, urlParams, "-32602"},
		{Revision20251125, Capabilities{ElicitationURL: true}, methodElicitation, formParams, "-32602"},
		{Revision20250618, everything, methodElicitation, urlParams, "-32602"},
		{Revision20250326, everything, methodElicitation, formParams, "-32601"},
		{Revision20241105, everything, methodElicitation, formParams, "-32601"},
		{Revision20251125, Capabilities{Sampling: true}, methodSampling, withTools, "-32602"},
		{Revision20251125, Capabilities{Sampling: true}, methodSampling, withChoice, "-32602"},
		{Revision20250618, everything, methodSampling, withTools, "-32602"},
		{Revision20251125, everything, "tasks/list", `{}`, "-32601"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithRevision(c.revision))
			h := &recorder{}
			connect(t, f, h, func(o *Options) { o.Capabilities = func() Capabilities { return c.served } })
			if got := ask(t, f, c.method, c.params); !strings.Contains(got, `"code":`+c.code+`,`) {
				t.Errorf("%s %+v %s: answered %s, want %s", c.revision, c.served, c.method, got, c.code)
			}
			if n := len(h.questions()); n != 0 {
				t.Errorf("%s: somebody was asked", c.method)
			}
		})
	}
}

func TestMalformedQuestionsAskNobody(t *testing.T) {
	message := func(blocks ...string) string {
		return `{"messages":[` + strings.Join(blocks, ",") + `],"maxTokens":1,"tools":[]}`
	}
	const (
		use    = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}`
		result = `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}`
		mixed  = `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},{"type":"text","text":"and"}]}`
		text   = `{"role":"user","content":{"type":"text","text":"hi"}}`
	)
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		h := &recorder{ask: accepting(`{}`)}
		connect(t, f, h)
		for _, c := range [][2]string{
			{methodElicitation, ``}, {methodElicitation, `[]`}, {methodElicitation, `{}`}, {methodElicitation, `{"message":1}`},
			{methodElicitation, `{"message":"x","requestedSchema":[]}`},
			{methodElicitation, `{"mode":"url","message":"x"}`}, {methodElicitation, `{"mode":"voice","message":"x"}`},
			{methodSampling, ``}, {methodSampling, `{}`}, {methodSampling, `{"messages":{},"maxTokens":1}`},
			{methodSampling, `{"messages":[]}`}, {methodSampling, `{"messages":[7],"maxTokens":1}`},
			{methodSampling, `{"messages":[{"role":"system","content":{"type":"text"}}],"maxTokens":1}`},
			{methodSampling, `{"messages":[{"role":"user"}],"maxTokens":1}`},
			{methodSampling, `{"messages":[{"role":"user","content":"x"}],"maxTokens":1}`},
			{methodSampling, message(use)}, {methodSampling, message(use, text)}, {methodSampling, message(use, mixed)},
			{methodSampling, message(result)},
		} {
			if got := ask(t, f, c[0], c[1]); !strings.Contains(got, `"code":-32602,`) {
				t.Errorf("%s %s: answered %s", c[0], c[1], got)
			}
		}
		if n := len(h.questions()); n != 0 {
			t.Errorf("%d questions were asked", n)
		}
		for _, params := range []string{message(text, use, result), message(use, result, use, result)} {
			if got := ask(t, f, methodSampling, params); !strings.Contains(got, `"result"`) {
				t.Errorf("%s: answered %s", params, got)
			}
		}
	})
}
