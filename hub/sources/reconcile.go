package sources

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Step is what happens to one server when the config changes. Have is nil for a new server.
type Step struct {
	Have     *launch.Launch
	Conf     config.Server
	Entry    *launch.Entry // the entry that Conf is of; nil for a broken one
	Entries  launch.Entries
	Beside   []launch.Entries // those of each scope: see launch.Maker.Beside
	Problems []event.ConfigProblem
	Broken   bool // the entry cannot be used
	Remove   bool
	Relaunch bool   // the launch changed: a running server has to be stopped
	Place    int    // among all servers: see place
	Why      string // reason of the relaunch; "": the config changed
}

// of returns the name of the server that this one is beside, "" if there is none.
func (s Step) of() string {
	if s.Entry == nil {
		return ""
	}
	return s.Entry.Of
}

// Life returns the entry of the step, in the form of package servers.
func (s Step) Life() servers.Entry {
	e := servers.Entry{Conf: s.Conf, Problems: s.Problems}
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

// reconcile compares the entries of the config with the existing servers, and returns the steps that bring the servers
// in line. It changes nothing itself. A file in the middle of an edit must not end a server that works. So a file that
// cannot be read as a whole removes none of the servers that it brought before, even if another file has a server of
// the same name. And an entry that cannot be used leaves its server as it was while that runs.
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
	kept := map[string]bool{} // servers that stay as they are, with those beside them
	for _, w := range want {  // want has the entries beside another one after it
		c := w.counts.Conf
		if kept[w.counts.Of] {
			continue
		}
		l := by[c.Name]
		sound := l != nil && !l.Server().Broken()
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
		if l != nil && !l.Server().Broken() && l.Server().Running() {
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

// problemsOf returns the problems of an entry. For an entry beside the one that has the name by itself, it adds the
// problems of that name in its own file.
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
