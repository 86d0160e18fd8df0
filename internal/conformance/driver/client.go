package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// hubClient makes the hub the client of a scenario. The hub connects on first use.
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
	r, err := c.hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: peer, Tool: name,
		ArgumentsJson: string(arguments)})
	if err != nil {
		return fmt.Errorf("calling %q: %w", name, err)
	}
	return answered("calling", name, r.GetError())
}

func (c hubClient) ListResources(ctx context.Context) (uris []string, err error) {
	r, err := c.hub.Servers.ListResources(ctx, &mcphubv1.ListResourcesRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	for _, resource := range r.GetResources() {
		uris = append(uris, resource.GetUri())
	}
	return uris, nil
}

func (c hubClient) ReadResource(ctx context.Context, uri string) error {
	r, err := c.hub.Servers.ReadResource(ctx, &mcphubv1.ReadResourceRequest{Server: peer, Uri: uri})
	if err != nil {
		return fmt.Errorf("reading %q: %w", uri, err)
	}
	return answered("reading", uri, r.GetError())
}

func (c hubClient) ListPrompts(ctx context.Context) (names []string, err error) {
	r, err := c.hub.Servers.ListMcpPrompts(ctx, &mcphubv1.ListMcpPromptsRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	for _, p := range r.GetPrompts() {
		names = append(names, p.GetName())
	}
	return names, nil
}

func (c hubClient) GetPrompt(ctx context.Context, name string) error {
	r, err := c.hub.Servers.GetMcpPrompt(ctx, &mcphubv1.GetMcpPromptRequest{Server: peer, Name: name})
	if err != nil {
		return fmt.Errorf("getting %q: %w", name, err)
	}
	return answered("getting", name, r.GetError())
}

// answered returns an error of the server as a Go error.
func answered(doing, what string, e *mcphubv1.McpError) error {
	if e == nil {
		return nil
	}
	return fmt.Errorf("%s %q: the server answered %d: %s", doing, what, e.GetCode(), e.GetMessage())
}
