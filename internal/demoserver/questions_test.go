//lint:file-ignore SA1019 sampling and roots are deprecated since 2026-07-28; the clients of older revisions still use them.

package demoserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

func eachEra(t *testing.T, f func(t *testing.T, rev string)) {
	for _, rev := range []string{legacy, modern} {
		t.Run(rev, func(t *testing.T) { f(t, rev) })
	}
}

func TestAskNameInBothEras(t *testing.T) {
	eachEra(t, func(t *testing.T, rev string) {
		for want, answer := range map[string]*mcp.ElicitResult{
			"Hello, Ada!":                       {Action: "accept", Content: map[string]any{"name": "Ada"}},
			"Good day, Ada.":                    {Action: "accept", Content: map[string]any{"name": "Ada", "formal": true}},
			"The user declined to give a name.": {Action: "decline"},
			"The user dismissed the question.":  {Action: "cancel"},
		} {
			elicit := func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				if r.Params.Message != "What is your name?" || r.Params.Mode != "form" {
					t.Errorf("asked %+v", r.Params)
				}
				return answer, nil
			}
			inBubble(t, clientOptions{revision: rev, elicit: elicit}, func(t *testing.T, _ *served, c *client) {
				if got, isErr := c.text("ask_name", nil); got != want || isErr {
					t.Errorf("got %q, isError %v; want %q", got, isErr, want)
				}
			})
		}
	})
}

func TestOpenPageInBothEras(t *testing.T) {
	eachEra(t, func(t *testing.T, rev string) {
		elicit := func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if r.Params.Mode != "url" || r.Params.URL != "https://example.com/x" {
				t.Errorf("asked %+v", r.Params)
			}
			if hasID := r.Params.ElicitationID != ""; hasID != (rev == legacy) {
				t.Errorf("elicitation id %q under %s", r.Params.ElicitationID, rev)
			}
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
		inBubble(t, clientOptions{revision: rev, elicit: elicit}, func(t *testing.T, _ *served, c *client) {
			if got,
				isErr := c.text("open_page",
				map[string]any{"url": "https://example.com/x"}); got != "The user agreed to open https://example.com/x." || isErr {
				t.Errorf("got %q, isError %v", got, isErr)
			}
			if got, isErr := c.text("open_page", map[string]any{"url": "javascript:alert(1)"}); !isErr {
				t.Errorf("a script URL gave %q", got)
			}
		})
	})
}

func TestSummarizeInBothEras(t *testing.T) {
	eachEra(t, func(t *testing.T, rev string) {
		sample := func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m1", Content: &mcp.TextContent{Text: "short"}}, nil
		}
		inBubble(t, clientOptions{revision: rev, sample: sample}, func(t *testing.T, _ *served, c *client) {
			if got, isErr := c.text("summarize", map[string]any{"text": "long"}); got != "short (by m1)" || isErr {
				t.Errorf("got %q, isError %v", got, isErr)
			}
		})
	})
}

func TestSummarizeSaysWhenTheUserRefuses(t *testing.T) {
	sample := func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return nil, &jsonrpc.Error{Code: -1, Message: "User rejected sampling request"}
	}
	inBubble(t, clientOptions{sample: sample}, func(t *testing.T, _ *served, c *client) {
		got, isErr := c.text("summarize", map[string]any{"text": "long"})
		if !isErr || !strings.Contains(got, "the client gave no summary") || !strings.Contains(got, "User rejected") {
			t.Errorf("got %q, isError %v", got, isErr)
		}
	})
}

func TestListRootsInBothEras(t *testing.T) {
	eachEra(t, func(t *testing.T, rev string) {
		inBubble(t, clientOptions{revision: rev}, func(t *testing.T, _ *served, c *client) {
			if got, isErr := c.text("list_roots", nil); got != "1 roots\nfile:///demo/root" || isErr {
				t.Errorf("got %q, isError %v", got, isErr)
			}
		})
	})
}

func TestModernAsksNothingUndeclared(t *testing.T) {
	inBubble(t, clientOptions{revision: modern, noRoots: true}, func(t *testing.T, _ *served, c *client) {
		for tool, args := range map[string]map[string]any{
			"ask_name": nil, "open_page": {"url": "https://example.com/"}, "summarize": {"text": "x"}, "list_roots": nil,
		} {
			_, err := c.call(t.Context(), tool, args)
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != mcp.CodeMissingRequiredClientCapabilities {
				t.Errorf("%s: %v", tool, err)
			} else if !strings.Contains(string(wire.Data), `"requiredCapabilities":{"`) {
				t.Errorf("%s: data %s", tool, wire.Data)
			}
		}
	})
}

