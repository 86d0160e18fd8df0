package core

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// MaxEager is how many eager servers start at the same time, so that a config with fifty of them does not overload the
// machine. Starts that a call waits for are not limited.
const MaxEager = 4

// maxEagerAsking is how many eager starts may ask for consent to a launch at the same time, so that a workspace cannot
// flood its user with questions.
const maxEagerAsking = 4

// startNext lets servers start that no call waits for, at the end of the event, if there is room.
func (s *State) startNext() { s.startsNext = len(s.eager) > 0 }

// enqueue puts a server into the queue of eager starts.
func (s *State) enqueue(sv *server) {
	if !slices.Contains(s.eager, sv.n) {
		s.eager = append(s.eager, sv.n)
	}
}

// queueStart queues a server for a start that no call waits for.
func (s *State) queueStart(sv *server) {
	s.enqueue(sv)
	s.startNext()
}

// startQueued starts queued eager servers while there is room.
func (s *State) startQueued() {
	s.startsNext = false
	for i := 0; i < len(s.eager) && !s.draining && s.startingByItself(false) < MaxEager; {
		sv := s.servers[s.eager[i]]
		if sv.launch.mustAsk() && s.startingByItself(true) >= maxEagerAsking {
			i++ // when one of those starts ends, it is looked at again
			continue
		}
		s.eager = slices.Delete(s.eager, i, i+1)
		switch {
		case sv.state == event.ServerStopping:
			sv.halted = true
			if sv.intent == intentOn {
				sv.intent = intentRestart
			}
		case sv.planned() || !sv.entry.Eager || !sv.mayStart():
		default:
			s.begin(sv, false)
			sv.byItself = true // so that it may ask a person to sign in
		}
	}
}

// startingByItself counts the eager starts under way: those that do not wait for a person, or, with asking, those that
// ask, or will ask, for consent to a launch.
func (s *State) startingByItself(asking bool) (n int) {
	for _, sv := range s.servers {
		if !sv.starting || !sv.byItself {
			continue
		}
		r := s.requests[sv.request]
		if waits := r != nil && r.waits > 0; asking && sv.launch.mustAsk() || !asking && !waits {
			n++
		}
	}
	return n
}

// answerPossible starts an eager server whose start failed because nobody could be asked.
func (s *State) answerPossible(sv *server) {
	if sv.waitsForWindow && !sv.removed {
		sv.waitsForWindow = false
		s.queueStart(sv)
	}
}
