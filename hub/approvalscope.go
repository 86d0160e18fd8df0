package hub

import (
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// scopeRefused says that w cannot give the scope of its answer.
func (st *state) scopeRefused(w *Window, p *prompt, a event.PromptAnswer) error {
	if a.Action != event.ActionAccept || a.Scope != event.ScopeWorkspace || p.agrees == nil && p.launch == nil ||
		len(w.in.Roots()) > 0 {
		return nil
	}
	return prompts.ErrFoldersMissing(w.ID(), &p.info)
}

// agreed keeps a yes of w for its scope, in memory; the call that was asked for writes it to files once the prompt is
// closed. A no is kept nowhere: it ends one call. It gives the other open prompts that ask for the same and need no
// answer any more. w is attached.
func (st *state) agreed(w *Window, p *prompt, c closing) (others []*prompt) {
	if c.action != event.ActionAccept {
		return nil
	}
	if p.launch != nil {
		st.grants.Agree(p.launch.Grant, c.scope, w.ID())
		st.table.Company()
		st.consentsChanged()
	}
	if p.agrees == nil {
		return nil
	}
	st.grants.Agree(grants.Grant{Key: p.agrees.key, Definition: p.info.Approval.Tool.Definition}, c.scope, w.ID())
	if c.scope == event.ScopeOnce && p.agrees.policy != config.Allow {
		return nil // of a tool that is allowed it was asked for the definition, which counts for all
	}
	for _, other := range st.promptsInOrder() {
		if other != p && other.agrees != nil && *other.agrees == *p.agrees {
			others = append(others, other)
		}
	}
	return others
}

// covered lets the calls go on that the answer of w to another one holds for.
func (st *state) covered(w *Window, others []*prompt) {
	for _, p := range others {
		st.closePrompt(p, closing{cause: event.CauseAnswered, origin: event.OriginUser, windowID: w.ID(),
			action: event.ActionAccept,
			reason: "the answer to another call of this tool holds for this one"})
	}
}
