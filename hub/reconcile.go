package hub

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
)

// step is what becomes of one server when the config changes. have is nil for a new one.
type step struct {
	have     *server
	conf     config.Server
	entry    *launch.Entry // that conf is of; nil for a broken one
	entries  launch.Entries
	problems []event.ConfigProblem
	broken   bool // the entry cannot be used
	remove   bool
	relaunch bool   // what is run changed: what runs has to be stopped
	place    int    // among all servers: see place
	why      string // of the relaunch; "": the config changed
}

// key is the launch key of what is wanted, "" where it is not known yet.
func (a step) key() string {
	if a.entry == nil {
		return ""
	}
	return a.entry.Key
}

// wanted are the entries of one name, and the one that counts.
type wanted struct {
	counts  *launch.Entry
	entries launch.Entries
}

// confs gives what counts.
func confs(want []wanted) (list []config.Server) {
	for _, w := range want {
		list = append(list, w.counts.Conf)
	}
	return list
}

// reconcile compares what the config wants with what there is. It changes nothing. What is halfway through an edit ends
// nothing that works: a file that cannot be read as a whole takes away none of the servers that it brought before, also
// where another file has one of the same name, and an entry that cannot be used leaves its server, while that runs, as
// it was.
func reconcile(want []wanted, problems []event.ConfigProblem, have []*server) []step {
	by := map[string]*server{}
	for _, s := range have {
		by[s.name] = s
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
	var steps []step
	for _, w := range want {
		c := w.counts.Conf
		s := by[c.Name]
		if s != nil && !s.Life().Broken() && unread[s.Conf().Origin.File] {
			continue
		}
		steps = append(steps, step{
			have: s, conf: c, entry: w.counts, entries: w.entries, problems: of[c.Name], relaunch: s != nil &&
				!s.Life().Broken() && s.Key() != w.counts.Key,
		})
		delete(by, c.Name)
	}
	for _, name := range brokenOnly {
		p, s := of[name][0], by[name]
		delete(by, name)
		if s != nil && !s.Life().Broken() && s.Running() {
			steps = append(steps, step{have: s, conf: *s.Conf(), entry: s.launch.Entry(), entries: s.launch.Entries(),
				problems: of[name]})
			continue
		}
		conf := config.Server{Name: name, Origin: config.Origin{File: p.File, Line: p.Line}}
		steps = append(steps, step{have: s, conf: conf, problems: of[name], broken: true, relaunch: true})
	}
	for _, s := range have {
		if by[s.name] == s && !unread[s.Conf().Origin.File] {
			steps = append(steps, step{have: s, remove: true})
		}
	}
	return steps
}
