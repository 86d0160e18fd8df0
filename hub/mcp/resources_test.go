package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestResourceDefinition(t *testing.T) {
	for raw, want := range map[string]Resource{
		`{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":9007199254740993}`: {
			URI: "file:///a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: 9007199254740993},
		`{"uri":"u"}`:                        {URI: "u", Size: -1},
		`{"uri":"u","size":0}`:               {URI: "u", Size: 0},
		`{"uri":"u","size":-5}`:              {URI: "u", Size: -1},
		`{"uri":"u","size":1.5}`:             {URI: "u", Size: -1},
		`{"uri":"u","size":"7"}`:             {URI: "u", Size: -1},
		`{"uri":"u","size":null,"name":[1]}`: {URI: "u", Size: -1},
	} {
		want.Raw = json.RawMessage(raw)
		got, err := ResourceOf(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", raw, err, diff)
		}
	}
	for _, raw := range []string{`{}`, `{"uri":""}`, `{"uri":7}`, `[]`, `null`, `"u"`} {
		if got, err := ResourceOf(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was taken for %+v", raw, got)
		}
		if got, err := ResourceTemplateOf(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was taken for %+v", raw, got)
		}
	}
	const raw = `{"uriTemplate":"file:///{p}","name":"n","title":"t","description":"d","mimeType":"m"}`
	want := ResourceTemplate{URITemplate: "file:///{p}", Name: "n", Title: "t", Description: "d", MIMEType: "m",
		Raw: json.RawMessage(raw)}
	if got, err := ResourceTemplateOf(json.RawMessage(raw)); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("template: %v, %+v", err, got)
	}
}

// asking has the requests that are no tool calls and may be answered with questions all the same, by method.
var asking = map[string]struct {
	members string // that the server must see
	request func(onProgress func(Progress)) *CallRequest
	ask     func(context.Context, *Session, *CallRequest) (*CallResult, error)
}{
	protocol.MethodReadResource: {
		`{"uri":"ui://app/a?b=\"c\""}`,
		func(p func(Progress)) *CallRequest { return &CallRequest{Name: `ui://app/a?b="c"`, OnProgress: p} },
		func(ctx context.Context, s *Session, c *CallRequest) (*CallResult, error) {
			return s.ReadResource(ctx, c)
		},
	},
	protocol.MethodGetPrompt: {
		`{"name":"p","arguments":{"a":"1","b":"2"}}`,
		func(p func(Progress)) *CallRequest {
			return &CallRequest{Name: "p", Arguments: json.RawMessage("{\"a\":\"1\",\n\"b\":\"2\"}"), OnProgress: p}
		},
		func(ctx context.Context, s *Session, c *CallRequest) (*CallResult, error) { return s.GetPrompt(ctx, c) },
	},
}

// TestReadsAskAndProgress: resources/read and prompts/get have progress, and rounds where the era has them, as
// tools/call has.
func TestReadsAskAndProgress(t *testing.T) {
	for method, kind := range asking {
		t.Run(method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				f.Handle(method, func(c *fakeserver.CallContext) {
					c.Progress(1, 2, "half")
					if c.Param("inputResponses") == nil && f.Count(fakeserver.Method(protocol.MethodInitialize)) == 0 {
						c.InputRequired(
							`{"k":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{}}}}}`, "st")
						return
					}
					c.Result(`{"resultType":"complete","x":1.50}`)
				})
				h := &recorder{ask: accepting(`{"n":1}`)}
				s := connect(t, f, h)
				steps := 0
				got, err := kind.ask(background, s, kind.request(func(Progress) { steps++ }))
				if err != nil {
					t.Fatal(err)
				}
				rounds := 1
				if s.Era() == Modern {
					rounds = 2
				}
				if string(got.Raw) != `{"resultType":"complete","x":1.50}` || got.Rounds != rounds ||
					steps != rounds {
					t.Errorf("got %s in %d rounds with %d steps", got.Raw, got.Rounds, steps)
				}
				sent := lines(f, method)
				if len(sent) != rounds || len(h.questions()) != rounds-1 {
					t.Fatalf("%d requests, %d questions", len(sent), len(h.questions()))
				}
				for _, m := range sent {
					var want map[string]json.RawMessage
					if err := json.Unmarshal([]byte(kind.members), &want); err != nil {
						t.Fatal(err)
					}
					for name, value := range want {
						if string(m.Param(name)) != string(value) {
							t.Errorf("%s is %s, want %s", name, m.Param(name), value)
						}
					}
				}
				if rounds == 2 {
					if string(sent[1].Param("inputResponses")) != `{"k":{"action":"accept","content":{"n":1}}}` ||
						string(sent[1].Param("requestState")) != `"st"` {
						t.Errorf("the retry is %s", sent[1].Raw)
					}
				}
			})
		})
	}
}

