package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/flight"
)

// shared is a search for an answer (the consent to a launch, or the value of an input) that several starts wait for.
type shared = flight.Flight[*server, *prompt]

// sharedKey identifies the answer: by server for a consent, by file and input for a value.
type sharedKey struct{ server, file, input string }

// pauseFor stops (+1) or releases (-1) the clocks of a server that waits for the answer to another server's question.
func (st *state) pauseFor(t *shared, s *server, by int) {
	p := t.Question
	if p == nil {
		return
	}
	s.Pause(time.Now(), by)
	st.apply(core.Followed{Prompt: p.number, Server: s.number, Left: by < 0})
}
