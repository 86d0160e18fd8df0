package servers

import "slices"

// MaxEager is how many servers are started without anybody's doing at the same time: a config of fifty must not storm
// the machine. Starts that a call waits for do not count.
const MaxEager = 4

// maxEagerAsking is how many of these starts ask for the consent to a launch at the same time: a workspace must not
// bury its user in questions.
const maxEagerAsking = 4

// StartEagerly has the server started without anybody's doing, now or when its turn comes.
func (s *Server) StartEagerly() {
	if t := s.table; !slices.Contains(t.eager, s) {
		t.eager = append(t.eager, s)
	}
	s.table.StartNextEager()
}

// StartNextEager starts eager servers while there is room. The hub calls it when a start waits for a person: that
// leaves room for another one.
func (t *Table) StartNextEager() {
	for i := 0; i < len(t.eager) && !t.House.Draining() && t.startingByItself() < MaxEager; {
		s := t.eager[i]
		if s.wouldAsk() && t.askingByItself() >= maxEagerAsking {
			i++ // the end of one of those looks again
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

// wantItself makes the hub one who waits for a start: a person may be asked to sign in for it.
func (a *attempt) wantItself() {
	a.byItself = true
	a.waiters++
}

// startingByItself counts the starts that are under way, without those that wait for a person.
func (t *Table) startingByItself() (n int) {
	for _, s := range t.all {
		if a := s.attempt; a != nil && a.byItself && !a.start.Held() {
			n++
		}
	}
	return n
}

func (s *Server) wouldAsk() bool { return !s.life.Broken() && s.owner.MustAsk() }

// askingByItself counts the starts that are under way by themselves and ask for the consent to a launch, or will.
func (t *Table) askingByItself() (n int) {
	for _, s := range t.all {
		if a := s.attempt; a != nil && a.byItself && s.wouldAsk() {
			n++
		}
	}
	return n
}

// startLonely starts the eager servers that no window could ask a person for.
func (t *Table) startLonely() {
	t.company++
	for _, s := range slices.Clone(t.all) {
		s.StartIfLonely()
	}
}

// StartIfLonely starts an eager server that waits for somebody who can be asked.
func (s *Server) StartIfLonely() {
	if s.life.lonely {
		s.life.apply(Company)
		s.StartEagerly()
	}
}

// notEager takes back that a server is to be started without anybody's doing, until the next reason for it.
func (s *Server) notEager() {
	t := s.table
	t.eager = slices.DeleteFunc(t.eager, func(other *Server) bool { return other == s })
}