// TestReadsCancelled: resources/read and prompts/get are cancelled on the wire with the caller's reason.
func TestReadsCancelled(t *testing.T) {
	for method, kind := range asking {
		t.Run(method, func(t *testing.T) {
			bothEras(t, func(t *testing.T, f *fakeserver.Server) {
				reasons := make(chan string, 1)
				f.Handle(method, func(c *fakeserver.CallContext) { reasons <- <-c.Cancelled() })
				s := connect(t, f, &recorder{})
				ctx, cancel := context.WithCancelCause(background)
				out := make(chan outcome, 1)
				go func() {
					r, err := kind.ask(ctx, s, kind.request(nil))
					out <- outcome{r, err}
				}()
				synctest.Wait()
				if s.InFlight() != 1 {
					t.Errorf("%d in flight", s.InFlight())
				}
				cancel(&stopped{"enough"})
				var cancelled *jsonrpc.CancelledError
				if o := finished(t, out); !errors.As(o.err, &cancelled) || !cancelled.Sent {
					t.Errorf("got %v", o.err)
				}
				if reason := <-reasons; reason != "enough" {
					t.Errorf("the server heard %q", reason)
				}
			})
		})
	}
}

// TestReadsRefuseBadArguments: arguments that no server could accept are an ArgumentsError, and nothing is sent.
func TestReadsRefuseBadArguments(t *testing.T) {
	bothEras(t, func(t *testing.T, f *fakeserver.Server) {
		s := connect(t, f, &recorder{})
		before := len(f.Received())
		for name, err := range map[string]error{
			"no uri":         second(s.ReadResource(background, &CallRequest{})),
			"uri, arguments": second(s.ReadResource(background, &CallRequest{Name: "u", Arguments: json.RawMessage(`{}`)})),
			"no prompt":      second(s.GetPrompt(background, &CallRequest{})),
			"number":         second(s.GetPrompt(background, &CallRequest{Name: "p", Arguments: json.RawMessage(`{"a":1}`)})),
			"array":          second(s.GetPrompt(background, &CallRequest{Name: "p", Arguments: json.RawMessage(`["a"]`)})),
			"no json":        second(s.GetPrompt(background, &CallRequest{Name: "p", Arguments: json.RawMessage(`{"a":"b"`)})),
			"no reference":   second(s.Complete(background, CompletionRequest{Argument: "a"})),
			"two references": second(s.Complete(background, CompletionRequest{Prompt: "p", ResourceURI: "u", Argument: "a"})),
			"no argument":    second(s.Complete(background, CompletionRequest{Prompt: "p"})),
			"subscribe":      s.Subscribe(background, ""),
		} {
			var bad *ArgumentsError
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v", name, err)
			}
		}
		synctest.Wait()
		for _, m := range f.Received()[before:] {
			if m.Method != protocol.MethodListen && m.Method != protocol.MethodInitialized {
				t.Errorf("sent %s", m.Raw)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestPromptDefinition(t *testing.T) {
	const raw = `{"name":"p","title":"P","description":"d","arguments":[{"name":"a","title":"A","description":"x","required":true},{"name":"b","required":"yes"},7,{}],"icons":[]}`
	want := Prompt{Name: "p", Title: "P", Description: "d", Raw: json.RawMessage(raw), Arguments: []PromptArgument{
		{Name: "a", Title: "A", Description: "x", Required: true}, {Name: "b"},
	}}
	got, err := PromptOf(json.RawMessage(raw))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := PromptOf(json.RawMessage(`{"name":"p","arguments":{}}`)); err != nil || got.Arguments != nil {
		t.Errorf("malformed arguments: %+v, %v", got, err)
	}
}
