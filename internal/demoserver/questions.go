//lint:file-ignore SA1019 sampling and roots are deprecated since 2026-07-28; the clients of older revisions still use them.
//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

package demoserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerKey is the only key in the inputRequests of a question. stateOf returns the question's requestState.
const answerKey = "answer"

func stateOf(tool string) string { return Name + "/" + tool }

// ask asks the client a question: with the given request in a legacy session, with an input_required result in a modern
// one (2026-07-28, basic/patterns/mrtr). If round is not nil, it ends this round and must be returned unchanged.
func ask[A mcp.InputResponse](
	ctx context.Context, c *call, q mcp.InputRequest, needs capability, legacy func(context.Context) (A, error),
) (answer A, round *mcp.CallToolResult, err error) {
	if !c.modern() {
		answer, err = legacy(ctx)
		return answer, nil, err
	}
	p := c.req.Params
	given, ok := p.InputResponses[answerKey]
	if !ok {
		if err := c.demand(needs); err != nil {
			return answer, nil, err
		}
		return answer, &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{answerKey: q},
			RequestState:  stateOf(c.tool),
		}, nil
	}
	if p.RequestState != stateOf(c.tool) {
		return answer, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was not echoed"}
	}
	if answer, ok = given.(A); !ok {
		return answer, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the answer is a %T", given)}
	}
	return answer, nil, nil
}

func (c *call) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, *mcp.CallToolResult, error) {
	needs := elicitForm
	if p.Mode == "url" {
		needs = elicitURL
	}
	return ask(ctx, c, p, needs, func(ctx context.Context) (*mcp.ElicitResult, error) {
		return c.req.Session.Elicit(ctx, p)
	})
}

func (c *call) sample(ctx context.Context,
	p *mcp.CreateMessageParams) (*mcp.CreateMessageWithToolsResult, *mcp.CallToolResult, error) {
	return ask(ctx, c, p, sampling, func(ctx context.Context) (*mcp.CreateMessageWithToolsResult, error) {
		res, err := c.req.Session.CreateMessage(ctx, p)
		if err != nil {
			return nil, err
		}
		return &mcp.CreateMessageWithToolsResult{Content: []mcp.Content{res.Content}, Model: res.Model, Role: res.Role,
			StopReason: res.StopReason}, nil
	})
}

func (c *call) roots(ctx context.Context) (*mcp.ListRootsResult, *mcp.CallToolResult, error) {
	return ask(ctx, c, &mcp.ListRootsParams{}, roots, func(ctx context.Context) (*mcp.ListRootsResult, error) {
		return c.req.Session.ListRoots(ctx, nil)
	})
}

// capability is what a question requires of the client, as the JSON text of a capabilities object. (The SDK's own type
// always writes roots.)
type capability string

const (
	elicitForm capability = `{"elicitation":{"form":{}}}`
	elicitURL  capability = `{"elicitation":{"url":{}}}`
	sampling   capability = `{"sampling":{}}`
	roots      capability = `{"roots":{}}`
)

// demand checks that this request declared the needed capability. A modern server must not ask for anything undeclared,
// and capabilities belong to the request, not to the session (2026-07-28, basic/index).
func (c *call) demand(needs capability) error {
	var has struct {
		Elicitation *struct{ Form, URL *struct{} }
		Sampling    *struct{}
		Roots       *struct{}
	}
	raw, err := json.Marshal(c.req.Params.Meta[mcp.MetaKeyClientCapabilities])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &has); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the client's capabilities are malformed"}
	}
	var ok bool
	switch e := has.Elicitation; needs {
	case elicitForm:
		ok = e != nil && (e.Form != nil || e.URL == nil) // an empty object means forms alone (client/elicitation)
	case elicitURL:
		ok = e != nil && e.URL != nil
	case sampling:
		ok = has.Sampling != nil
	case roots:
		ok = has.Roots != nil
	}
	if ok {
		return nil
	}
	return &jsonrpc.Error{
		Code:    mcp.CodeMissingRequiredClientCapabilities,
		Message: "the client did not declare what the tool asks for",
		Data:    json.RawMessage(`{"requiredCapabilities":` + string(needs) + `}`),
	}
}

