package demoserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport is the SDK's stdio transport, or its HTTP with SSE, with two additions. Reading ends with ctx, which
// cancels the running tools. The cancellation of the server's own question has the reason that the tool chose.
type transport struct {
	ctx  context.Context
	base mcp.Transport
}

// SupportsProtocolVersion implements [mcp.ProtocolVersionSupporter] with the answer of the base.
func (t *transport) SupportsProtocolVersion(version string) bool {
	base, ok := t.base.(mcp.ProtocolVersionSupporter)
	return !ok || base.SupportsProtocolVersion(version)
}

// Connect implements [mcp.Transport].
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.base.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Connection: c, ctx: t.ctx}, nil
}

type conn struct {
	mcp.Connection
	ctx context.Context
}

// Read reads with Run's context: the SDK passes one that never ends.
func (c *conn) Read(context.Context) (jsonrpc.Message, error) { return c.Connection.Read(c.ctx) }

// withdrawal is passed in the context of a question to the notification that withdraws the question.
type withdrawal struct {
	reason string // "" keeps the SDK's own text ("context canceled")
	once   sync.Once
	sent   chan struct{} // closed when the notification was written, or failed
}

type withdrawalKey struct{}

func withWithdrawal(ctx context.Context, reason string) (context.Context, *withdrawal) {
	w := &withdrawal{reason: reason, sent: make(chan struct{})}
	return context.WithValue(ctx, withdrawalKey{}, w), w
}

// Write puts the reason into notifications/cancelled. The SDK sends the notification with the values of the question's
// context.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || req.Method != "notifications/cancelled" {
		return c.Connection.Write(ctx, msg)
	}
	w, ok := ctx.Value(withdrawalKey{}).(*withdrawal)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	defer w.once.Do(func() { close(w.sent) })
	if w.reason != "" {
		var params map[string]json.RawMessage
		if err := json.Unmarshal(req.Params, &params); err != nil {
			return err
		}
		reason, err := json.Marshal(w.reason)
		if err != nil {
			return err
		}
		params["reason"] = reason
		changed := *req
		if changed.Params, err = json.Marshal(params); err != nil {
			return err
		}
		msg = &changed
	}
	return c.Connection.Write(ctx, msg)
}
