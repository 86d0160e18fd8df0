package hub

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
)

// What servers offer besides tools, as far as it is a request; offers.Offers has the rest.

const (
	methodReadResource = "resources/read"
	methodGetPrompt    = "prompts/get"
)

// ReadResource reads one resource, as a request like a tool call: it is listed, has clocks, can be cancelled, and may
// ask a person.
func (h *Hub) ReadResource(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginReading(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runReading(ctx, r, meta, &c)
}

func (h *Hub) beginReading(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	return h.accept(&outgoing{CallRequest: c, method: methodReadResource, subject: c.URI, ofWindow: ofWindow})
}

func (h *Hub) runReading(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	return h.carryThrough(ctx, r, meta, c,
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.URI
			return session.ReadResource(out.Tag.(*request).ctx, out)
		})
}

// GetMcpPrompt fills one prompt template, as a request like a tool call.
func (h *Hub) GetMcpPrompt(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginFilling(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runFilling(ctx, r, meta, &c)
}

func (h *Hub) beginFilling(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	c.Arguments = ""
	if len(c.PromptArguments) > 0 {
		given, err := json.Marshal(c.PromptArguments)
		if err != nil {
			return nil, nil, event.AsError(err) // cannot happen: strings marshal
		}
		c.Arguments = string(given)
	}
	return h.accept(&outgoing{CallRequest: c, method: methodGetPrompt, subject: c.McpPrompt, given: c.Arguments,
		ofWindow: ofWindow})
}

func (h *Hub) runFilling(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	return h.carryThrough(ctx, r, meta, c,
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.McpPrompt
			if out.Arguments = nil; c.Arguments != "" {
				out.Arguments = json.RawMessage(c.Arguments)
			}
			return session.GetPrompt(out.Tag.(*request).ctx, out)
		})
}

// Complete asks a server for values. Its answer, which may be an error, is in the result.
func (h *Hub) Complete(ctx context.Context, c offers.Completion) (*CallResult, error) {
	result, refusal, err := h.Offers.Complete(ctx, c)
	if err != nil {
		return nil, err
	}
	return &CallResult{Result: result, Error: refusal}, nil
}
