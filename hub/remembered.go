package hub

import (
	"cmp"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// rememberedID names an answer for Forget: the same in every hub, and it tells nothing of what it stands for.
func rememberedID(kind string, parts ...string) string {
	return kind + "-" + sum(parts...)[:24]
}

func (id approvalID) remembered() string {
	return rememberedID("approval", id.server, id.launch, id.tool, id.hash, id.folders)
}

// rememberedBy is the id of an approval that holds for a window of this hub.
func (h *Hub) rememberedBy(w *Window, key approvalKey) string {
	return rememberedID("approval", key.server, key.launch, key.tool, key.hash, h.id, w.id)
}

// Remembered lists what the user has answered for longer than once, oldest first; server "" = all. It may read files.
func (h *Hub) Remembered(server string) []event.Remembered {
	h.approvals.Refresh()
	var list []event.Remembered
	for id, a := range h.approvals.All() {
		r := event.Remembered{ID: id.remembered(), Kind: event.RememberedApproval, Server: id.server, Tool: id.tool,
			Scope: event.ScopeAlways,
			Time:  a.Time, Hash: id.hash}
		if id.folders != "" {
			r.Scope, r.Folders = event.ScopeWorkspace, a.Folders
		}
		list = append(list, r)
	}
	h.update(func() {
		for _, w := range h.windows {
			for key, a := range w.approvals {
				list = append(list, event.Remembered{
					ID: h.rememberedBy(w, key), Kind: event.RememberedApproval, Server: key.server, Tool: key.tool,
					Scope:    event.ScopeWindow,
					WindowID: w.id, Time: a.Time, Hash: key.hash,
				})
			}
		}
	})
	list = append(append(list, h.rememberedLaunches()...), h.rememberedInputs()...)
	list = slices.DeleteFunc(list, func(r event.Remembered) bool { return server != "" && r.Server != server })
	slices.SortFunc(list, func(a, b event.Remembered) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Forget forgets answers by their ids, so that the user is asked again; a call that runs is not touched. It tells how
// many there were. It may write files.
func (h *Hub) Forget(ids []string) int {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	h.approvals.Refresh()
	forgotten := h.approvals.Drop(func(id approvalID, _ approval) bool { return wanted[id.remembered()] })
	h.update(func() {
		for _, w := range h.windows {
			for key := range w.approvals {
				if id := h.rememberedBy(w, key); wanted[id] {
					delete(w.approvals, key)
					forgotten++
				}
			}
		}
	})
	h.approvals.Save()
	return forgotten + h.forgetLaunches(wanted) + h.inputs.forget(wanted)
}
