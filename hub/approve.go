package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// approvalKey is what an approval holds for: the definition that was shown (by its hash) of a tool of a server that is started just so.
type approvalKey struct{ server, launch, tool, hash string }

func keyOf(s *server, tool *mcp.Tool) approvalKey {
	return approvalKey{server: s.name, launch: s.conf.LaunchKey(), tool: tool.Name, hash: tool.Hash}
}

// approve asks for r unless an earlier approval holds. nil: go on.
func (h *Hub) approve(r *request, c *CallRequest, tool *mcp.Tool) error {
	h.mu.Lock()
	key := keyOf(r.server, tool)
	if h.approved(key) {
		h.mu.Unlock()
		return nil
	}
	if !h.canShow(PromptToolApproval, false) {
		defer h.mu.Unlock()
		return errNoApprover(r)
	}
	if !h.moveTo(r, StateAwaitingApproval) {
		h.mu.Unlock()
		return context.Cause(r.ctx)
	}
	arguments := c.Arguments
	if arguments == "" {
		arguments = "{}"
	}
	p := &prompt{request: r, humanLimit: r.clock.human, info: PromptInfo{Kind: PromptToolApproval, Approval: &ToolApproval{
		Tool: h.toolInfo(r.server, *tool), Arguments: arguments, Destructive: tool.Destructive, ReadOnly: tool.ReadOnly, DefinitionHash: tool.Hash,
	}}}
	h.openPrompt(p)
	h.mu.Unlock()

	answer := <-p.settled // every end of r, of the hub or of the prompt's deadline settles it
	if answer.cause == CauseSuperseded {
		h.mu.Lock()
		defer h.mu.Unlock()
		return errNoApprover(r)
	}
	meta := []string{"server", r.server.name, "request_id", r.id, "reason", answer.reason}
	switch {
	case answer.cause == CauseAnswered && answer.action == ActionAccept:
		return h.takeUp(r, key, answer)
	case answer.cause == CauseDeclined:
		text := ""
		if answer.reason != "" {
			text = ": " + answer.reason
		}
		return fail(CodePermissionDenied, ReasonDeniedByUser, meta, "the user denied tool %q of server %q%s", r.tool, r.server.name, text)
	case answer.cause == CauseDismissed:
		return fail(CodePermissionDenied, ReasonDismissedByUser, meta, "the user closed the question about tool %q of server %q without a choice; it was not called", r.tool, r.server.name)
	}
	<-r.ctx.Done() // the prompt ended because r did
	return context.Cause(r.ctx)
}

// approved tells whether an earlier approval holds. h.mu is held.
func (h *Hub) approved(key approvalKey) bool {
	for _, w := range h.windows {
		if _, ok := w.approvals[key]; ok {
			return true
		}
	}
	return h.always.has(key)
}

// mayBeApproved tells whether any approval of a tool is remembered, of whatever definition. h.mu is held.
func (h *Hub) mayBeApproved(s *server, tool string) bool {
	launch := s.conf.LaunchKey()
	same := func(k approvalKey) bool { return k.server == s.name && k.tool == tool && k.launch == launch }
	for _, w := range h.windows {
		for k := range w.approvals {
			if same(k) {
				return true
			}
		}
	}
	return h.always.any(same)
}

// takeUp lets r go on with the winner's yes, and keeps the yes for its scope.
func (h *Hub) takeUp(r *request, key approvalKey, answer closing) error {
	if answer.scope == ScopeAlways {
		h.always.add(key) // may write a file: without the lock
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.windows[answer.windowID]; answer.scope == ScopeWindow && w != nil && !w.gone {
		if w.approvals == nil {
			w.approvals = map[approvalKey]struct{}{}
		}
		w.approvals[key] = struct{}{}
	}
	if !h.moveTo(r, StateQueued) { // cancelled meanwhile
		return context.Cause(r.ctx)
	}
	return nil
}
