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

// caller is the client of one request: a hub.Caller.
type caller struct {
	server *mcpserver.Server
	call   *mcpserver.Call

	mu    sync.Mutex
	over  bool                                  // leave was called
	asked map[*context.CancelCauseFunc]struct{} // cancels the open questions to a client of 2026-07-28
}

// errCallEnded is the cause with which a question is withdrawn from a call that has ended. Other calls may still ask
// it.
var errCallEnded = &event.CancelCause{Origin: event.OriginHost, Reason: "the call has ended"}

// leave is called when the request has ended without an answer of the server. It withdraws the request's questions: the
// client may never send its answers, and the questions can be asked in the course of another call.
func (c *caller) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for end := range c.asked {
		(*end)(errCallEnded)
	}
}

// asking returns a context for a question that also ends with the request. The caller must call stop.
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

// callerOf returns the caller of a request. All requests of one connection, or of one legacy session, come from one
// client. Calls of 2026-07-28 over HTTP have nothing in common that a stranger could not have as well, so each counts
// as a client of its own.
func (g *Gateway) callerOf(c *mcpserver.Call) *caller {
	return &caller{server: g.server, call: c}
}

// Client returns the id of the session, which no client can know of another one.
func (c *caller) Client() string { return c.call.Session.ID() }

// Answers returns the kinds of questions for which the client has declared the capability. An empty elicitation
// capability means forms (client/elicitation, 2025-11-25).
func (c *caller) Answers() (kinds event.Kinds) {
	declared := c.call.Client.Capabilities
	if sampling := jsontext.Get(declared, "sampling"); jsontext.IsObject(sampling) {
		kinds.Add(event.PromptSampling, jsontext.IsObject(jsontext.Get(sampling, "tools")))
	}
	if elicitation := jsontext.Get(declared, "elicitation"); jsontext.IsObject(elicitation) {
		form, url := jsontext.Get(elicitation, "form"), jsontext.Get(elicitation, "url")
		if form != nil || url == nil {
			kinds.Add(event.PromptElicitationForm, false)
		}
		if jsontext.IsObject(url) {
			kinds.Add(event.PromptElicitationURL, false)
		}
	}
	return kinds
}

// Heard reports whether the client receives what is sent in the course of the request.
func (c *caller) Heard() bool { return c.call.Heard() }

// Progress forwards progress of the server; the engine replaces the hub's token by the client's.
func (c *caller) Progress(params json.RawMessage) { c.call.Progress(params) }

// Completed returns a function that tells the client that a URL elicitation is complete.
func (c *caller) Completed() func(elicitationID string) {
	server, client := c.server, c.call.Session.ID()
	return func(elicitationID string) {
		for _, s := range server.Sessions() {
			if s.ID() == client {
				s.ElicitationComplete(elicitationID)
			}
		}
	}
}

// Ask asks the client a question of the server.
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

// codeRejected is the code of a client whose user has refused a sampling request (client/sampling, "Error Handling").
const codeRejected = -1

var errNoAction = errors.New("the client's answer to an elicitation has no action")

// askFinished asks whether the user has finished with the page of a URL elicitation, which the client has opened
// already. The server may announce that as well, which ends ctx. For a client that cannot answer forms, askFinished
// only waits for that.
func (c *caller) askFinished(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	if !c.Answers().Has(event.PromptElicitationForm, false) {
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
	if c.call.Client.Modern { // a question to a legacy client is a request of its own, which outlives the call's
		var stop func()
		own, stop = c.asking(ctx)
		defer stop()
	}
	result, err := c.call.AskAs(own, key, method, params)
	switch {
	case err == nil && !jsontext.IsObject(result):
		return nil, errors.New("the client's answer is no JSON object")
	case errors.Is(err, jsonrpc.ErrClosed), err != nil && c.call.Session.Err() != nil:
		// The request ends with its session, and that withdraws the question: the user has not dismissed it.
		<-ctx.Done()
	case errors.Is(err, mcpserver.ErrUndeclared), errors.Is(err, mcpserver.ErrNotAskable),
		err != nil && ctx.Err() == nil && own.Err() != nil:
		return nil, hub.ErrNotAsked
	}
	return result, err
}

// Roots returns the client's answer to roots/list, or nil if it has not declared roots.
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

// withoutOurs removes from a question's _meta the keys that have a meaning only on the server's connection: its
// progress token, and the keys that MCP reserves.
func withoutOurs(params json.RawMessage) json.RawMessage {
	meta := jsontext.Get(params, "_meta")
	if meta == nil {
		return params
	}
	foreign := foreignMeta(meta)
	if len(foreign) == len(meta) {
		return params
	}
	return spliced(params, member{"_meta", foreign})
}
