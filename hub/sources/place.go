package sources

import (
	"cmp"
	"sort"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/launch"
)

// placed is a server with its place in the config after the steps.
type placed struct {
	name, of string // of: the server that this one is beside, "" = none
	origin   config.Origin
}

// place sets the place of each step's server, and returns the places of all servers by name, from 1. The places are in
// config order: by source, then by line, with broken entries among the others. Entries of one line stay in the order in
// which they were read. A server that is beside another one of its name comes right after that one. place is called
// before the steps are carried out, so that windows hear of each server once, with its place.
func place(steps []Step, have []*launch.Launch, sources []Source, want []wanted) map[string]int {
	next := map[string]Step{}
	for _, a := range steps {
		if a.Have != nil {
			next[a.Have.Server().Name()] = a
		}
	}
	var all []placed
	for _, l := range have {
		s := l.Server()
		switch a, changes := next[s.Name()]; {
		case !changes: // of a file that cannot be read
			all = append(all, placed{s.Name(), l.Of(), s.Conf().Origin})
		case !a.Remove:
			all = append(all, placed{s.Name(), a.of(), a.Conf.Origin})
		}
	}
	for _, a := range steps {
		if a.Have == nil {
			all = append(all, placed{a.Conf.Name, a.of(), a.Conf.Origin})
		}
	}
	source, read := map[string]int{}, map[string]int{}
	for i, src := range sources {
		source[src.Path] = i
	}
	for i, w := range want {
		read[w.counts.Conf.Name] = i - len(want) // a broken entry has 0, and comes after them
	}
	sort.SliceStable(all, func(i, j int) bool {
		x, y := all[i].origin, all[j].origin
		return cmp.Or(cmp.Compare(source[x.File], source[y.File]), cmp.Compare(x.Line, y.Line),
			cmp.Compare(read[all[i].name], read[all[j].name])) < 0
	})
	at, there, beside := map[string]int{}, map[string]bool{}, map[string][]string{}
	for _, p := range all {
		there[p.name] = true
		beside[p.of] = append(beside[p.of], p.name)
	}
	for _, p := range all {
		if p.of != "" && there[p.of] {
			continue // p gets its place with p.of; if p.of is gone, p is of a file that cannot be read
		}
		at[p.name] = len(at) + 1
		for _, name := range beside[p.name] {
			at[name] = len(at) + 1
		}
	}
	for i := range steps {
		steps[i].Place = at[steps[i].Conf.Name]
	}
	return at
}
