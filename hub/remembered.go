package hub

import (
	"cmp"
	"slices"
	"sort"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
)

// Remembered returns the answers that the user has given for longer than once, oldest first. If server is "", it
// returns those for all servers. It may read files.
func (h *Hub) Remembered(server string) []event.Remembered {
	h.grants.Refresh(grants.Call)
	h.refreshLaunches()
	h.update(func(st *state) { server = st.canonical(server) })
	list := append(h.grants.List(), h.inputs.Remembered()...)
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
	return forgotten + h.inputs.Forget(wanted)
}
