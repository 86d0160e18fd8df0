package hub

import (
	"cmp"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// placed is a server as it will stand in the config.
type placed struct {
	name   string
	origin config.Origin
}

// place tells each step where its server will stand, and all of them by name, from 1: in config order, which is by
// source, then by line, broken entries among the sound ones; on one line as they were read. It comes before the steps,
// so that each server is told of once, with its place.
func place(steps []step, have []*server, sources []ConfigSource, want []config.Server) map[string]int {
	next := map[string]step{}
	for _, a := range steps {
		if a.have != nil {
			next[a.have.name] = a
		}
	}
	var all []placed
	for _, s := range have {
		switch a, changes := next[s.name]; {
		case !changes: // of a file that cannot be read
			all = append(all, placed{s.name, s.Conf().Origin})
		case !a.remove:
			all = append(all, placed{s.name, a.conf.Origin})
		}
	}
	for _, a := range steps {
		if a.have == nil {
			all = append(all, placed{a.conf.Name, a.conf.Origin})
		}
	}
	source, read := map[string]int{}, map[string]int{}
	for i, src := range sources {
		source[src.Path] = i
	}
	for i, c := range want {
		read[c.Name] = i - len(want) // a broken entry has 0: after them
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		x, y := a.origin, b.origin
		return cmp.Or(cmp.Compare(source[x.File], source[y.File]), cmp.Compare(x.Line, y.Line),
			cmp.Compare(read[a.name], read[b.name]))
	})
	at := map[string]int{}
	for i, p := range all {
		at[p.name] = i + 1
	}
	for i := range steps {
		steps[i].place = at[steps[i].conf.Name]
	}
	return at
}

// arrange puts the servers in config order, and tells of those that no step has moved. h.mu is held.
func (h *Hub) arrange(at map[string]int) {
	h.servers = slices.DeleteFunc(h.servers, func(s *server) bool { return s.Life().Removed() })
	slices.SortFunc(h.servers, func(a, b *server) int { return cmp.Compare(at[a.name], at[b.name]) })
	for _, s := range h.servers {
		if s.launch.Place() != at[s.name] {
			s.launch.Move(at[s.name])
			h.changed(s)
		}
	}
}
