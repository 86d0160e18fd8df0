package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// hubClient is the hub as the client of a scenario. The hub connects on first use.
type hubClient struct{ hub *host.Client }

func (c hubClient) ListTools(ctx context.Context) ([]scenario.Tool, error) {
	r, err := c.hub.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	var tools []scenario.Tool
	for _, t := range r.GetTools() {
		var definition struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal([]byte(t.GetDefinitionJson()), &definition); err != nil {
			return nil, fmt.Errorf("the definition of %q: %w", t.GetName(), err)
		}
		tools = append(tools, scenario.Tool{Name: t.GetName(), InputSchema: definition.InputSchema})
	}
	return tools, nil
}

func (c hubClient) CallTool(ctx context.Context, name string, arguments json.RawMessage) error {
	r, err := c.hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: peer, Tool: name, ArgumentsJson: string(arguments)})
	if err != nil {
		return fmt.Errorf("calling %q: %w", name, err)
	}
	if e := r.GetError(); e != nil {
		return fmt.Errorf("calling %q: the server answered %d: %s", name, e.GetCode(), e.GetMessage())
	}
	return nil
}

var errNoContract = errors.New("the contract does not offer this yet")

func (c hubClient) ListResources(context.Context) ([]string, error) { return nil, errNoContract }
func (c hubClient) ReadResource(context.Context, string) error      { return errNoContract }
func (c hubClient) ListPrompts(context.Context) ([]string, error)   { return nil, errNoContract }
func (c hubClient) GetPrompt(context.Context, string) error         { return errNoContract }
