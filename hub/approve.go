package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// keyOf returns the key of the grants for calls of this definition of a tool. The hub's lock is held.
func keyOf(s *server, tool *mcp.Tool) grants.Key {
	return grants.CallKey(s.name, s.Key(), tool.Name, tool.Hash)
}

// agreement is the consent that lets a call go: this definition may be called under this policy. The zero value holds
// for no call.
type agreement struct {
	key    grants.Key
	policy config.Policy
	anew   bool // earlier approvals do not count
}

// approve obtains the consent to call tool on these terms: by pinning the first definition of an allowed tool, by an
// earlier approval, or from a person. It returns false, without an error, if something has changed meanwhile.
func (h *Hub) approve(r *request, c *CallRequest, tool *mcp.Tool, terms *agreement) (bool, error) {
	if terms.policy == config.Allow && h.grants.LetThroughFirst(terms.key, string(tool.Raw)) {
		return true, nil
	}
	question := &event.ToolApproval{Arguments: c.Arguments, Destructive: tool.Destructive, ReadOnly: tool.ReadOnly,
		DefinitionHash: tool.Hash}
	if question.Arguments == "" {
		question.Arguments = "{}"
	}
	if before, changed := h.grants.Before(terms.key); changed {
		// outside the lock: a definition may be large
		now := grants.Grant{Key: terms.key, Definition: string(tool.Raw)}
		question.Previous, question.Changes = before.Definition, now.Changes(before)
	}

	needless := false
	// without r's context: every end of r or of the hub, and the prompt's time limit, closes the prompt
	answer, err := h.ask(context.Background(), func(st *state) (p *prompt, err error) {
		p, needless, err = st.approval(r, tool, terms, question)
		return p, err
	}, func(_ *state, _ *prompt, answer closing) (closing, error) { return answer, nil })
	if answer.cause == 0 {
		return needless, err
	}
	if err = prompts.ErrRefused(r.server.name, r.tool, r.id, answer.cause, answer.reason); err != nil {
		return false, err
	}
	switch {
	case answer.cause == event.CauseAnswered && answer.action == event.ActionAccept:
		h.grants.Save() // writes the new grant; called without the lock, since it may write files
		if h.movedTo(r, event.StateQueued) {
			return true, nil
		}
	case answer.cause == event.CauseSuperseded: // the policy has changed, or no window is left; mayGo decides again
		if h.movedTo(r, event.StateQueued) {
			return false, nil
		}
	}
	<-r.ctx.Done() // the prompt ended because r did, or r was cancelled meanwhile
	return false, context.Cause(r.ctx)
}

// terms returns the agreement that r needs to call tool.
func (st *state) terms(r *request, tool *mcp.Tool) agreement {
	return agreement{key: keyOf(r.server, tool), policy: r.server.launch.Policy(r.tool),
		anew: r.server.launch.Widened(r.tool)}
}

// settled reports whether nobody has to be asked for t.
func (st *state) settled(t *agreement) bool {
	switch t.policy {
	case config.Allow:
		return st.grants.Holds(t.key.As(grants.Definition))
	case config.Ask:
		return !t.anew && st.grants.Holds(t.key)
	}
	return false
}

// approval makes the prompt. It returns true instead if nobody has to be asked, and false, without an error, if
// something has changed meanwhile.
func (st *state) approval(r *request, tool *mcp.Tool, terms *agreement,
	question *event.ToolApproval) (*prompt, bool, error) {
	switch {
	case st.terms(r, tool) != *terms:
		return nil, false, nil
	case st.settled(terms):
		return nil, true, nil
	}
	question.Tool = offers.ToolInfo(r.server.offered(), *tool)
	p := &prompt{agrees: terms, info: event.PromptInfo{Kind: event.PromptToolApproval, Approval: question}}
	switch st.open(p, nil, core.Asked{Of: r.number, Server: r.server.number, Human: r.human, Approval: true}) {
	case 0:
		return p, false, nil
	case core.Unshowable:
		if terms.policy == config.Allow {
			return nil, false, st.call(r).UnseenChange(r.tool)
		}
		return nil, false, st.call(r).NoApprover(r.tool)
	}
	return nil, false, context.Cause(r.ctx) // it was cancelled
}

// policyChanged closes the prompts about tools of s for which the config, or the consent to the launch, now sets
// another policy. Their calls check again.
func (st *state) policyChanged(s *server) {
	for _, p := range st.promptsInOrder() {
		if p.agrees == nil || p.request.server != s {
			continue
		}
		now, shows := s.launch.Policy(p.request.tool), s.Conf().Tools.Visible(p.request.tool)
		if shows && now == p.agrees.policy && s.launch.Widened(p.request.tool) == p.agrees.anew &&
			s.Key() == p.agrees.key.Launch {
			continue
		}
		says := string(now)
		if !shows {
			says = "hidden"
		}
		st.close(p, closing{cause: event.CauseSuperseded, origin: event.OriginPolicy,
			reason: "the config has changed; for this tool it says " + says})
	}
}
