package scenario

import (
	"context"
	"encoding/json"
)

// Client is a client that is connected to the suite's server, or connects on first use.
type Client interface {
	// ListTools returns the tools of all pages.
	ListTools(ctx context.Context) ([]Tool, error)
	// CallTool calls a tool with the JSON text of an object. An error that the server answers is an error here, too.
	CallTool(ctx context.Context, name string, arguments json.RawMessage) error
	// ListResources returns the URIs of the resources.
	ListResources(ctx context.Context) ([]string, error)
	ReadResource(ctx context.Context, uri string) error
	// ListPrompts returns the names of the prompts.
	ListPrompts(ctx context.Context) ([]string, error)
	GetPrompt(ctx context.Context, name string) error
}

// Tool is a tool as the server lists it.
type Tool struct {
	Name        string
	InputSchema json.RawMessage
}
