package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// MaxRequestID bounds a request id that the host chooses, in bytes.
const MaxRequestID = 128

// CallTool runs one tool to its end: policy, approval, connection, the call itself with its rounds. It runs in the caller's goroutine. The end of
// ctx cancels the request with origin host. Errors are *Error; what the server answered, errors included, is in the result.
func (h *Hub) CallTool(ctx context.Context, c CallRequest) (*CallResult, error) {
	meta, err := checkCall(c)
	if err != nil {
		return nil, err
	}
	r, err := h.begin(c)
	if err != nil {
		return nil, err
	}
	unhook := context.AfterFunc(ctx, func() {
		reason := "the host cancelled the call"
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = "the host's deadline for the call passed"
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.cancel(r, &cancelCause{Origin: OriginHost, Reason: reason})
	})
	defer unhook()
	session, herr := h.prepare(r, c)
	if herr != nil {
		return h.conclude(r, nil, nil, herr)
	}
	result, callErr := h.execute(r, c, meta, session)
	if errors.Is(callErr, jsonrpc.ErrClosed) {
		callErr = lastWords(r.ctx, session, callErr)
	}
	return h.conclude(r, session, result, callErr)
}

// checkCall refuses what cannot be a call, before anything is known of it.
func checkCall(c CallRequest) (map[string]json.RawMessage, *Error) {
	if len(c.ID) > MaxRequestID {
		return nil, fail(CodeInvalidArgument, ReasonInvalidRequest, nil, "request_id is %d bytes long; at most %d are allowed", len(c.ID), MaxRequestID)
	}
	if c.Arguments != "" && !isObject(c.Arguments) {
		return nil, fail(CodeInvalidArgument, ReasonInvalidArguments, []string{"server", c.Server, "request_id", c.ID},
			"the arguments of tool %q are no JSON object; arguments_json must be the text of an object or empty", c.Tool)
	}
	if c.Meta == "" {
		return nil, nil
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Meta), &meta) != nil || meta == nil {
		return nil, fail(CodeInvalidArgument, ReasonInvalidArguments, nil, "meta_json is no JSON object")
	}
	for k := range meta {
		if k == "progressToken" || reservedMeta(k) {
			return nil, fail(CodeInvalidArgument, ReasonInvalidArguments, nil, "meta_json has the key %q, which the hub sets itself", boundReason(k))
		}
	}
	return meta, nil
}

// reservedMeta tells whether MCP reserves a _meta key for the protocol (2026-07-28 basic/index "_meta": the second label of the prefix
// is modelcontextprotocol or mcp).
func reservedMeta(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	labels := strings.Split(prefix, ".")
	return len(labels) > 1 && (labels[1] == "modelcontextprotocol" || labels[1] == "mcp")
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// begin registers the request.
func (h *Hub) begin(c CallRequest) (*request, *Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return nil, errDraining()
	}
	s := h.server(c.Server)
	if s == nil {
		return nil, errServerNotFound(c.Server)
	}
	if err := s.usable(); err != nil {
		return nil, err
	}
	id := c.ID
	if id == "" {
		id = h.mint("call")
	}
	if h.requests[id] != nil {
		return nil, fail(CodeAlreadyExists, ReasonRequestIDInUse, []string{"request_id", id}, "request id %q is in use; choose another or leave it empty", boundReason(id))
	}
	r := &request{id: id, tool: c.Tool, method: "tools/call", direction: Outgoing, taskLabel: c.TaskLabel, owner: c.OwnerWindowID, server: s}
	pick := func(call, conf *time.Duration, def time.Duration) time.Duration {
		switch {
		case call != nil:
			return *call
		case conf != nil:
			return *conf
		}
		return def
	}
	r.clock = clock{
		idle:  pick(c.Timeouts.Idle, s.conf.Timeouts.Idle, DefaultIdleTimeout),
		total: pick(c.Timeouts.Total, s.conf.Timeouts.Total, DefaultTotalTimeout),
		human: pick(c.Timeouts.Human, s.conf.Timeouts.Human, DefaultHumanTimeout),
	}
	h.register(context.Background(), r)
	if c.ID != "" { // nobody can have meant an id that did not exist
		if early := h.takeEarly(id, s.name); early != nil {
			h.cancel(r, early)
		}
	}
	return r, nil
}

