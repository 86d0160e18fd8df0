package hub

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// grantKey returns the key of the grants for calls of r's tool on these terms.
func (r *request) grantKey(t core.Terms) grants.Key {
	return grants.CallKey(r.server.name, t.Launch, r.tool, t.Definition)
}

// terms returns the terms that r needs a consent to now. tool is nil if it is not known.
func (st *state) terms(r *request, tool *mcp.Tool) core.Terms {
	t := st.core.ToolTerms(r.server.number, r.tool)
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
	return errToolRefused(r.server.name, r.tool, r.id, answer.cause, answer.reason)
}

// approval makes the prompt. It returns nil, without an error, if r has to look anew.
func (st *state) approval(r *request, tool *mcp.Tool, question *event.ToolApproval) (*prompt, error) {
	terms := st.terms(r, tool)
	question.Tool = toolInfo(r.server, *tool)
	p := &prompt{agrees: &terms, info: event.PromptInfo{Kind: event.PromptToolApproval, Approval: question}}
	switch st.open(p, nil, core.Asked{Of: r.number, Server: r.server.number, Human: r.human, Approval: true,
		Terms: terms, Held: st.held(r, terms)}) {
	case 0:
		return p, nil
	case core.Unshowable:
		if terms.Policy == event.PolicyAllow {
			return nil, st.call(r).unseenChange(r.tool)
		}
		return nil, st.call(r).noApprover(r.tool)
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

// scopeRefused returns an error if w cannot give an answer with that scope.
func (st *state) scopeRefused(w *Window, p *prompt, a event.PromptAnswer) error {
	if a.Action != event.ActionAccept || a.Scope != event.ScopeWorkspace || p.agrees == nil && p.launch == nil ||
		len(w.roots) > 0 {
		return nil
	}
	return errFoldersMissing(w.id, &p.info)
}

// launchAgreed tells the core that a person has agreed to a launch, which is recorded already.
func (st *state) launchAgreed() {
	st.apply(core.AnswerPossible{})
	st.consentsChanged()
}

// agreed records a yes of w, for its scope, in memory; the call that asked writes it to files after the prompt has
// closed. A no is not recorded, since it ends one call only. agreed returns the other open prompts that the yes answers
// as well. w is attached.
func (st *state) agreed(w *Window, p *prompt, c closing) (others []*prompt) {
	if c.action != event.ActionAccept {
		return nil
	}
	if p.launch != nil {
		st.grants.Agree(p.launch.Grant, c.scope, w.id)
	}
	if p.agrees == nil {
		return nil
	}
	key := p.request.grantKey(*p.agrees)
	st.grants.Agree(grants.Grant{Key: key, Definition: p.info.Approval.Tool.Definition}, c.scope, w.id)
	if c.scope == event.ScopeOnce && p.agrees.Policy != event.PolicyAllow {
		return nil // for an allowed tool the question was about its definition, and the answer holds for every call
	}
	for _, other := range st.promptsInOrder() {
		if other != p && other.agrees != nil && *other.agrees == *p.agrees &&
			other.request.grantKey(*other.agrees) == key {
			others = append(others, other)
		}
	}
	return others
}

// covered closes the prompts that an answer of w to another prompt answers as well.
func (st *state) covered(w *Window, others []*prompt) {
	for _, p := range others {
		st.close(p, closing{cause: event.CauseAnswered, origin: event.OriginUser, windowID: w.id,
			action: event.ActionAccept,
			reason: "the answer to another call of this tool holds for this one"})
	}
}

// Remembered returns the answers that the user has given for longer than once, oldest first. If server is "", it
// returns those for all servers. It may read files.
func (h *Hub) Remembered(server string) []event.Remembered {
	h.grants.Refresh(grants.Call)
	h.refreshLaunches()
	h.update(func(st *state) { server = st.canonical(server) })
	list := append(h.grants.List(), h.inputs.remembered()...)
	list = slices.DeleteFunc(list, func(r event.Remembered) bool { return server != "" && r.Server != server })
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) < 0
	})
	return list
}

// Forget deletes answers by their ids, so that the user is asked again. Running calls go on. It returns how many
// answers it deleted. It may write files.
func (h *Hub) Forget(ids []string) int {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	h.grants.Refresh(grants.Call, grants.Launch)
	forgotten := 0
	h.update(func(st *state) {
		forgotten = h.grants.Forget(wanted)
		st.consentsChanged()
	})
	h.grants.Save()
	return forgotten + h.inputs.forget(wanted)
}
