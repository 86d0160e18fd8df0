package hub

import (
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// workspace names the set of workspace folders of w; "" = it has none. h.mu is held.
func (w *Window) workspace() string {
	var uris []string
	for _, r := range w.listed {
		uris = append(uris, r.URI)
	}
	return workspaceOf(uris)
}

// workspaces are those of the windows, also of one that may come back. h.mu is held.
func (h *Hub) workspaces() map[string]bool {
	open := map[string]bool{}
	for _, w := range h.windows {
		if name := w.workspace(); !w.gone && name != "" {
			open[name] = true
		}
	}
	return open
}

// approved tells whether an earlier approval holds. h.mu is held.
func (h *Hub) approved(key approvalKey) bool {
	for _, w := range h.windows {
		if _, ok := w.approvals[key]; ok {
			return true
		}
	}
	_, ok := h.approvals.Get(approvalID{approvalKey: key})
	for folders := range h.workspaces() {
		if ok {
			break
		}
		_, ok = h.approvals.Get(approvalID{key, folders})
	}
	return ok
}

// mayBeApproved tells whether any approval of a tool holds, of whatever definition. h.mu is held.
func (h *Hub) mayBeApproved(s *server, tool string) bool {
	of := pinKey{s.name, s.confKey(), tool}
	for _, w := range h.windows {
		for k := range w.approvals {
			if k.pin() == of {
				return true
			}
		}
	}
	open := h.workspaces()
	for id := range h.approvals.All() {
		if id.pin() == of && (id.folders == "" || open[id.folders]) {
			return true
		}
	}
	return false
}

// scopeRefused says that w cannot give the scope of its answer. h.mu is held.
func (h *Hub) scopeRefused(w *Window, p *prompt, a event.PromptAnswer) error {
	if a.Action != event.ActionAccept || a.Scope != event.ScopeWorkspace || p.agrees == nil && p.launch == nil ||
		w.workspace() != "" {
		return nil
	}
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent,
		[]string{"prompt_id", p.id, "window_id", w.id},
		"window %q has no workspace folders, so nothing can be allowed for them; set its roots first or choose another scope; the prompt is still open", boundReason(w.id))
}

// agreed keeps a yes of w for its scope, in memory; the call that was asked for writes it to files once the prompt is
// closed. A no is kept nowhere: it ends one call. It gives the other open prompts that ask for the same and need no
// answer any more. w is attached. h.mu is held.
func (h *Hub) agreed(w *Window, p *prompt, c closing) (others []*prompt) {
	if c.action == event.ActionAccept && p.launch != nil {
		h.agree(w, *p.launch, c.scope)
	}
	if p.agrees == nil || c.action != event.ActionAccept {
		return nil
	}
	key := p.agrees.key
	pinned := pinOf(key, p.info.Approval.Tool.Definition)
	a := approval{Server: key.server, Launch: key.launch, Tool: key.tool, Hash: key.hash, Time: pinned.Time,
		Definition: pinned.Definition}
	// then it was asked for the definition, which counts for all
	covers := c.scope != event.ScopeOnce || p.agrees.policy == config.Allow
	if !h.pinned(key) {
		h.pins.Put(pinned)
	}
	switch c.scope {
	case event.ScopeWindow:
		if w.approvals == nil {
			w.approvals = map[approvalKey]approval{}
		}
		w.approvals[key] = a
	case event.ScopeAlways:
		a.Scope = "always"
		h.approvals.Put(a)
	case event.ScopeWorkspace:
		a.Scope, a.Folders = "workspace", foldersOf(w.workspace())
		h.approvals.Put(a)
	}
	if !covers {
		return nil
	}
	for _, other := range h.promptsInOrder() {
		if other != p && other.agrees != nil && *other.agrees == *p.agrees {
			others = append(others, other)
		}
	}
	return others
}

// covered lets the calls go on that the answer of w to another one holds for. h.mu is held.
func (h *Hub) covered(w *Window, others []*prompt) {
	for _, p := range others {
		h.closePrompt(p, closing{cause: event.CauseAnswered, origin: event.OriginUser, windowID: w.id,
			action: event.ActionAccept,
			reason: "the answer to another call of this tool holds for this one"})
	}
}
