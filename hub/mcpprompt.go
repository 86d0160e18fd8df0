package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

const methodGetPrompt = "prompts/get"

// McpPromptInfo shows one prompt template of a server, which MCP calls a prompt. All of it is untrusted.
type McpPromptInfo struct {
	Server, Name, Title, Description string
	Arguments                        []McpPromptArgument
	Definition                       string // JSON text
}

// McpPromptArgument is one argument of a prompt template.
type McpPromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// Completion says what to complete: an argument of a prompt template, or a variable of a resource template.
type Completion struct {
	Server      string
	McpPrompt   string // or
	URITemplate string
	Argument    string
	Value       string            // so far
	Context     map[string]string // other arguments that are known
}

// McpPrompts lists the prompt templates of a server.
func (h *Hub) McpPrompts(ctx context.Context, server string) (list []McpPromptInfo, err error) {
	err = h.asking(ctx, server, "list its prompt templates", func(ctx context.Context, session *mcp.Session) error {
		prompts, err := session.ListPrompts(ctx)
		for _, p := range prompts {
			info := McpPromptInfo{Server: server, Name: p.Name, Title: p.Title, Description: p.Description,
				Definition: string(p.Raw)}
			for _, a := range p.Arguments {
				info.Arguments = append(info.Arguments, McpPromptArgument{Name: a.Name, Title: a.Title, Description: a.Description,
					Required: a.Required})
			}
			list = append(list, info)
		}
		return err
	})
	return list, err
}

// GetMcpPrompt fills one prompt template, as a request like a tool call.
func (h *Hub) GetMcpPrompt(ctx context.Context, c CallRequest) (*CallResult, error) {
	arguments, err := json.Marshal(c.PromptArguments)
	if err != nil {
		return nil, event.AsError(err) // cannot be: strings marshal
	}
	return h.perform(ctx, &outgoing{CallRequest: &c, method: methodGetPrompt, subject: c.McpPrompt},
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.McpPrompt
			if len(c.PromptArguments) > 0 {
				out.Arguments = arguments
			}
			return session.GetPrompt(out.Tag.(*request).ctx, out)
		})
}

// Complete asks a server for values. What it answers, an error included, is in the result.
func (h *Hub) Complete(ctx context.Context, c Completion) (result *CallResult, err error) {
	err = h.asking(ctx, c.Server, "complete an argument", func(ctx context.Context, session *mcp.Session) error {
		raw, err := session.Complete(ctx, mcp.CompletionRequest{
			Prompt: c.McpPrompt, ResourceURI: c.URITemplate, Argument: c.Argument, Value: c.Value, Context: c.Context,
		})
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
			result = &CallResult{Error: &event.McpError{Code: refusal.Code, Message: refusal.Message,
				Data: string(refusal.Data)}}
			return nil
		}
		result = &CallResult{Result: raw}
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}
