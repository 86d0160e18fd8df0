package hub

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// CallTool runs one tool to its end: policy, approval, connection, the call itself with its rounds. It runs in the caller's goroutine. The end of
// ctx cancels the request with origin host. Errors are *Error; what the server answered, errors included, is in the result.
func (h *Hub) CallTool(ctx context.Context, c CallRequest) (*CallResult, error) {
	return h.callTool(ctx, &c)
}

// callTool and what it calls hand pointers on: a call stays on its stack for as long as the tool works, and ten thousand may.
func (h *Hub) callTool(ctx context.Context, c *CallRequest) (*CallResult, error) {
	if c.Arguments != "" && !isObject(c.Arguments) {
		return nil, fail(CodeInvalidArgument, ReasonInvalidArguments, []string{"server", c.Server, "request_id", c.ID},
			"the arguments of tool %q are no JSON object; arguments_json must be the text of an object or empty", c.Tool)
	}
	var tool *mcp.Tool
	var ran *mcp.Session
	result, err := h.perform(ctx, &outgoing{
		id: c.ID, server: c.Server, meta: c.Meta, timeouts: c.Timeouts, taskLabel: c.TaskLabel, owner: c.OwnerWindowID, method: "tools/call", tool: c.Tool,
	}, func(r *request) (session *mcp.Session, err error) {
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

// prepare brings r to the point where it can be sent: allowed, approved, connected.
func (h *Hub) prepare(r *request, c *CallRequest) (*mcp.Session, *mcp.Tool, error) {
	if err := h.hidden(r); err != nil {
		return nil, nil, err
	}
	must, err := h.mustAsk(r, c)
	if err != nil {
		return nil, nil, err
	}
	tool, known, err := h.definition(r)
	if err != nil {
		return nil, nil, err
	}
	if must {
		if err := h.approve(r, c, tool); err != nil {
			return nil, nil, err
		}
	}
	for {
		session, err := h.acquire(r.ctx, r.server, r)
		if err != nil || known && !must {
			return session, tool, err
		}
		// What was approved may come from a list that is older than this connection, or may have changed while a person thought; so may the policy.
		now, current, err := h.definition(r)
		if err == nil {
			err = h.denied(r)
		}
		if err != nil {
			return nil, nil, err
		}
		same := !must || now.Hash == tool.Hash
		if current && same {
			return session, now, nil
		}
		if !same {
			if err := h.approve(r, c, now); err != nil {
				return nil, nil, err
			}
		}
		tool = now
	}
}

// denied is the error of a call that the config forbids, else nil.
func (h *Hub) denied(r *request) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.server.conf.Policy(r.tool) == config.Deny {
		return errDenied(r)
	}
	return nil
}

// errDenied: h.mu is held.
func errDenied(r *request) *Error {
	return fail(CodePermissionDenied, ReasonDeniedByPolicy, []string{"server", r.server.name, "request_id", r.id, "setting", "approvals"},
		"tool %q of server %q is denied by the config%s; change approvals there", r.tool, r.server.name, r.server.where())
}

// mustAsk applies the policy. true: a person has to be asked, unless an earlier approval holds.
func (h *Hub) mustAsk(r *request, c *CallRequest) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.server.conf.Policy(r.tool) {
	case config.Deny:
		return false, errDenied(r)
	case config.Allow:
		return false, nil
	}
	if c.Preapproved {
		return false, nil
	}
	if !h.canShow(PromptToolApproval, false) && !h.mayBeApproved(r.server, r.tool) {
		return true, errNoApprover(r)
	}
	return true, nil
}
