package offers

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Completion says what to complete: an argument of a prompt template, or a variable of a resource template.
type Completion struct {
	Server      string
	McpPrompt   string // a prompt template; or
	URITemplate string
	Argument    string
	Value       string            // what has been typed so far
	Context     map[string]string // other arguments that are known
	Meta        string            // JSON text of an object, "" = none
	Further     json.RawMessage   // further members of the request's params, by mcp.FurtherParams; nil: none
}

// McpPrompts lists the prompt templates of a server.
func (o *Offers) McpPrompts(ctx context.Context, server string) ([]event.McpPromptInfo, error) {
	return listed(ctx, o, server, "list its prompt templates", (*mcp.Session).ListPrompts, promptInfo)
}

func promptInfo(server string, p mcp.Prompt) event.McpPromptInfo {
	info := event.McpPromptInfo{Server: server, Name: p.Name, Title: p.Title, Description: p.Description,
		Definition: string(p.Raw)}
	for _, a := range p.Arguments {
		info.Arguments = append(info.Arguments, event.McpPromptArgument{Name: a.Name, Title: a.Title,
			Description: a.Description, Required: a.Required})
	}
	return info
}

// Complete asks a server for values of an argument. It returns the JSON text of the result, or the server's JSON-RPC
// error as refusal.
func (o *Offers) Complete(ctx context.Context, c Completion) (result json.RawMessage, refusal *event.McpError,
	err error) {
	meta, err := mcp.CallersMeta(c.Meta, "")
	if err != nil {
		return nil, nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidArguments, nil, "meta_json %s", err.Error())
	}
	err = o.ask(ctx, c.Server, "complete an argument", func(ctx context.Context, session *mcp.Session) error {
		raw, err := session.Complete(ctx, mcp.CompletionRequest{
			Prompt: c.McpPrompt, ResourceURI: c.URITemplate, Argument: c.Argument, Value: c.Value, Context: c.Context,
			Meta: meta, Further: c.Further,
		})
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			refusal = &event.McpError{Code: e.Code, Message: e.Message, Data: string(e.Data)}
			return nil
		}
		result = raw
		return err
	})
	return result, refusal, err
}
