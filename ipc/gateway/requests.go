package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// callTool calls a tool by the name under which it is listed here.
func (g *Gateway) callTool(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	name, err := required(c.Params, "name")
	if err != nil {
		return nil, err
	}
	arguments, err := argumentsIn(c.Params)
	if err != nil {
		return nil, err
	}
	if mayBeOwn(name) && g.shelf.toolList(ctx).own[name] {
		return g.ownCall(ctx, c, name, arguments)
	}
	tool, err := g.shelf.tool(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := sameInHeaders(c, g.shelf.schema(name), arguments); err != nil {
		return nil, err
	}
	return g.callAt(ctx, c, tool, arguments, g.o.Approval == ApprovalClient)
}

// argumentsIn returns the arguments of a tool call, or nil if there are none: then the Go SDK's client sends null.
func argumentsIn(params json.RawMessage) (json.RawMessage, error) {
	arguments := jsontext.Get(params, "arguments")
	switch {
	case arguments == nil || jsontext.IsNull(arguments):
		return nil, nil
	case !jsontext.IsObject(arguments):
		return nil, invalid("arguments must be an object")
	}
	return arguments, nil
}

// callAt calls a tool of a server. preapproved means that the client has asked its user.
func (g *Gateway) callAt(ctx context.Context, c *mcpserver.Call, tool origin, arguments json.RawMessage,
	preapproved bool) (json.RawMessage, error) {
	r := g.request(c, tool.server)
	r.Tool, r.Arguments, r.Preapproved = tool.name, string(arguments), preapproved
	result, err := g.perform(ctx, g.hub.CallTool, r, g.toolError)
	if err != nil {
		return nil, err
	}
	return g.bounded(result), nil
}

// sameInHeaders refuses a call whose headers do not repeat the arguments that the tool wants there: proxies between the
// client and the gateway have used them for routing.
func sameInHeaders(c *mcpserver.Call, schema, arguments json.RawMessage) error {
	if c.HeaderParams == nil || schema == nil {
		return nil
	}
	want, _ := mcp.HeaderParams(schema, arguments) // a tool whose schema breaks the rules wants no headers
	for name, value := range want {
		if said, has := c.HeaderParams[name]; !has || said != value {
			return &jsonrpc.Error{Code: protocol.CodeHeaderMismatch,
				Message: "the header Mcp-Param-" + name + " does not repeat the argument"}
		}
	}
	return nil
}

func (g *Gateway) readResource(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	uri, err := required(c.Params, "uri")
	if err != nil {
		return nil, err
	}
	at, err := g.shelf.resource(ctx, uri)
	if err != nil {
		return nil, notFound(c, err)
	}
	r := g.request(c, at.server)
	r.URI = at.name
	result, err := g.perform(ctx, g.hub.ReadResource, r, nil)
	if err == nil && at.name != uri {
		result = readdressed(result, at.name, uri)
	}
	return result, err
}

func (g *Gateway) getPrompt(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	name, err := required(c.Params, "name")
	if err != nil {
		return nil, err
	}
	arguments, err := texts(c.Params, "arguments")
	if err != nil {
		return nil, err
	}
	prompt, err := g.shelf.prompt(ctx, name)
	if err != nil {
		return nil, err
	}
	r := g.request(c, prompt.server)
	r.McpPrompt, r.PromptArguments = prompt.name, arguments
	return g.perform(ctx, g.hub.GetMcpPrompt, r, nil)
}

// complete asks the server of a prompt or of a resource template for completion values.
func (g *Gateway) complete(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	ref, argument := jsontext.Get(c.Params, "ref"), jsontext.Get(c.Params, "argument")
	name, err := required(argument, "name")
	if err != nil {
		return nil, err
	}
	known, err := texts(jsontext.Get(c.Params, "context"), "arguments")
	if err != nil {
		return nil, err
	}
	o := hub.Completion{Argument: name, Value: jsontext.String(jsontext.Get(argument, "value")), Context: known,
		Meta: metaOf(c), Further: mcp.FurtherParams(c.Method, c.Params)}
	var at origin
	switch kind := jsontext.String(jsontext.Get(ref, "type")); kind {
	case "ref/prompt":
		if at, err = g.shelf.prompt(ctx, jsontext.String(jsontext.Get(ref, "name"))); err == nil {
			o.McpPrompt = at.name
		}
	case "ref/resource":
		if at, err = g.shelf.template(ctx, jsontext.String(jsontext.Get(ref, "uri"))); err == nil {
			o.URITemplate = at.name
		}
	default:
		err = invalid("ref.type must be ref/prompt or ref/resource")
	}
	if err != nil {
		return nil, err
	}
	o.Server = at.server
	inner, stop := g.carrying(ctx)
	defer stop()
	return g.answer(ctx, nil)(g.hub.Complete(inner, o))
}

// request returns the part of a hub request that all requests of a client have in common.
func (g *Gateway) request(c *mcpserver.Call, server string) hub.CallRequest {
	return hub.CallRequest{Server: server, Meta: metaOf(c), Further: string(mcp.FurtherParams(c.Method, c.Params)),
		Caller: g.callerOf(c), CallerName: clientName(c.Client), Questions: Questions[g.o.Questions], LogLevel: c.LogLevel()}
}

// metaOf returns the metadata of a client that is passed on, "" if there is none.
func metaOf(c *mcpserver.Call) string {
	if foreign := foreignMeta(c.Meta); len(foreign) > len("{}") {
		return string(foreign)
	}
	return ""
}

func clientName(c mcpserver.Client) string {
	if name := c.Name(); name != "" {
		return name
	}
	return "unnamed MCP client"
}

// perform carries out a request of a client in the hub. trouble makes a result of an error of the hub; if it is nil,
// the client gets an error of the protocol.
func (g *Gateway) perform(ctx context.Context, do func(context.Context, hub.CallRequest) (*hub.CallResult, error),
	r hub.CallRequest, trouble func(*event.Error) json.RawMessage) (json.RawMessage, error) {
	inner, stop := g.carrying(ctx)
	defer stop()
	c := r.Caller.(*caller)
	if c.call.LogLevel() != "" {
		stop := g.hearsLogs(c.call, r.Server)
		defer stop()
	}
	result, err := do(inner, r)
	if err != nil {
		c.leave()
	}
	return g.answer(ctx, trouble)(result, err)
}

// answer returns a function that converts the outcome of a request in the hub to the client's answer.
func (g *Gateway) answer(ctx context.Context, trouble func(*event.Error) json.RawMessage) func(*hub.CallResult,
	error) (json.RawMessage, error) {
	return func(result *hub.CallResult, err error) (json.RawMessage, error) {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx) // the client no longer waits for an answer
		case err != nil && trouble != nil:
			return trouble(event.AsError(err)), nil
		case err != nil:
			return nil, g.protocolError(event.AsError(err))
		case result.Error != nil:
			return nil, &jsonrpc.Error{Code: result.Error.Code, Message: result.Error.Message,
				Data: json.RawMessage(result.Error.Data)}
		}
		return result.Result, nil
	}
}

