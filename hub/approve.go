package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// grantKey returns the key of the grants for calls of r's tool on these terms.
func (r *request) grantKey(t core.Terms) grants.Key {
	return grants.CallKey(r.server.name, t.Launch, r.tool, t.Definition)
}

// terms returns the terms that r needs a consent to now. tool is nil if it is not known.
func (st *state) terms(r *request, tool *mcp.Tool) core.Terms {
	s := r.server
	t := core.Terms{Launch: s.Key(), Policy: offers.PolicyOf(s.launch.Policy(r.tool)), Anew: s.launch.Widened(r.tool),
		Hidden: !s.Conf().Tools.Visible(r.tool)}
	if tool != nil {
		t.Definition = tool.Hash
	}
	return t
}

// held reports whether a consent to t is recorded.
func (st *state) held(r *request, t core.Terms) bool {
	key := r.grantKey(t)
	if t.Policy == event.PolicyAllow {
		key = key.As(grants.Definition)
	}
	return st.grants.Holds(key)
}

// approve asks people for the consent to call p.tool on p.terms, unless something has changed meanwhile.
func (h *Hub) approve(r *request, p *passage) error {
	tool, key := p.tool, r.grantKey(p.terms)
	question := &event.ToolApproval{Arguments: p.call.Arguments, Destructive: tool.Destructive, ReadOnly: tool.ReadOnly,
		DefinitionHash: tool.Hash}
	if question.Arguments == "" {
		question.Arguments = "{}"
	}
	if before, changed := h.grants.Before(key); changed {
		// outside the lock: a definition may be large
		now := grants.Grant{Key: key, Definition: string(tool.Raw)}
		question.Previous, question.Changes = before.Definition, now.Changes(before)
	}
	// without r's context: every end of r or of the hub, and the prompt's time limit, closes the prompt
	answer, err := h.ask(context.Background(), func(st *state) (*prompt, error) {
		return st.approval(r, tool, question)
	}, func(_ *state, _ *prompt, answer closing) (closing, error) { return answer, nil })
	if err != nil {
		return err
	}
	if answer.cause == event.CauseAnswered {
		h.grants.Save() // writes the new grant; called without the lock, since it may write files
	}
	return prompts.ErrRefused(r.server.name, r.tool, r.id, answer.cause, answer.reason)
}

// approval makes the prompt. It returns nil, without an error, if r has to look anew.
func (st *state) approval(r *request, tool *mcp.Tool, question *event.ToolApproval) (*prompt, error) {
	terms := st.terms(r, tool)
	question.Tool = offers.ToolInfo(r.server.offered(), *tool)
	p := &prompt{agrees: &terms, info: event.PromptInfo{Kind: event.PromptToolApproval, Approval: question}}
	switch st.open(p, nil, core.Asked{Of: r.number, Server: r.server.number, Human: r.human, Approval: true,
		Terms: terms, Held: st.held(r, terms)}) {
	case 0:
		return p, nil
	case core.Unshowable:
		if terms.Policy == event.PolicyAllow {
			return nil, st.call(r).UnseenChange(r.tool)
		}
		return nil, st.call(r).NoApprover(r.tool)
	}
	return nil, nil
}

// policyChanged tells the core on which terms the calls of tools of s need a consent now about which people are asked.
func (st *state) policyChanged(s *server) {
	for _, p := range st.promptsInOrder() {
		if r := p.request; p.agrees != nil && r.server == s {
			st.apply(core.TermsSeen{Prompt: p.number, Terms: st.terms(r, nil)})
		}
	}
}
