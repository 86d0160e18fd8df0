//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

package demoserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errWithdrawn is the cause with which a tool cancels its own question.
var errWithdrawn = errors.New("the server withdrew its question")

// maxSendWait limits how long a tool waits until its cancel is written. It matters over Streamable HTTP, where nothing
// reports the write.
const maxSendWait = time.Second

type withdrawArgs struct {
	AfterMS int    `json:"after_ms,omitempty" jsonschema:"after how long to withdraw the question, in milliseconds"`
	Reason  string `json:"reason,omitempty" jsonschema:"the reason to give; what the SDK says by itself when left out"`
}

// addWithdrawals adds the tools that ask a question and then withdraw it. Only a legacy server can do that: from
// 2026-07-28 on, a server sends no requests that it could cancel (basic/patterns/cancellation).
func (d *demo) addWithdrawals() {
	bounds := map[string]bound{"after_ms": {0, 600000, 2000}}
	add(d, spec{
		name: "ask_then_withdraw", title: "Ask and withdraw",
		description: "Asks the user for a name and withdraws the question after a while.",
		bounds:      bounds,
	}, func(ctx context.Context, c *call, in withdrawArgs) (*mcp.CallToolResult, any, error) {
		return c.askAndWithdraw(ctx, in, func(ctx context.Context) (string, error) {
			res, err := c.req.Session.Elicit(ctx, nameForm())
			if err != nil {
				return "", err
			}
			return res.Action, nil
		})
	})
	add(d, spec{
		name: "sample_then_withdraw", title: "Sample and withdraw",
		description: "Asks the client's model for a summary and withdraws the request after a while.",
		bounds:      bounds,
	}, func(ctx context.Context, c *call, in withdrawArgs) (*mcp.CallToolResult, any, error) {
		return c.askAndWithdraw(ctx, in, func(ctx context.Context) (string, error) {
			res, err := c.req.Session.CreateMessage(ctx, summaryRequest("A question that nobody needs answered."))
			if err != nil {
				return "", err
			}
			return "completion by " + res.Model, nil
		})
	})
}

func (c *call) askAndWithdraw(ctx context.Context, in withdrawArgs,
	ask func(context.Context) (string, error)) (*mcp.CallToolResult, any, error) {
	if c.modern() {
		return nil, nil, errors.New("a server of revision 2026-07-28 sends no requests, so it has none to withdraw")
	}
	asking, w := withWithdrawal(ctx, in.Reason)
	asking, withdraw := context.WithCancelCause(asking)
	defer withdraw(nil)
	timer := time.AfterFunc(ms(in.AfterMS), func() { withdraw(errWithdrawn) })
	defer timer.Stop()

	answer, err := ask(asking)
	switch {
	case err == nil:
		return text("answered before it was withdrawn: %s", answer), nil, nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case !errors.Is(context.Cause(asking), errWithdrawn):
		return nil, nil, fmt.Errorf("the client gave no answer: %w", err)
	}
	// The SDK sends the cancel in the background. The answer of this call waits for it. Otherwise clients could see the
	// question end with its call, and not by the server's cancel.
	late := time.NewTimer(maxSendWait)
	defer late.Stop()
	select {
	case <-w.sent:
	case <-late.C:
	case <-ctx.Done():
	}
	c.journal.note(Event{Event: EventWithdrawn, Tool: c.tool, Reason: in.Reason})
	return text("withdrew its question after %d ms", in.AfterMS), nil, nil
}
