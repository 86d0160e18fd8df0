package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// caller is a client in the course of one of its requests: a hub.Caller.
type caller struct {
	server *mcpserver.Server
	call   *mcpserver.Call
	client string // the id of its session

	mu    sync.Mutex
	over  bool                                  // the request has ended otherwise than by the server's answer
	asked map[*context.CancelCauseFunc]struct{} // ends what a client of 2026-07-28 is asked
}

// errCallEnded is why a question that may be of several calls is taken back from the round of one of them.
var errCallEnded = &event.CancelCause{Origin: event.OriginHost, Reason: "the call has ended"}

// leave says that the request has ended, and not by an answer of the server: its client may never come back for a round
// that it has, and what it was asked there can be asked in the course of another call.
func (c *caller) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for end := range c.asked {
		(*end)(errCallEnded)
	}
}

// asking gives the context of a question, which ends with the request as well. stop must be called.
func (c *caller) asking(ctx context.Context) (own context.Context, stop func()) {
	own, end := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		end(errCallEnded)
	}
	if c.asked == nil {
		c.asked = map[*context.CancelCauseFunc]struct{}{}
	}
	c.asked[&end] = struct{}{}
	return own, func() {
		c.mu.Lock()
		delete(c.asked, &end)
		c.mu.Unlock()
		end(nil)
	}
}

// callerOf makes the caller of a request. All requests of one connection, or of one legacy session, are of one client.
// Calls of 2026-07-28 over HTTP have nothing in common that a stranger could not have too, so each is one for itself.
func (g *Gateway) callerOf(c *mcpserver.Call) *caller {
	return &caller{server: g.server, call: c, client: c.Session.ID()}
}

// Client names who is behind the request.
func (c *caller) Client() string { return c.client }

// Answers tells whether the client has declared the capability for a question of this kind. An elicitation capability
// that says nothing means forms (client/elicitation, 2025-11-25).
func (c *caller) Answers(kind event.PromptKind, withTools bool) bool {
	switch kind {
	case event.PromptSampling:
		declared := jsontext.Get(c.call.Client.Capabilities, "sampling")
		return jsontext.IsObject(declared) && (!withTools || jsontext.IsObject(jsontext.Get(declared, "tools")))
	case event.PromptElicitationForm, event.PromptElicitationURL:
		declared := jsontext.Get(c.call.Client.Capabilities, "elicitation")
		if !jsontext.IsObject(declared) {
			return false
		}
		form, url := jsontext.Get(declared, "form"), jsontext.Get(declared, "url")
		if kind == event.PromptElicitationURL {
			return jsontext.IsObject(url)
		}
		return form != nil || url == nil
	}
	return false
}

// Heard tells whether the client hears what is asked in the course of the request.
func (c *caller) Heard() bool { return c.call.Heard() }

// Progress passes progress of the server on; the engine puts the client's token in the place of the hub's.
func (c *caller) Progress(params json.RawMessage) { c.call.Progress(params) }

// Completed gives what tells the client that a page is done with that it was sent to.
func (c *caller) Completed() func(elicitationID string) {
	server, client := c.server, c.client
	return func(elicitationID string) {
		for _, s := range server.Sessions() {
			if s.ID() == client {
				s.ElicitationComplete(elicitationID)
			}
		}
	}
}

// Ask puts a question of the server to the client.
func (c *caller) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	if q.Waiting {
		return c.askFinished(ctx, q)
	}
	method := protocol.MethodElicitation
	if q.Kind == mcp.Sampling {
		method = protocol.MethodSampling
	}
	result, err := c.ask(ctx, q.InputKey, method, withoutOurs(q.Payload))
	refusal := (*jsonrpc.Error)(nil)
	switch {
	case errors.As(err, &refusal) && q.Kind == mcp.Sampling && refusal.Code == codeRejected:
		return mcp.Answer{Action: mcp.Decline}, nil
	case err != nil:
		return mcp.Answer{}, err
	case q.Kind == mcp.Sampling:
		return mcp.Answer{Action: mcp.Accept, Result: result}, nil
	}
	switch jsontext.String(jsontext.Get(result, "action")) {
	case "accept":
		return mcp.Answer{Action: mcp.Accept, Result: result}, nil
	case "decline":
		return mcp.Answer{Action: mcp.Decline, Result: result}, nil
	case "cancel":
		return mcp.Answer{Action: mcp.Dismiss, Result: result}, nil
	}
	return mcp.Answer{}, errNoAction
}

// codeRejected is how a client tells that its user has refused a sampling request (client/sampling, "Error Handling").
const codeRejected = -1

var errNoAction = errors.New("the client's answer to an elicitation has no action")

// askFinished asks whether somebody has done what he was sent to a page for. The client was shown the page already, and
// the server may say itself that it is done, which ends ctx: one that answers no forms just waits for that.
func (c *caller) askFinished(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	if !c.Answers(event.PromptElicitationForm, false) {
		<-ctx.Done()
		return mcp.Answer{}, context.Cause(ctx)
	}
	params := jsontext.AppendString([]byte(`{"message":`), "Have you finished what the page of "+q.URLHost+
		" was opened for? Accept to go on.")
	params = append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...)
	result, err := c.ask(ctx, "", protocol.MethodElicitation, params)
	switch {
	case err != nil:
		return mcp.Answer{}, err
	case jsontext.String(jsontext.Get(result, "action")) == "accept":
		return mcp.Answer{Action: mcp.Accept}, nil
	}
	return mcp.Answer{Action: mcp.Dismiss}, nil
}

func (c *caller) ask(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error) {
	own := ctx
	if c.call.Client.Modern { // what a legacy client is asked is a request of its own, which outlives the call's
		var stop func()
		own, stop = c.asking(ctx)
		defer stop()
	}
	result, err := c.call.AskAs(own, key, method, params)
	switch {
	case err == nil && !jsontext.IsObject(result):
		return nil, errors.New("the client's answer is no JSON object")
	case errors.Is(err, jsonrpc.ErrClosed), err != nil && c.call.Session.Err() != nil:
		// The request ends with its session, and that takes the question back: nobody has dismissed it.
		<-ctx.Done()
	case errors.Is(err, mcpserver.ErrUndeclared), errors.Is(err, mcpserver.ErrNotAskable),
		err != nil && ctx.Err() == nil && own.Err() != nil:
		return nil, hub.ErrNotAsked
	}
	return result, err
}

// Roots is what the client says its roots are; nil when it has not declared any.
func (c *caller) Roots(ctx context.Context, key string) (json.RawMessage, error) {
	if !c.call.Client.Declares(protocol.MethodRoots) {
		return nil, nil
	}
	result, err := c.ask(ctx, key, protocol.MethodRoots, nil)
	if errors.Is(err, hub.ErrNotAsked) {
		return nil, nil
	}
	return result, err
}

// withoutOurs takes out of a question's _meta what means something on the server's connection alone: its progress
// token, and the keys that MCP reserves, such as the server's task.
func withoutOurs(params json.RawMessage) json.RawMessage {
	meta := jsontext.Get(params, "_meta")
	if meta == nil {
		return params
	}
	foreign := foreignMeta(meta)
	if len(foreign) == len(meta) {
		return params
	}
	b := []byte{'{'}
	jsontext.Members(params, func(name []byte, value json.RawMessage) bool {
		if string(name) == "_meta" {
			value = foreign
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(jsontext.AppendString(b, string(name)), ':'), value...)
		return true
	})
	return append(b, '}')
}
