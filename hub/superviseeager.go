package hub

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/servers"
)

// maxEager is how many servers the hub starts by itself at the same time: a config of fifty must not storm the machine.
// Starts that a call waits for do not count.
const maxEager = 4

// maxEagerAsking is how many of these starts ask for the consent to a launch at the same time: a workspace must not
// bury its user in questions.
const maxEagerAsking = 4

// startEagerly has a server started without anybody's doing, now or when its turn comes. h.mu is held.
func (h *Hub) startEagerly(s *server) {
	if !slices.Contains(h.eager, s) {
		h.eager = append(h.eager, s)
	}
	h.startNextEager()
}

// startNextEager starts eager servers while there is room. h.mu is held.
func (h *Hub) startNextEager() {
	for i := 0; i < len(h.eager) && !h.draining && h.startingByItself() < maxEager; {
		s := h.eager[i]
		if h.wouldAsk(s) && h.askingByItself() >= maxEagerAsking {
			i++ // the end of one of those looks again
			continue
		}
		h.eager = slices.Delete(h.eager, i, i+1)
		switch {
		case s.stopping != nil:
			s.life.Apply(servers.Again)
		case s.running() || s.supervised.plan != nil || !s.eager() || !s.life.MayStart():
		default:
			h.beginConnect(s)
			h.wantItself(s.attempt)
		}
	}
}

// wantItself makes the hub one who waits for a start: a person may be asked to sign in for it. h.mu is held.
func (h *Hub) wantItself(a *attempt) {
	a.byItself = true
	a.waiters++
}

// startingByItself counts the starts that are under way, without those that wait for a person. h.mu is held.
func (h *Hub) startingByItself() (n int) {
	for _, s := range h.servers {
		if a := s.attempt; a != nil && a.byItself && a.start.holds == 0 {
			n++
		}
	}
	return n
}

// wouldAsk tells whether s cannot start before the user has agreed to it. h.mu is held.
func (h *Hub) wouldAsk(s *server) bool {
	return needsConsent(s.conf) && !s.life.Broken() && !h.agreedToLaunch(s)
}

// askingByItself counts the starts that are under way by themselves and ask for the consent to a launch, or will. h.mu
// is held.
func (h *Hub) askingByItself() (n int) {
	for _, s := range h.servers {
		if a := s.attempt; a != nil && a.byItself && h.wouldAsk(s) {
			n++
		}
	}
	return n
}

// startHeld looks whether a start that waits for a person leaves room for another one. h.mu is held.
func (h *Hub) startHeld(r *request) {
	if r.uncancellable && r.holds > 0 {
		h.startNextEager()
	}
}

// startLonely starts the eager servers that no window could ask a person for. h.mu is held.
func (h *Hub) startLonely() {
	h.company++
	for _, s := range h.servers {
		if s.life.Lonely() {
			s.life.Apply(servers.Company)
			h.startEagerly(s)
		}
	}
}

// notEager takes back that a server is to be started without anybody's doing, until the next reason for it. h.mu is
// held.
func (h *Hub) notEager(s *server) {
	h.eager = slices.DeleteFunc(h.eager, func(other *server) bool { return other == s })
}
