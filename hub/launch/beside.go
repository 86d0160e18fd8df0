package launch

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Beside gives the entries of each scope apart, where those of one name are of several scopes: each under its address
// (config.Address), which is the name of a server beside the one that has the name by itself. Answers, tokens and lists
// are kept by names, so none of the one is of the other. They start when somebody wants just them. taken says which
// names are others' already. It may read files, so it is called without the lock.
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

// Besides picks those of all scopes (Beside) that are apart from the entry that counts.
func Besides(counts *Entry, all []Entries) (list []Entries) {
	for _, entries := range all {
		if entries[0].Conf.Origin.Holder() != counts.Conf.Origin.Holder() {
			list = append(list, entries)
		}
	}
	return list
}

// Of is the name in the config, which another entry has by itself; "" where this is the one.
func (l *Launch) Of() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.Of
}

// TakeBeside takes up the entries of each scope, as Beside gives them.
func (l *Launch) TakeBeside(all []Entries) { l.beside = all }

// AllBeside are those that TakeBeside has taken.
func (l *Launch) AllBeside() []Entries { return l.beside }

// Beside are the entries that are servers of their own beside this one.
func (l *Launch) Beside() []Entries {
	if l.entry == nil {
		return nil
	}
	return Besides(l.entry, l.beside)
}

// All are the entries of the name, and those of each scope.
func (l *Launch) All() Entries {
	all := slices.Clone(l.entries)
	for _, entries := range l.beside {
		all = append(all, entries...)
	}
	return all
}
