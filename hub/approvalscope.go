package hub

import (
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// scopeRefused returns an error if w cannot give an answer with that scope.
func (st *state) scopeRefused(w *Window, p *prompt, a event.PromptAnswer) error {
	if a.Action != event.ActionAccept || a.Scope != event.ScopeWorkspace || p.agrees == nil && p.launch == nil ||
		len(w.in.Roots()) > 0 {
		return nil
	}
	return prompts.ErrFoldersMissing(w.ID(), &p.info)
}

// agreed records a yes of w, for its scope, in memory; the call that asked writes it to files after the prompt has
// closed. A no is not recorded, since it ends one call only. agreed returns the other open prompts that the yes answers
// as well. w is attached.
func (st *state) agreed(w *Window, p *prompt, c closing) (others []*prompt) {
	if c.action != event.ActionAccept {
		return nil
	}
	if p.launch != nil {
		st.grants.Agree(p.launch.Grant, c.scope, w.ID())
		st.apply(core.AnswerPossible{})
		st.consentsChanged()
	}
	if p.agrees == nil {
		return nil
	}
	key := p.request.grantKey(*p.agrees)
	st.grants.Agree(grants.Grant{Key: key, Definition: p.info.Approval.Tool.Definition}, c.scope, w.ID())
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
		st.close(p, closing{cause: event.CauseAnswered, origin: event.OriginUser, windowID: w.ID(),
			action: event.ActionAccept,
			reason: "the answer to another call of this tool holds for this one"})
	}
}
