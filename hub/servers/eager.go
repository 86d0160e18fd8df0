package servers

import "slices"

// MaxEager is how many eager servers start at the same time, so that a config with fifty of them does not overload the
// machine. Starts that a call waits for are not limited.
const MaxEager = 4

// maxEagerAsking is how many eager starts may ask for consent to a launch at the same time, so that a workspace cannot
// flood its user with questions.
const maxEagerAsking = 4

// StartEagerly queues s for a start that no call waits for, and starts it if there is room.
func (s *Server) StartEagerly() {
	if t := s.table; !slices.Contains(t.eager, s) {
		t.eager = append(t.eager, s)
	}
	s.table.StartNextEager()
}

// StartNextEager starts queued eager servers while there is room. The hub also calls it when a start begins to wait for
// a person, since such a start makes room for another one.
func (t *Table) StartNextEager() {
	for i := 0; i < len(t.eager) && !t.House.Draining() && t.startingByItself() < MaxEager; {
		s := t.eager[i]
		if s.wouldAsk() && t.askingByItself() >= maxEagerAsking {
			i++ // when one of those starts ends, StartNextEager is called again
			continue
		}
		t.eager = slices.Delete(t.eager, i, i+1)
		switch {
		case s.stopping != nil:
			s.life.apply(Again)
		case s.Running() || s.supervised.plan != nil || !s.Eager() || !s.life.mayStart():
		default:
			s.begin()
			s.attempt.wantItself()
		}
	}
}

// wantItself counts the hub itself as a waiter for the start, so that the start may ask a person to sign in.
func (a *attempt) wantItself() {
	a.byItself = true
	a.waiters++
}

// startingByItself counts the eager starts under way that do not wait for a person.
func (t *Table) startingByItself() (n int) {
	for _, s := range t.all {
		if a := s.attempt; a != nil && a.byItself && !a.start.Held() {
			n++
		}
	}
	return n
}

func (s *Server) wouldAsk() bool { return !s.life.Broken() && s.owner.MustAsk() }

// askingByItself counts the eager starts under way that ask, or will ask, for consent to a launch.
func (t *Table) askingByItself() (n int) {
	for _, s := range t.all {
		if a := s.attempt; a != nil && a.byItself && s.wouldAsk() {
			n++
		}
	}
	return n
}

// startLonely starts the eager servers whose start failed because no window could ask the user.
func (t *Table) startLonely() {
	t.company++
	for _, s := range slices.Clone(t.all) {
		s.StartIfLonely()
	}
}

// StartIfLonely starts s if it is eager and its start failed because no window could ask the user.
func (s *Server) StartIfLonely() {
	if s.life.lonely {
		s.life.apply(Company)
		s.StartEagerly()
	}
}

// notEager removes s from the queue of eager starts.
func (s *Server) notEager() {
	t := s.table
	t.eager = slices.DeleteFunc(t.eager, func(other *Server) bool { return other == s })
}