func TestModernWantsItsRequestStateBack(t *testing.T) {
	elicit := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return nil, errors.New("not asked")
	}
	inBubble(t, clientOptions{revision: modern, elicit: elicit, manual: true}, func(t *testing.T, s *served, c *client) {
		res, err := c.call(t.Context(), "ask_name", nil)
		if err != nil || !res.NeedsInput() || res.RequestState == "" {
			t.Fatalf("first round: %+v, %v", res, err)
		}
		if e := s.event(demoserver.EventFinished, "ask_name"); e.Detail != "input_required" {
			t.Errorf("outcome %q", e.Detail)
		}
		answers := mcp.InputResponseMap{}
		for key := range res.InputRequests {
			answers[key] = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}
		}
		if res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_name", InputResponses: answers,
			RequestState: "made up"}); err == nil {
			t.Errorf("an invented state was taken: %+v", res)
		}
		res, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_name", InputResponses: answers,
			RequestState: res.RequestState})
		if err != nil {
			t.Fatal(err)
		}
		if got := resultText(t, res); got != "Hello, Ada!" {
			t.Errorf("got %q", got)
		}
	})
}

// The question, then its withdrawal with the reason, and then the answer of the call, as they are on the wire.
func TestWithdrawOnTheWire(t *testing.T) {
	for _, tc := range []struct{ tool, method, args, reason string }{
		{"ask_then_withdraw", "elicitation/create", `{"after_ms":700,"reason":"found it elsewhere"}`, "found it elsewhere"},
		{"ask_then_withdraw", "elicitation/create", `{"after_ms":700}`, "context canceled"},
		{"sample_then_withdraw", "sampling/createMessage", `{"after_ms":700,"reason":"too \"late\""}`, `too \"late\"`},
	} {
		t.Run(tc.tool+" "+tc.reason, func(t *testing.T) {
			rawBubble(t, func(t *testing.T, s *served, r *raw) {
				r.initialize(`{"elicitation":{},"sampling":{}}`)
				r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tc.tool + `","arguments":` + tc.args +
					`}}`)
				r.want(`"method":"`+tc.method+`"`, `"id":1`)
				r.want(`"method":"notifications/cancelled"`, `"requestId":1`, `"reason":"`+tc.reason+`"`)
				r.want(`"id":1`, `withdrew its question after 700 ms`)
				// A late answer to the withdrawn question is ignored.
				r.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
				r.want(`"id":2`, `"result":{}`)
				s.event(demoserver.EventWithdrawn, tc.tool)
			})
		})
	}
}

func TestWithdrawComesTooLate(t *testing.T) {
	elicit := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	inBubble(t, clientOptions{elicit: elicit}, func(t *testing.T, _ *served, c *client) {
		if got, isErr := c.text("ask_then_withdraw", nil); got != "answered before it was withdrawn: decline" || isErr {
			t.Errorf("got %q, isError %v", got, isErr)
		}
	})
}

func TestModernCannotWithdraw(t *testing.T) {
	inBubble(t, clientOptions{revision: modern}, func(t *testing.T, _ *served, c *client) {
		for _, tool := range []string{"ask_then_withdraw", "sample_then_withdraw"} {
			if got, isErr := c.text(tool, nil); !isErr || !strings.Contains(got, "sends no requests") {
				t.Errorf("%s: %q, isError %v", tool, got, isErr)
			}
		}
	})
}

// When a call is cancelled, the SDK also cancels the question of its tool.
func TestCancelledCallTakesItsQuestionAlong(t *testing.T) {
	rawBubble(t, func(t *testing.T, s *served, r *raw) {
		r.initialize(`{"elicitation":{}}`)
		r.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask_name"}}`)
		r.want(`"method":"elicitation/create"`, `"id":1`)
		r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"stop"}}`)
		synctest.Wait()
		lines := r.want() + r.want()
		if !strings.Contains(lines, `"method":"notifications/cancelled"`) || !strings.Contains(lines, `"requestId":1`) {
			t.Errorf("no cancel for the question in %s", lines)
		}
		if e := s.event(demoserver.EventCancelReceived, ""); e.Reason != "stop" {
			t.Errorf("the event is %+v, want the reason of the client", e)
		}
	})
}
