package hub

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// step is what becomes of one server when the config changes. have is nil for a new one.
type step struct {
	have     *server
	conf     config.Server
	problems []ConfigProblem
	broken   bool // the entry cannot be used
	remove   bool
	relaunch bool // what is run changed: what runs has to be stopped
	place    int  // among all servers: see place
}

// reconcile compares what the config wants with what there is. It changes nothing. What is halfway through an edit ends nothing that works: a file that cannot
// be read as a whole takes away none of the servers that it brought before, and an entry that cannot be used leaves its server, while that runs, as it was.
func reconcile(want []config.Server, problems []ConfigProblem, have []*server) []step {
	by := map[string]*server{}
	for _, s := range have {
		by[s.name] = s
	}
	of := map[string][]ConfigProblem{}
	var brokenOnly []string
	wanted := map[string]bool{}
	unread := map[string]bool{}
	for _, p := range problems {
		if p.Server == "" && p.Fatal {
			unread[p.File] = true
		}
	}
	for _, c := range want {
		wanted[c.Name] = true
		unread[c.Origin.File] = false
	}
	for _, p := range problems {
		if p.Server == "" {
			continue
		}
		of[p.Server] = append(of[p.Server], p)
		if !wanted[p.Server] && p.Fatal && !slices.Contains(brokenOnly, p.Server) {
			brokenOnly = append(brokenOnly, p.Server)
		}
	}
	var steps []step
	for _, c := range want {
		s := by[c.Name]
		steps = append(steps, step{have: s, conf: c, problems: of[c.Name], relaunch: s != nil && !s.broken && s.conf.LaunchKey() != c.LaunchKey()})
		delete(by, c.Name)
	}
	for _, name := range brokenOnly {
		p, s := of[name][0], by[name]
		delete(by, name)
		if s != nil && !s.broken && s.running() {
			steps = append(steps, step{have: s, conf: s.conf, problems: of[name]})
			continue
		}
		conf := config.Server{Name: name, Origin: config.Origin{File: p.File, Line: p.Line}}
		steps = append(steps, step{have: s, conf: conf, problems: of[name], broken: true, relaunch: true})
	}
	for _, s := range have {
		if by[s.name] == s && !unread[s.conf.Origin.File] {
			steps = append(steps, step{have: s, remove: true})
		}
	}
	return steps
}
