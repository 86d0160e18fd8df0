package mcp

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// TestComplete: what is sent in each revision, for both kinds of reference. The context exists since 2025-06-18, the
// capability since 2025-03-26.
func TestComplete(t *testing.T) {
	const result = `{ "completion":{"values":["a","\u0062"],"total":1e2,"hasMore":false},"new":[1.0]}`
	prompt := CompletionRequest{Prompt: "p", Argument: "lang", Value: `p"y`, Context: map[string]string{"z": "1",
		"a": "2"}}
	resource := CompletionRequest{ResourceURI: "file:///{path}", Argument: "path"}
	for revision, context := range map[string]bool{
		Revision20241105: false, Revision20250326: false, Revision20250618: true, Revision20251125: true,
		Revision20260728: true,
	} {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				option := fakeserver.WithRevision(revision)
				if revision == Revision20260728 {
					option = fakeserver.WithModern()
				}
				capabilities := `{"completions":{}}`
				if revision == Revision20241105 {
					capabilities = `{}`
				}
				f := fakeserver.New(option, fakeserver.WithCapabilities(capabilities))
				f.Handle(protocol.MethodComplete, func(c *fakeserver.CallContext) { c.Result(result) })
				s := connect(t, f, &recorder{})
				for _, c := range []CompletionRequest{prompt, resource} {
					got, err := s.Complete(background, c)
					if err != nil || string(got) != result {
						t.Errorf("got %s, %v", got, err)
					}
				}
				sent := lines(f, protocol.MethodComplete)
				wantContext := ""
				if context {
					wantContext = `{"arguments":{"a":"2","z":"1"}}`
				}
				for name, want := range map[string]string{"ref": `{"type":"ref/prompt","name":"p"}`,
					"argument": `{"name":"lang","value":"p\"y"}`, "context": wantContext} {
					if got := string(sent[0].Param(name)); got != want {
						t.Errorf("%s is %s, want %s", name, got, want)
					}
				}
				for name, want := range map[string]string{"ref": `{"type":"ref/resource","uri":"file:///{path}"}`,
					"argument": `{"name":"path","value":""}`, "context": ""} {
					if got := string(sent[1].Param(name)); got != want {
						t.Errorf("%s is %s, want %s", name, got, want)
					}
				}
			})
		})
	}
}

// TestCompleteMalformed: an answer to a completion that requires input, or is no object, is a ProtocolError.
func TestCompleteMalformed(t *testing.T) {
	for result, want := range map[string]string{
		`{"resultType":"input_required","requestState":"s"}`: "input_required",
		`[]`: "malformed",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
			f.Handle(protocol.MethodComplete, func(c *fakeserver.CallContext) { c.Result(result) })
			s := connect(t, f, &recorder{})
			_, err := s.Complete(background, CompletionRequest{Prompt: "p", Argument: "a"})
			var wrong *ProtocolError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", result, err)
			}
		})
	}
}
