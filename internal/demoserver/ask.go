//lint:file-ignore SA1019 sampling and roots are deprecated since 2026-07-28; the clients of older revisions still use them.

package demoserver

import (
	"context"
	"encoding/json"
	"fmt"

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