type noArgs struct{}

type openPageArgs struct {
	URL string `json:"url" jsonschema:"the page that the user is to open"`
}

type summarizeArgs struct {
	Text string `json:"text" jsonschema:"the text to sum up"`
}

func nameForm() *mcp.ElicitParams {
	least, most := 1, 100
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: "What is your name?",
		RequestedSchema: &jsonschema.Schema{
			Type:     "object",
			Required: []string{"name"},
			Properties: map[string]*jsonschema.Schema{
				"name":   {Type: "string", Title: "Name", MinLength: &least, MaxLength: &most},
				"formal": {Type: "boolean", Title: "Formal greeting", Default: []byte(`false`)},
			},
		},
	}
}

func summaryRequest(s string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		MaxTokens:    200,
		SystemPrompt: "Sum up in one sentence.",
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: s}}},
	}
}

// addQuestions adds the tools that ask the user, the model or the editor.
func (d *demo) addQuestions() {
	add(d, spec{
		name: "ask_name", title: "Ask for a name",
		description: "Asks the user for a name in a form, and greets.",
	}, askName)
	add(d, spec{
		name: "open_page", title: "Open a page",
		description: "Asks the user to open a page in the browser.",
		patterns:    map[string]string{"url": "^https?://"},
	}, openPage)
	add(d, spec{
		name: "summarize", title: "Summarize",
		description: "Has the client's model sum up a text.",
	}, summarize)
	add(d, spec{
		name: "list_roots", title: "List roots",
		description: "Asks the client for its roots and answers them.",
	}, listRoots)
}

