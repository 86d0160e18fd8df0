package hub

import (
	"context"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// serverQuestion is a question of the hub's own that a server waits for: a sign-in, the consent to its launch, a value
// that its config wants.
type serverQuestion struct {
	name            string           // begins the id of the request that stands for it
	method, subject string           // of that request
	info            event.PromptInfo // kind and question
	launch          *grants.Form
	wants, kinds    string // what the server wants, and what a window must be able to show, for error texts
	// byHand tells whether somebody waits who does not wait for a start of the server; nil: nobody. h.mu is held.
	byHand func() bool
	// told is called for each question that opens (+1) and is over (-1), once the clocks stand or go; nil: nobody wants to
	// know. h.mu is held.
	told func(by int)
	// over says how the prompt closes when what wanted the answer ended with a cause; done tells that it got what it
	// wanted. nil: nobody waits any more. h.mu is held.
	over func(cause error) (c closing, done bool)
	// with are further servers that wait for the answer; nil: none.
	with *shared
}

// askAboutServer shows a question to the windows and waits for the first answer, or for whatever else ends it. Each
// question is a request of its own, so that it can be seen and cancelled; all that waits for the server waits for it,
// too, and no clock runs meanwhile.
//
// Without an error the closing is an answer (answered, declined or dismissed; a cancel of the request counts as
// dismissed), or says that the question was superseded and another window could be asked.
func (h *Hub) askAboutServer(ctx context.Context, s *server, q *serverQuestion) (closing, error) {
	p, err := h.openAbout(ctx, s, q)
	if err != nil {
		return closing{}, err
	}
	var answer closing
	select {
	case answer = <-p.settled:
	case <-ctx.Done():
	}
	defer h.lock().unlock()
	h.asks(q, p, -1)
	if answer.cause == 0 { // what wanted the answer is over, one way or the other
		h.unasked(p, q, context.Cause(ctx))
		return closing{}, context.Cause(ctx)
	}
	return h.concludeQuestion(ctx, p.request, q, answer)
}

func (h *Hub) openAbout(ctx context.Context, s *server, q *serverQuestion) (*prompt, error) {
	defer h.lock().unlock()
	if err := h.mayAskAbout(s, q); err != nil {
		return nil, err
	}
	human := DefaultHumanTimeout
	if limit := s.Conf().Timeouts.Human; limit != nil {
		human = *limit
	}
	r := &request{id: h.mint(q.name), method: q.method, subject: q.subject, direction: event.Outgoing, server: s}
	h.register(ctx, r)
	h.moveTo(r, event.StateRunning)
	p := &prompt{request: r, humanLimit: human, info: q.info, launch: q.launch,
		about: append([]*server{s}, q.with.others()...)}
	h.openPrompt(p)
	h.asks(q, p, +1)
	return p, nil
}

// asks counts an open question of s and of those who share it: no limit that they have runs meanwhile. h.mu is held.
func (h *Hub) asks(q *serverQuestion, p *prompt, by int) {
	for _, s := range append([]*server{p.request.server}, q.with.others()...) {
		s.Pause(time.Now(), by)
	}
	if q.with != nil {
		q.with.prompt = nil
		if by > 0 {
			q.with.prompt = p
		}
	}
	if q.told != nil {
		q.told(by)
	}
}

// mayAskAbout refuses a question that nobody could answer or would want to. h.mu is held.
func (h *Hub) mayAskAbout(s *server, q *serverQuestion) *event.Error {
	byHand := q.byHand != nil && q.byHand()
	switch {
	case h.draining:
		return event.ErrDraining()
	case s.Stopping() != nil || s.Life().Removed():
		return errStopping(s, q)
	case !h.canShow(q.info.Kind, false):
		return errNoWindow(s, q)
	case s.Unwanted() && !byHand:
		// who wanted the server has gone before it was known that there is a question
		if q.with != nil {
			// the start itself asks: who comes from now on waits for another one, and is not told of the end of this
			s.EndStart()
		}
		return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
			"server %q wants %s, and %s", s.name,
			q.wants, servers.NobodyWaits)
	}
	return nil
}

// concludeQuestion is the end of a question that was settled. h.mu is held.
func (h *Hub) concludeQuestion(ctx context.Context, r *request, q *serverQuestion, answer closing) (closing, error) {
	switch answer.cause {
	case event.CauseAnswered, event.CauseDeclined, event.CauseDismissed:
		h.end(r, ending{state: event.StateDone})
		return answer, nil
	}
	h.cancel(r, &event.CancelCause{Origin: answer.origin, Reason: answer.reason}) // unless it is what settled the question
	h.end(r, ending{state: event.StateCancelled})
	switch {
	case r.cause.Err != nil: // a clock
		return closing{}, r.cause.Err
	case h.draining:
		return closing{}, event.ErrDraining()
	case r.server.Life().Removed():
		return closing{}, errStopping(r.server, q)
	case answer.cause == event.CauseSuperseded && !h.canShow(q.info.Kind, false):
		return closing{}, errNoWindow(r.server, q)
	case answer.cause == event.CauseSuperseded:
		return answer, nil
	case ctx.Err() != nil: // the server was stopped
		return closing{}, context.Cause(ctx)
	}
	answer.cause = event.CauseDismissed // somebody cancelled the question itself
	return answer, nil
}

// unasked is the end of a question that nobody wants answered any more. h.mu is held.
func (h *Hub) unasked(p *prompt, q *serverQuestion, cause error) {
	c, done := closing{cause: event.CauseParent, origin: event.OriginParent, reason: servers.NobodyWaits}, false
	switch {
	case h.draining:
		c.cause, c.origin, c.reason = event.CauseShutdown, event.OriginShutdown, "the hub is shutting down"
	case q.over != nil:
		c, done = q.over(cause)
	}
	c.action = event.ActionDismiss
	r := p.request
	h.closePrompt(p, c)
	if done {
		h.end(r, ending{state: event.StateDone})
		return
	}
	h.cancel(r, &event.CancelCause{Origin: c.origin, Reason: c.reason})
	h.end(r, ending{state: event.StateCancelled})
}

func errNoWindow(s *server, q *serverQuestion) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNoApprover, []string{"server", s.name},
		"server %q wants %s and no window can show the question; attach a window that shows %s", s.name, q.wants, q.kinds)
}

func errStopping(s *server, q *serverQuestion) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
		"server %q was stopped while it wanted %s", s.name, q.wants)
}

// holdFor makes a question hold all that another server has begun, as it does what its own has. h.mu is held.
func (h *Hub) holdFor(p *prompt, s *server) {
	known := slices.Contains(p.about, s)
	p.about = append(p.about, s)
	if known {
		return
	}
	for _, r := range h.requests {
		if r.server == s && r.direction == event.Outgoing && r != p.request {
			p.holding = append(p.holding, r)
			h.hold(r, +1)
		}
	}
}

// letGo undoes one holdFor. h.mu is held.
func (h *Hub) letGo(p *prompt, s *server) {
	i := slices.Index(p.about, s)
	p.about = slices.Delete(p.about, i, i+1)
	if slices.Contains(p.about, s) {
		return
	}
	p.holding = slices.DeleteFunc(p.holding, func(r *request) bool {
		if r.server != s || r == p.request {
			return false
		}
		if h.requests[r.id] == r {
			h.hold(r, -1)
			h.resume(r)
		}
		return true
	})
}
