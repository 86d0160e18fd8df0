package hub

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// CallTool runs one tool to its end: policy, approval, connection, the call itself with its rounds. It runs in the
// caller's goroutine. The end of ctx cancels the request with origin host. Errors are *event.Error; what the server
// answered, errors included, is in the result.
func (h *Hub) CallTool(ctx context.Context, c CallRequest) (*CallResult, error) {
	r, meta, err := h.beginTool(&c, false)
	if err != nil {
		return nil, err
	}
	return h.runTool(ctx, r, meta, &c)
}

// beginTool makes a call a request, which runTool then carries through.
func (h *Hub) beginTool(c *CallRequest, ofWindow bool) (*request, map[string]json.RawMessage, error) {
	if c.Arguments != "" && !isObject(c.Arguments) {
		return nil, nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidArguments,
			[]string{"server", c.Server, "request_id", c.ID},
			"the arguments of tool %q are no JSON object; arguments_json must be the text of an object or empty", c.Tool)
	}
	return h.accept(&outgoing{
		id: c.ID, server: c.Server, meta: c.Meta, timeouts: c.Timeouts, taskLabel: c.TaskLabel, owner: c.OwnerWindowID,
		method: "tools/call", tool: c.Tool, trace: &c.Trace,
		ofWindow: ofWindow,
	})
}

// runTool and what it calls hand pointers on: a call stays on its stack for as long as the tool works, and ten thousand
// may.
func (h *Hub) runTool(ctx context.Context, r *request, meta map[string]json.RawMessage,
	c *CallRequest) (*CallResult, error) {
	var tool *mcp.Tool
	var ran *mcp.Session
	result, err := h.carryThrough(ctx, r, meta, func(r *request) (session *mcp.Session, err error) {
		session, tool, err = h.prepare(r, c)
		return session, err
	}, func(session *mcp.Session, out *mcp.CallRequest) (*mcp.CallResult, error) {
		ran = session
		out.Name = c.Tool
		if c.Arguments != "" { // nil leaves them out
			out.Arguments = json.RawMessage(c.Arguments)
		}
		out.TaskSupport = tool.TaskSupport
		if c.PreferTask {
			out.Task = mcp.TaskPrefer
		}
		return session.CallTool(out.Tag.(*request).ctx, out)
	})
	if err == nil && result.Error == nil && tool.OutputSchema != nil {
		result.OutputViolations = ran.CheckOutput(tool.OutputSchema, result.Result)
	}
	return result, err
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// A server may say that its tools have changed at any moment, also while it lists them. After so many looks the list in
// hand counts, if it is of the connection that the call goes to; and no call looks more often than maxLooks.
const (
	enoughLooks = 2
	maxLooks    = 16
)

// errUnsettled is for a call whose tool is never the same for long enough to be called.
func errUnsettled(r *request) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerFailed,
		[]string{"server", r.server.name, "request_id", r.id},
		"tool %q of server %q was not called: it was looked at %d times, and each time its definition or what the config says of it had changed; call it again later",
		r.tool, r.server.name, maxLooks)
}

// prepare brings r to the point where it can be sent: allowed, approved, connected.
func (h *Hub) prepare(r *request, c *CallRequest) (*mcp.Session, *mcp.Tool, error) {
	if err := h.hidden(r); err != nil {
		return nil, nil, err
	}
	if err := h.consentFirst(r); err != nil {
		return nil, nil, err
	}
	h.recallAnswers()
	var agreed agreement
	for look := 1; ; look++ {
		if look > maxLooks {
			return nil, nil, errUnsettled(r)
		}
		if err := h.admit(r, c); err != nil {
			return nil, nil, err
		}
		tool, listed, err := h.definition(r)
		if err != nil {
			return nil, nil, err
		}
		ok, err := h.approve(r, c, tool, &agreed)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		session, err := h.acquire(r.ctx, r.server, r)
		if err != nil {
			return nil, nil, err
		}
		// What was agreed to may come from a list that is older than this connection, or may have changed while a person
		// thought; so may the policy.
		if now := h.settled(r, c, session, tool, &agreed, look >= enoughLooks && listed == session); now != nil {
			return session, now, nil
		}
	}
}

// errDenied: h.mu is held.
func errDenied(r *request) *event.Error {
	return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByPolicy,
		[]string{"server", r.server.name, "request_id", r.id,
			"setting", "approvals"},
		"tool %q of server %q is denied by the config%s; change approvals there", r.tool, r.server.name, r.server.where())
}

// admit refuses a call of which it is known before its server is asked for anything that it cannot be: it is denied, or
// would need somebody to ask.
func (h *Hub) admit(r *request, c *CallRequest) error {
	var policy config.Policy
	var nobody bool
	h.update(func() { policy, nobody = h.policy(r.server, r.tool), !h.canShow(event.PromptToolApproval, false) })
	if policy != config.Deny && (policy != config.Ask || c.Preapproved || !nobody) {
		return nil
	}
	if policy == config.Ask {
		h.approvals.Refresh()
	}
	defer h.lock().unlock()
	switch {
	case policy == config.Deny:
		return errDenied(r)
	case h.mayBeApproved(r.server, r.tool):
		return nil
	}
	return errNoApprover(r)
}