// carrying returns the context in which the hub carries out a request. It ends when ctx ends, with a cause in the hub's
// words. The caller must call stop.
func (g *Gateway) carrying(ctx context.Context) (inner context.Context, stop func()) {
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { end(g.causeOf(context.Cause(ctx))) })
	return inner, func() {
		unhook()
		end(nil)
	}
}

// causeOf returns the cause with which the request of a client ends. A client's reason is sent to the server unchanged.
// If a client gives none, Options.CancelReason is used.
func (g *Gateway) causeOf(cause error) error {
	withdrawn, ended := (*jsonrpc.WithdrawnError)(nil), (*mcpserver.SessionEndedError)(nil)
	switch {
	case errors.As(cause, &withdrawn):
		return &event.CancelCause{Origin: event.OriginHost, Reason: cmp.Or(bounds.Reason(withdrawn.Reason), g.o.CancelReason)}
	case errors.Is(cause, ErrClosed):
		return &event.CancelCause{Origin: event.OriginShutdown, Reason: ErrClosed.Error()}
	case errors.Is(cause, mcpserver.ErrNoRetry):
		return &event.CancelCause{Origin: event.OriginTimeout, Reason: mcpserver.ErrNoRetry.Error()}
	case errors.Is(cause, mcpserver.ErrGaveWay):
		return &event.CancelCause{Origin: event.OriginPolicy, Reason: mcpserver.ErrGaveWay.Error()}
	case errors.Is(cause, mcpserver.ErrNotParked):
		return &event.CancelCause{Origin: event.OriginPolicy,
			Reason: "the client could not be asked: too many calls wait for the answers to questions"}
	case errors.As(cause, &ended), errors.Is(cause, jsonrpc.ErrClosed):
		return &event.CancelCause{Origin: event.OriginHost, Reason: "the client is gone"}
	}
	return &event.CancelCause{Origin: event.OriginHost, Reason: "the client gave the request up"}
}
