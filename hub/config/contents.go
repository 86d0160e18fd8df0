package config

import (
	"maps"
	"slices"
	"sort"
)

// Load reads all sources. It never fails as a whole: what cannot be used is told
// in problems, and the rest is returned. The order is that of the sources, and
// within one that of the file. Of the servers of one name one counts, at its own
// place: that of a workspace before that of the user, else the later one. A broken
// entry replaces no good one.
//
// Load has no state; it may be called concurrently.
func Load(sources []Source) (servers []Server, problems []Problem) {
	c := Read(sources)
	return c.Servers, c.Problems
}

// Contents is what sources say.
type Contents struct {
	Servers []Server // those that count
	// Profiles are sorted by name. Of two of one name the later one counts. A workspace's are not read: they could do away
	// with approvals.
	Profiles []Profile
	Problems []Problem
}

// Read is Load with the profiles.
func Read(sources []Source) Contents {
	l := read(sources)
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

// All is Load with the servers that do not count: their ShadowedBy is the one that does.
func All(sources []Source) (servers []Server, problems []Problem) {
	l := read(sources)
	if len(l.entries) > 0 {
		servers = make([]Server, 0, len(l.entries))
	}
	for _, e := range l.entries {
		servers = append(servers, e.server)
	}
	return servers, ordered(l.problems)
}

// read reads all sources.
func read(sources []Source) *loader {
	l := &loader{}
	for i, src := range sources {
		if src.Scope == "" {
			src.Scope = "workspace" // whose it is decides what it may do without a question, so silence gets the least
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
