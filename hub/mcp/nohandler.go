package mcp

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// NoHandler is a Handler that dismisses every question, has no roots and ignores everything else. It is meant for
// embedding, in types that handle only some methods.
type NoHandler struct{}

// Ask dismisses the question.
func (NoHandler) Ask(context.Context, *Question) (Answer, error) { return Answer{Action: Dismiss}, nil }

// Roots returns an empty list.
func (NoHandler) Roots(context.Context, *CallRequest, string) (json.RawMessage, error) {
	return ListOfRoots(nil), nil
}

// Logged does nothing.
func (NoHandler) Logged(LogMessage) {}

// ToolsChanged does nothing.
func (NoHandler) ToolsChanged() {}

// PromptsChanged does nothing.
func (NoHandler) PromptsChanged() {}

// ResourcesChanged does nothing.
func (NoHandler) ResourcesChanged() {}

// ResourceUpdated does nothing.
func (NoHandler) ResourceUpdated(string) {}

// ElicitationCompleted does nothing.
func (NoHandler) ElicitationCompleted(string) {}

// Noticed does nothing.
func (NoHandler) Noticed(string) {}

// LateResponse does nothing.
func (NoHandler) LateResponse(jsonrpc.ID) {}
