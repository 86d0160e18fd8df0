package hub

import (
	"cmp"
	"slices"
	"sort"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// configStep is what happens to one server when the config changes. Have is nil for a new server.
type configStep struct {
	have     *server
	conf     config.Server
	entry    *grants.Entry // the entry that Conf is of; nil for a broken one
	entries  grants.Entries
	beside   []grants.Entries // those of each scope: see grants.Resolver.Beside
	problems []event.ConfigProblem
	broken   bool // the entry cannot be used
	remove   bool
	relaunch bool   // the launch changed: a running server has to be stopped
	place    int    // among all servers: see place
	why      string // reason of the relaunch; "": the config changed
}

// of returns the name of the server that this one is beside, "" if there is none.
func (s configStep) of() string {
	if s.entry == nil {
		return ""
	}
	return s.entry.Of
}

// wantedEntry are the entries of one name, and the one that counts.
type wantedEntry struct {
	counts  *grants.Entry
	entries grants.Entries
	beside  []grants.Entries // of each scope
}

// reconcile compares the entries of the config with the existing servers, and returns the steps that bring the servers
// in line. It changes nothing itself. A file in the middle of an edit must not end a server that works. So a file that
// cannot be read as a whole removes none of the servers that it brought before, even if another file has a server of
// the same name. And an entry that cannot be used leaves its server as it was while that runs.
func reconcile(want []wantedEntry, problems []event.ConfigProblem, have []*server) []configStep {
	by := map[string]*server{}
	for _, l := range have {
		by[l.name] = l
	}
	of := map[string][]event.ConfigProblem{}
	var brokenOnly []string
	isWanted := map[string]bool{}
	unread := map[string]bool{}
	for _, p := range problems {
		if p.Server == "" && p.Fatal {
			unread[p.File] = true
		}
	}
	for _, w := range want {
		isWanted[w.counts.Conf.Name] = true
		for _, e := range w.entries {
			unread[e.Conf.Origin.File] = false
		}
	}
	for _, p := range problems {
		if p.Server == "" {
			continue
		}
		of[p.Server] = append(of[p.Server], p)
		if !isWanted[p.Server] && p.Fatal && !slices.Contains(brokenOnly, p.Server) {
			brokenOnly = append(brokenOnly, p.Server)
		}
	}
	var steps []configStep
	kept := map[string]bool{} // servers that stay as they are, with those beside them
	for _, w := range want {  // want has the entries beside another one after it
		c := w.counts.Conf
		if kept[w.counts.Of] {
			continue
		}
		l := by[c.Name]
		sound := l != nil && !l.broken()
		if sound && unread[l.conf.Origin.File] {
			kept[c.Name] = true
			continue
		}
		steps = append(steps, configStep{have: l, conf: c, entry: w.counts, entries: w.entries, beside: w.beside,
			problems: problemsOf(w.counts, of), relaunch: sound && l.launchKey() != w.counts.Key})
		delete(by, c.Name)
	}
	for _, name := range brokenOnly {
		p, l := of[name][0], by[name]
		delete(by, name)
		if l != nil && !l.broken() && l.running() {
			kept[name] = true
			steps = append(steps, configStep{have: l, conf: l.conf, entry: l.launch.entry, entries: l.launch.entries,
				beside: l.launch.beside, problems: of[name]})
			continue
		}
		conf := config.Server{Name: name, Origin: config.Origin{File: p.File, Line: p.Line}}
		steps = append(steps, configStep{have: l, conf: conf, problems: of[name], broken: true, relaunch: true})
	}
	for _, l := range have {
		if by[l.name] == l && !unread[l.conf.Origin.File] && !kept[l.launch.of()] {
			steps = append(steps, configStep{have: l, remove: true})
		}
	}
	return steps
}

// problemsOf returns the problems of an entry. For an entry beside the one that has the name by itself, it adds the
// problems of that name in its own file.
func problemsOf(e *grants.Entry, of map[string][]event.ConfigProblem) []event.ConfigProblem {
	if e.Of == "" {
		return of[e.Conf.Name]
	}
	list := slices.Clone(of[e.Conf.Name])
	for _, p := range of[e.Of] {
		if p.File == e.Conf.Origin.File {
			list = append(list, p)
		}
	}
	return list
}

// placedServer is a server with its place in the config after the steps.
type placedServer struct {
	name, of string // of: the server that this one is beside, "" = none
	origin   config.Origin
}

// place sets the place of each step's server, and returns the places of all servers by name, from 1. The places are in
// config order: by source, then by line, with broken entries among the others. Entries of one line stay in the order in
// which they were read. A server that is beside another one of its name comes right after that one. place is called
// before the steps are carried out, so that windows hear of each server once, with its place.
func place(steps []configStep, have []*server, from []sources.Source, want []wantedEntry) map[string]int {
	next := map[string]configStep{}
	for _, a := range steps {
		if a.have != nil {
			next[a.have.name] = a
		}
	}
	var all []placedServer
	for _, s := range have {
		switch a, changes := next[s.name]; {
		case !changes: // of a file that cannot be read
			all = append(all, placedServer{s.name, s.launch.of(), s.conf.Origin})
		case !a.remove:
			all = append(all, placedServer{s.name, a.of(), a.conf.Origin})
		}
	}
	for _, a := range steps {
		if a.have == nil {
			all = append(all, placedServer{a.conf.Name, a.of(), a.conf.Origin})
		}
	}
	source, read := map[string]int{}, map[string]int{}
	for i, src := range from {
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
		steps[i].place = at[steps[i].conf.Name]
	}
	return at
}
