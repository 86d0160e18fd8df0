package config

import (
	"maps"
	"slices"
	"sort"
)

// Load reads all sources. It never fails as a whole: what cannot be used is reported in problems, and the rest is
// returned. The order is that of the sources, and within a source that of the file. Of several servers of one name, one
// counts, at its own place: an entry of a workspace before one of the user, else the later one. A broken entry replaces
// no good one.
//
// Load has no state; it may be called concurrently.
func Load(sources []Source) (servers []Server, problems []Problem) {
	c := Read(sources)
	return c.Servers, c.Problems
}

// Contents is the content of all sources.
type Contents struct {
	Servers []Server // one for each name: the one that counts
	// Profiles are sorted by name. Of two profiles of one name the later one counts. Profiles of a workspace are not read,
	// because they could remove approvals.
	Profiles []Profile
	Problems []Problem
}

// Read is like Load, and returns the profiles, too.
func Read(sources []Source) Contents { return ReadWithout(nil, sources) }

// ReadWithout is like Read, but as if the sources had no entry for which leaveOut returns a reason. The reason becomes
// a problem of the entry. Another entry of the same name is not affected.
func ReadWithout(leaveOut func(Server) (why string), sources []Source) Contents {
	l := read(sources, leaveOut)
	c := Contents{Problems: ordered(l.problems)}
	for _, e := range l.entries {
		if e.server.ShadowedBy == nil {
			c.Servers = append(c.Servers, e.server)
		}
	}
	c.Profiles = slices.Collect(maps.Values(l.profiles))
	sort.Slice(c.Profiles, func(i, j int) bool { return c.Profiles[i].Name < c.Profiles[j].Name })
	return c
}

// All is like Load, and also returns the servers that do not count. Their ShadowedBy is the origin of the one that
// does.
func All(sources []Source) (servers []Server, problems []Problem) {
	l := read(sources, nil)
	if len(l.entries) > 0 {
		servers = make([]Server, 0, len(l.entries))
	}
	for _, e := range l.entries {
		servers = append(servers, e.server)
	}
	return servers, ordered(l.problems)
}

// read reads all sources, without the entries for which leaveOut, if it is not nil, returns a reason.
func read(sources []Source, leaveOut func(Server) (why string)) *loader {
	l := &loader{leaveOut: leaveOut}
	for i, src := range sources {
		if src.Scope == "" {
			src.Scope = "workspace" // the scope decides what starts without a question, so the default is the strictest
		}
		l.number, l.source = i, src
		l.load()
	}
	l.switchOff()
	l.refuseAddresses()
	l.shadow()
	l.findNamed()
	return l
}