// prepare brings r to the point where it can be sent: allowed, approved, connected.
func (h *Hub) prepare(r *request, c CallRequest) (*mcp.Session, error) {
	must, err := h.mustAsk(r, c)
	if err != nil {
		return nil, err
	}
	tool, known, err := h.definition(r)
	if err != nil {
		return nil, err
	}
	if must {
		if err := h.approve(r, c, tool); err != nil {
			return nil, err
		}
	}
	for {
		session, err := h.acquire(r.ctx, r.server, r)
		if err != nil || known && !must {
			return session, err
		}
		// What was approved may come from a list that is older than this connection, or may have changed while a person thought; so may the policy.
		now, current, err := h.definition(r)
		if err == nil {
			err = h.denied(r)
		}
		if err != nil {
			return nil, err
		}
		same := !must || now.Hash == tool.Hash
		if current && same {
			return session, nil
		}
		if !same {
			if err := h.approve(r, c, now); err != nil {
				return nil, err
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
func (h *Hub) mustAsk(r *request, c CallRequest) (bool, error) {
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

// execute runs the call on the session.
func (h *Hub) execute(r *request, c CallRequest, meta map[string]json.RawMessage, session *mcp.Session) (*mcp.CallResult, error) {
	h.mu.Lock()
	running := h.moveTo(r, StateRunning)
	h.mu.Unlock()
	if !running { // cancelled meanwhile
		return nil, context.Cause(r.ctx)
	}
	var arguments json.RawMessage // nil leaves them out
	if c.Arguments != "" {
		arguments = json.RawMessage(c.Arguments)
	}
	return session.CallTool(r.ctx, &mcp.CallRequest{
		Tag:       r,
		Name:      c.Tool,
		Arguments: arguments,
		Meta:      meta,
		OnWire: func(id jsonrpc.ID) {
			h.mu.Lock()
			r.wireID = id.String()
			h.mu.Unlock()
		},
		OnProgress: func(p mcp.Progress) { h.progressed(r, p) },
	})
}

// progressed is a sign of life of r.
func (h *Hub) progressed(r *request, p mcp.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.requests[r.id] != r || r.cancellation != nil {
		return
	}
	r.clock.sign = time.Now()
	r.progress = &Progress{Progress: p.Progress, Message: p.Message}
	if p.HasTotal {
		total := p.Total
		r.progress.Total = &total
	}
	h.emitProgress(r)
}

// conclude ends r with what came of it, and gives the caller the same. Exactly one of result and err is set.
func (h *Hub) conclude(r *request, session *mcp.Session, result *mcp.CallResult, err error) (*CallResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.end(r, ending{state: StateDone, isError: result.IsError})
		return &CallResult{RequestID: r.id, Result: result.Raw, IsError: result.IsError, Rounds: result.Rounds, Timings: r.timings}, nil
	}
	if r.cancellation != nil {
		e := ending{state: StateCancelled}
		if ce, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && ce.Sent {
			e.notified = true
			if c := r.server.conn; c != nil && c.session == session {
				c.noteCancelled(r)
			}
			// Legacy servers SHOULD stop but MAY ignore a cancel (basic/utilities/cancellation); 2026-07-28 forbids them to go on with it.
			e.mayContinue = session.Era() == mcp.Legacy
		}
		h.end(r, e)
		if r.cause.Err != nil {
			return nil, r.cause.Err
		}
		return nil, errCancelled(r)
	}
	_, own := errors.AsType[*Error](err) // trouble before the call, whatever a server's error lies beneath it
	if we, ok := errors.AsType[*jsonrpc.Error](err); ok && !own {
		me := &McpError{Code: we.Code, Message: we.Message, Data: string(we.Data)}
		h.end(r, ending{state: StateFailed, mcpError: me})
		return &CallResult{RequestID: r.id, Error: me, Rounds: 1, Timings: r.timings}, nil
	}
	he := callError(r, err)
	h.end(r, ending{state: StateFailed, err: he})
	return nil, he
}
