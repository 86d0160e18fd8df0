package hub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// rememberedID names an answer for Forget: the same in every hub, and it tells nothing of what it stands for.
func rememberedID(kind string, parts ...string) string {
	return kind + "-" + hex.EncodeToString(digest(parts)[:12])
}

func digest(parts []string) []byte {
	d := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(d, "%d:%s", len(part), part) // with its length, so that no two lists look the same
	}
	return d.Sum(nil)
}

func (id approvalID) remembered() string {
	return rememberedID("approval", id.server, id.launch, id.tool, id.hash, id.folders)
}

// rememberedBy is the id of an approval that holds for a window of this hub.
func (h *Hub) rememberedBy(w *Window, key approvalKey) string {
	return rememberedID("approval", key.server, key.launch, key.tool, key.hash, h.id, w.id)
}

// Remembered lists what the user has answered for longer than once, oldest first; server "" = all. It may read files.
func (h *Hub) Remembered(server string) []Remembered {
	h.approvals.refresh()
	var list []Remembered
	for id, a := range h.approvals.all() {
		r := Remembered{ID: id.remembered(), Kind: RememberedApproval, Server: id.server, Tool: id.tool, Scope: ScopeAlways, Time: a.time, Hash: id.hash}
		if id.folders != "" {
			r.Scope, r.Folders = ScopeWorkspace, foldersOf(id.folders)
		}
		list = append(list, r)
	}
	h.mu.Lock()
	for _, w := range h.windows {
		for key, a := range w.approvals {
			list = append(list, Remembered{
				ID: h.rememberedBy(w, key), Kind: RememberedApproval, Server: key.server, Tool: key.tool, Scope: ScopeWindow, WindowID: w.id, Time: a.time, Hash: key.hash,
			})
		}
	}
	h.mu.Unlock()
	list = append(list, h.rememberedElsewhere()...)
	list = slices.DeleteFunc(list, func(r Remembered) bool { return server != "" && r.Server != server })
	slices.SortFunc(list, func(a, b Remembered) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Forget forgets answers by their ids, so that the user is asked again; a call that runs is not touched. It tells how many there were. It may write files.
func (h *Hub) Forget(ids []string) int {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	h.approvals.refresh()
	forgotten := h.approvals.drop(func(id approvalID, _ approval) bool { return wanted[id.remembered()] })
	h.mu.Lock()
	for _, w := range h.windows {
		for key := range w.approvals {
			if id := h.rememberedBy(w, key); wanted[id] {
				delete(w.approvals, key)
				forgotten++
			}
		}
	}
	h.mu.Unlock()
	h.approvals.save()
	for id := range wanted {
		if h.forgetElsewhere(id) {
			forgotten++
		}
	}
	return forgotten
}

// rememberedElsewhere gives what is remembered besides approvals: consents to launches, and values of inputs.
func (h *Hub) rememberedElsewhere() (list []Remembered) {
	return append(h.rememberedLaunches(), h.rememberedInputs()...)
}

// forgetElsewhere forgets one of those.
func (h *Hub) forgetElsewhere(id string) bool {
	return h.forgetLaunch(id) || h.forgetInput(id)
}
