package sources

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Step is what becomes of one server when the config changes. Have is nil for a new one.
type Step struct {
	Have     *launch.Launch
	Conf     config.Server
	Entry    *launch.Entry // that Conf is of; nil for a broken one
	Entries  launch.Entries
	Beside   []launch.Entries // of each scope: see launch.Maker.Beside
	Problems []event.ConfigProblem
	Broken   bool // the entry cannot be used
	Remove   bool
	Relaunch bool   // what is run changed: what runs has to be stopped
	Place    int    // among all servers: see place
	Why      string // of the relaunch; "": the config changed
}

// of is the server that this one is beside, "" = none.
func (s Step) of() string {
	if s.Entry == nil {
		return ""
	}
	return s.Entry.Of
}

// Life is the entry of the step as a server takes it up.
func (s Step) Life() servers.Entry {
	e := servers.Entry{Conf: s.Conf, Problems: s.Problems, Broken: s.Broken}
	if s.Entry != nil {
		e.Key = s.Entry.Key
	}
	return e
}

// wanted are the entries of one name, and the one that counts.
type wanted struct {
	counts  *launch.Entry
	entries launch.Entries
	beside  []launch.Entries // of each scope
}

// reconcile compares what the config wants with what there is. It changes nothing. What is halfway through an edit ends
// nothing that works: a file that cannot be read as a whole takes away none of the servers that it brought before, also
// where another file has one of the same name, and an entry that cannot be used leaves its server, while that runs, as
// it was.
func reconcile(want []wanted, problems []event.ConfigProblem, have []*launch.Launch) []Step {
	by := map[string]*launch.Launch{}
	for _, l := range have {
		by[l.Server().Name()] = l
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
	var steps []Step
	kept := map[string]bool{} // as they are, with those beside them
	for _, w := range want {  // those beside one come after it
		c := w.counts.Conf
		if kept[w.counts.Of] {
			continue
		}
		l := by[c.Name]
		sound := l != nil && !l.Server().Life().Broken()
		if sound && unread[l.Server().Conf().Origin.File] {
			kept[c.Name] = true
			continue
		}
		steps = append(steps, Step{Have: l, Conf: c, Entry: w.counts, Entries: w.entries, Beside: w.beside,
			Problems: problemsOf(w.counts, of), Relaunch: sound && l.Server().Key() != w.counts.Key})
		delete(by, c.Name)
	}
	for _, name := range brokenOnly {
		p, l := of[name][0], by[name]
		delete(by, name)
		if l != nil && !l.Server().Life().Broken() && l.Server().Running() {
			kept[name] = true
			steps = append(steps, Step{Have: l, Conf: *l.Server().Conf(), Entry: l.Entry(), Entries: l.Entries(),
				Beside: l.AllBeside(), Problems: of[name]})
			continue
		}
		conf := config.Server{Name: name, Origin: config.Origin{File: p.File, Line: p.Line}}
		steps = append(steps, Step{Have: l, Conf: conf, Problems: of[name], Broken: true, Relaunch: true})
	}
	for _, l := range have {
		if s := l.Server(); by[s.Name()] == l && !unread[s.Conf().Origin.File] && !kept[l.Of()] {
			steps = append(steps, Step{Have: l, Remove: true})
		}
	}
	return steps
}

// problemsOf gives those of an entry: beside the one that has the name by itself, those of its own file.
func problemsOf(e *launch.Entry, of map[string][]event.ConfigProblem) []event.ConfigProblem {
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
