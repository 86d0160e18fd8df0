package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/flight"
)

// shared is one search for an answer that several starts may wait for: the consent to a launch, the value of an input.
type shared = flight.Flight[*server, *prompt]

// sharedKey names what is wanted: server for a consent, the other two for an input.
type sharedKey struct{ server, file, input string }

// pauseFor stops (by +1) or releases (by -1) all that runs against a server that waits for somebody else's question.
func (st *state) pauseFor(t *shared, s *server, by int) {
	p := t.Question
	if p == nil {
		return
	}
	s.Pause(time.Now(), by)
	switch {
	case st.prompts[p.id] != p: // it has closed, which released all
	case by > 0:
		st.holdFor(p, s)
	default:
		st.letGo(p, s)
	}
}