func askName(ctx context.Context, c *call, _ noArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.elicit(ctx, nameForm())
	if round != nil || err != nil {
		return round, nil, err
	}
	switch res.Action {
	case "accept":
		name, _ := res.Content["name"].(string)
		if name == "" {
			return nil, nil, errors.New("the form was accepted without a name")
		}
		if formal, _ := res.Content["formal"].(bool); formal {
			return text("Good day, %s.", name), nil, nil
		}
		return text("Hello, %s!", name), nil, nil
	case "decline":
		return text("The user declined to give a name."), nil, nil
	case "cancel":
		return text("The user dismissed the question."), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown action %q", res.Action)
}

func openPage(ctx context.Context, c *call, in openPageArgs) (*mcp.CallToolResult, any, error) {
	p := &mcp.ElicitParams{Mode: "url", Message: "The demo server wants you to open a page.", URL: in.URL}
	if !c.modern() {
		p.ElicitationID = "demo-page" // removed in 2026-07-28
	}
	res, round, err := c.elicit(ctx, p)
	if round != nil || err != nil {
		return round, nil, err
	}
	switch res.Action {
	case "accept":
		return text("The user agreed to open %s.", in.URL), nil, nil
	case "decline":
		return text("The user declined to open the page."), nil, nil
	case "cancel":
		return text("The user dismissed the question."), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown action %q", res.Action)
}

func summarize(ctx context.Context, c *call, in summarizeArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.sample(ctx, summaryRequest(in.Text))
	if round != nil {
		return round, nil, nil
	}
	if err != nil {
		return nil, nil, refused(err, "the client gave no summary")
	}
	var b strings.Builder
	for _, part := range res.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return text("%s (by %s)", b.String(), res.Model), nil, nil
}

func listRoots(ctx context.Context, c *call, _ noArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.roots(ctx)
	if round != nil {
		return round, nil, nil
	}
	if err != nil {
		return nil, nil, refused(err, "the client gave no roots")
	}
	lines := []string{fmt.Sprintf("%d roots", len(res.Roots))}
	for _, r := range res.Roots {
		lines = append(lines, r.URI)
	}
	return text("%s", strings.Join(lines, "\n")), nil, nil
}

// refused turns a client's error answer to a question into an error of the tool. The demo's own objections stay
// protocol errors. (The SDK sends a bare *jsonrpc.Error of a tool as the answer to the call.)
func refused(err error, what string) error {
	if own, ok := err.(*jsonrpc.Error); ok {
		return own
	}
	return fmt.Errorf("%s: %w", what, err)
}

// errWithdrawn is the cause with which a tool cancels its own question.
var errWithdrawn = errors.New("the server withdrew its question")

// maxSendWait limits how long a tool waits until its cancel is written. It matters over Streamable HTTP, where nothing
// reports the write.
const maxSendWait = time.Second

type withdrawArgs struct {
	AfterMS int    `json:"after_ms,omitempty" jsonschema:"after how long to withdraw the question, in milliseconds"`
	Reason  string `json:"reason,omitempty" jsonschema:"the reason to give; what the SDK says by itself when left out"`
}

// addWithdrawals adds the tools that ask a question and then withdraw it. Only a legacy server can do that: from
// 2026-07-28 on, a server sends no requests that it could cancel (basic/patterns/cancellation).
func (d *demo) addWithdrawals() {
	bounds := map[string]bound{"after_ms": {0, 600000, 2000}}
	add(d, spec{
		name: "ask_then_withdraw", title: "Ask and withdraw",
		description: "Asks the user for a name and withdraws the question after a while.",
		bounds:      bounds,
	}, func(ctx context.Context, c *call, in withdrawArgs) (*mcp.CallToolResult, any, error) {
		return c.askAndWithdraw(ctx, in, func(ctx context.Context) (string, error) {
			res, err := c.req.Session.Elicit(ctx, nameForm())
			if err != nil {
				return "", err
			}
			return res.Action, nil
		})
	})
	add(d, spec{
		name: "sample_then_withdraw", title: "Sample and withdraw",
		description: "Asks the client's model for a summary and withdraws the request after a while.",
		bounds:      bounds,
	}, func(ctx context.Context, c *call, in withdrawArgs) (*mcp.CallToolResult, any, error) {
		return c.askAndWithdraw(ctx, in, func(ctx context.Context) (string, error) {
			res, err := c.req.Session.CreateMessage(ctx, summaryRequest("A question that nobody needs answered."))
			if err != nil {
				return "", err
			}
			return "completion by " + res.Model, nil
		})
	})
}

func (c *call) askAndWithdraw(ctx context.Context, in withdrawArgs,
	ask func(context.Context) (string, error)) (*mcp.CallToolResult, any, error) {
	if c.modern() {
		return nil, nil, errors.New("a server of revision 2026-07-28 sends no requests, so it has none to withdraw; " +
			"one of the era legacy has: set era of its entry to legacy")
	}
	asking, w := withWithdrawal(ctx, in.Reason)
	asking, withdraw := context.WithCancelCause(asking)
	defer withdraw(nil)
	timer := time.AfterFunc(ms(in.AfterMS), func() { withdraw(errWithdrawn) })
	defer timer.Stop()

	answer, err := ask(asking)
	switch {
	case err == nil:
		return text("answered before it was withdrawn: %s", answer), nil, nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case !errors.Is(context.Cause(asking), errWithdrawn):
		return nil, nil, fmt.Errorf("the client gave no answer: %w", err)
	}
	// The SDK sends the cancel in the background. The answer of this call waits for it. Otherwise clients could see the
	// question end with its call, and not by the server's cancel.
	late := time.NewTimer(maxSendWait)
	defer late.Stop()
	select {
	case <-w.sent:
	case <-late.C:
	case <-ctx.Done():
	}
	c.journal.note(Event{Event: EventWithdrawn, Tool: c.tool, Reason: in.Reason})
	return text("withdrew its question after %d ms", in.AfterMS), nil, nil
}
