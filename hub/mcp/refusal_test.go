package mcp

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
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
		{Revision20251125, Capabilities{}, protocol.MethodSampling, samplingParams, "-32601"},
		{Revision20251125, Capabilities{}, protocol.MethodElicitation, formParams, "-32601"},
		{Revision20251125, Capabilities{}, protocol.MethodRoots, ``, "-32601"},
		{Revision20251125, Capabilities{ElicitationForm: true}, protocol.MethodElicitation, urlParams, "-32602"},
		{Revision20251125, Capabilities{ElicitationURL: true}, protocol.MethodElicitation, formParams, "-32602"},
		{Revision20250618, everything, protocol.MethodElicitation, urlParams, "-32602"},
		{Revision20250326, everything, protocol.MethodElicitation, formParams, "-32601"},
		{Revision20241105, everything, protocol.MethodElicitation, formParams, "-32601"},
		{Revision20251125, Capabilities{Sampling: true}, protocol.MethodSampling, withTools, "-32602"},
		{Revision20251125, Capabilities{Sampling: true}, protocol.MethodSampling, withChoice, "-32602"},
		{Revision20250618, everything, protocol.MethodSampling, withTools, "-32602"},
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
			{protocol.MethodElicitation, ``}, {protocol.MethodElicitation, `[]`}, {protocol.MethodElicitation, `{}`},
			{protocol.MethodElicitation, `{"message":1}`},
			{protocol.MethodElicitation, `{"message":"x","requestedSchema":[]}`},
			{protocol.MethodElicitation, `{"mode":"url","message":"x"}`},
			{protocol.MethodElicitation, `{"mode":"voice","message":"x"}`},
			{protocol.MethodSampling, ``}, {protocol.MethodSampling, `{}`},
			{protocol.MethodSampling, `{"messages":{},"maxTokens":1}`},
			{protocol.MethodSampling, `{"messages":[]}`}, {protocol.MethodSampling, `{"messages":[7],"maxTokens":1}`},
			{protocol.MethodSampling, `{"messages":[{"role":"system","content":{"type":"text"}}],"maxTokens":1}`},
			{protocol.MethodSampling, `{"messages":[{"role":"user"}],"maxTokens":1}`},
			{protocol.MethodSampling, `{"messages":[{"role":"user","content":"x"}],"maxTokens":1}`},
			{protocol.MethodSampling, message(use)}, {protocol.MethodSampling, message(use, text)},
			{protocol.MethodSampling, message(use, mixed)},
			{protocol.MethodSampling, message(result)},
		} {
			if got := ask(t, f, c[0], c[1]); !strings.Contains(got, `"code":-32602,`) {
				t.Errorf("%s %s: answered %s", c[0], c[1], got)
			}
		}
		if n := len(h.questions()); n != 0 {
			t.Errorf("%d questions were asked", n)
		}
		for _, params := range []string{message(text, use, result), message(use, result, use, result)} {
			if got := ask(t, f, protocol.MethodSampling, params); !strings.Contains(got, `"result"`) {
				t.Errorf("%s: answered %s", params, got)
			}
		}
	})
}
