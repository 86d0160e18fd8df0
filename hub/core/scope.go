package core

import "slices"

// Scope selects open requests, other than the starts of sessions. Exactly one field is set.
type Scope struct {
	All    bool
	Server ServerNumber
	Name   string // of the server, whichever entry has it
	Label  string // of the task of the host
	Owner  string // the window that owns the calls
}

func (c Scope) has(r *request) bool {
	return !r.start && (c.All || c.Server != 0 && r.server == c.Server || c.Name != "" && r.name == c.Name ||
		c.Label != "" && r.label == c.Label || c.Owner != "" && r.owner == c.Owner)
}

// Within returns the open requests of a scope, oldest first.
func (s *State) Within(c Scope) (list []RequestNumber) {
	for n, r := range s.requests {
		if c.has(r) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// cancelScope cancels the requests of a scope. What one of them has caused ends with it.
func (s *State) cancelScope(e *ScopeCancelled) {
	for _, n := range s.Within(e.Scope) {
		if r := s.requests[n]; r != nil {
			s.cancelRequest(r, e.Cause)
		}
	}
}
