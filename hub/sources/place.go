package sources

import (
	"cmp"
	"sort"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/launch"
)

// placed is a server as it will stand in the config.
type placed struct {
	name, of string // of: the server that it is beside, "" = none
	origin   config.Origin
}

// place tells each step where its server will stand, and all of them by name, from 1: in config order, which is by
// source, then by line, broken entries among the sound ones; on one line as they were read. What is beside a server of
// its name comes right after that. It comes before the steps, so that each server is told of once, with its place.
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
		read[w.counts.Conf.Name] = i - len(want) // a broken entry has 0: after them
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
			continue // one that is beside none any more is of a file that cannot be read
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
