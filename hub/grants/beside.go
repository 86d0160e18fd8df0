package grants

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Beside returns the entries of each scope separately if entries of one name come from several scopes. Each has its
// address (config.Address) as its name, which is that of a server beside the server of the plain name. Answers, tokens
// and lists are kept by name, so these servers share none of them. They start only when somebody needs them. taken
// reports whether another server has a name already. Beside may read files, so it is called without the lock.
func (m *Resolver) Beside(conf config.Server, taken func(name string) bool) (all []Entries) {
	same := append([]config.Server{conf}, conf.Behind...)
	var scopes []string
	for _, c := range same {
		if scope := c.Origin.Holder(); !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) < 2 {
		return nil
	}
	slices.Sort(scopes)
	for _, scope := range scopes {
		address := config.Address(conf.Name, scope)
		if taken(address) {
			continue
		}
		var entries Entries
		for _, c := range same {
			if c.Origin.Holder() != scope {
				continue
			}
			c.Name, c.Start, c.Behind = address, config.StartLazy, nil
			e := m.entry(c)
			e.Of = conf.Name
			entries = append(entries, e)
		}
		all = append(all, entries)
	}
	return all
}

// Besides returns the elements of all (see Beside) whose scope is not that of counts.
func Besides(counts *Entry, all []Entries) (list []Entries) {
	for _, entries := range all {
		if entries[0].Conf.Origin.Holder() != counts.Conf.Origin.Holder() {
			list = append(list, entries)
		}
	}
	return list
}
