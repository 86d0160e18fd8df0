package launch

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Beside returns the entries of each scope separately if entries of one name come from several scopes. Each has its
// address (config.Address) as its name, which is that of a server beside the server of the plain name. Answers, tokens
// and lists are kept by name, so these servers share none of them. They start only when somebody needs them. taken
// reports whether another server has a name already. Beside may read files, so it is called without the lock.
func (m *Maker) Beside(conf config.Server, taken func(name string) bool) (all []Entries) {
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

// Of returns the name in the config if the launch has an address for its name, else "".
func (l *Launch) Of() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.Of
}

// TakeBeside sets the entries of each scope, as Beside returns them.
func (l *Launch) TakeBeside(all []Entries) { l.beside = all }

// AllBeside returns the entries that TakeBeside has set.
func (l *Launch) AllBeside() []Entries { return l.beside }

// Beside returns the entries that are servers of their own beside this one.
func (l *Launch) Beside() []Entries {
	if l.entry == nil {
		return nil
	}
	return Besides(l.entry, l.beside)
}

// All returns the entries of the name, and those of each scope.
func (l *Launch) All() Entries {
	all := slices.Clone(l.entries)
	for _, entries := range l.beside {
		all = append(all, entries...)
	}
	return all
}
