package hub

import (
	"context"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/prompts"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// serverQuestion is a question of the hub itself, on whose answer a server depends: a sign-in, the consent to its
// launch, or a value for an input of its config.
type serverQuestion struct {
	info   event.PromptInfo // kind and question
	launch *grants.Form
	// byHand reports whether the answer is wanted for something other than a start. The hub's lock is held.
	byHand func() bool
	// told is called when a prompt has opened (+1) or closed (-1), after the clocks were stopped or released; nil for
	// none. The hub's lock is held.
	told func(by int)
	// over returns how the prompt closes if the operation that asked ends, with a cause, before there is an answer. done
	// reports whether the operation succeeded. If over is nil, the prompt closes because nobody waits. The hub's lock is
	// held.
	over func(cause error) (c closing, done bool)
	// with are further servers that wait for the answer; nil: none.
	with *shared
}

// askAboutServer asks a question that a server waits for. Each question is a request of its own, so that people can see
// and cancel it. All requests to the server wait for the answer, too, and no clock runs meanwhile.
//
// Without an error the closing is an answer (answered, declined or dismissed; a cancel of the request counts as
// dismissed), or says that the question was superseded and another window could be asked.
func (h *Hub) askAboutServer(ctx context.Context, s *server, q *serverQuestion) (closing, error) {
	words := prompts.WordsOf(&q.info)
	return h.ask(ctx, func(st *state) (*prompt, error) {
		if err := st.mayAskAbout(s, q, &words); err != nil {
			return nil, err
		}
		r := &request{id: st.mint(words.Name), method: words.Method, subject: words.Subject, direction: event.Outgoing,
			server: s}
		st.register(ctx, r)
		st.moveTo(r, event.StateRunning)
		return &prompt{request: r, humanLimit: s.humanLimit(), info: q.info, launch: q.launch, with: q.with, told: q.told,
			about: append([]*server{s}, q.with.Followers()...)}, nil
	}, func(st *state, p *prompt, c closing) (closing, error) {
		if c.cause == 0 { // the operation that wanted the answer has ended, with or without success
			st.unasked(p, q, context.Cause(ctx))
			return closing{}, context.Cause(ctx)
		}
		return st.concludeQuestion(ctx, p.request, q, &words, c)
	})
}

// humanLimit returns how long a person may take to answer a question about s. The hub's lock is held.
func (s *server) humanLimit() time.Duration {
	if limit := s.Conf().Timeouts.Human; limit != nil {
		return *limit
	}
	return DefaultHumanTimeout
}

// asks records that a question about servers has opened (+1) or closed (-1), for each server that waits for the answer:
// the time in between does not count against any of their limits.
func (st *state) asks(p *prompt, by int) {
	if p.about == nil {
		return
	}
	for _, s := range append([]*server{p.request.server}, p.with.Followers()...) {
		s.Pause(time.Now(), by)
	}
	if p.with != nil {
		p.with.Question = nil
		if by > 0 {
			p.with.Question = p
		}
	}
	if p.told != nil {
		p.told(by)
	}
}

// mayAskAbout returns an error for a question that no window can show, or whose answer nobody would use.
func (st *state) mayAskAbout(s *server, q *serverQuestion, words *prompts.Words) error {
	switch {
	case st.draining:
		return event.ErrDraining()
	case s.Stopping() != nil || s.Life().Removed():
		return words.Stopped(s.name)
	case !st.windows.CanShow(q.info.Kind, false):
		return words.Unasked(s.name, &q.info)
	case s.Unwanted() && !q.byHand():
		// everybody who wanted the server had gone before it was known that there is a question
		if q.with != nil {
			// the start itself asks: callers that come from now on wait for another start, and do not get the error of this one
			s.EndStart()
		}
		return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
			"server %q wants %s, and %s", s.name, words.Wants, servers.NobodyWaits)
	}
	return nil
}

// concludeQuestion ends the request of a question whose prompt has closed.
func (st *state) concludeQuestion(ctx context.Context, r *request, q *serverQuestion, words *prompts.Words,
	answer closing) (closing, error) {
	switch answer.cause {
	case event.CauseAnswered, event.CauseDeclined, event.CauseDismissed:
		st.end(r, ending{state: event.StateDone})
		return answer, nil
	}
	// cancel changes nothing if a cancel of r is what closed the question
	st.cancel(r, &event.CancelCause{Origin: answer.origin, Reason: answer.reason})
	st.end(r, ending{state: event.StateCancelled})
	switch {
	case r.cause.Err != nil: // a clock ran out
		return closing{}, r.cause.Err
	case st.draining:
		return closing{}, event.ErrDraining()
	case r.server.Life().Removed():
		return closing{}, words.Stopped(r.server.name)
	case answer.cause == event.CauseSuperseded && !st.windows.CanShow(q.info.Kind, false):
		return closing{}, words.Unasked(r.server.name, &q.info)
	case answer.cause == event.CauseSuperseded:
		return answer, nil
	case ctx.Err() != nil: // the server was stopped
		return closing{}, context.Cause(ctx)
	}
	answer.cause = event.CauseDismissed // somebody cancelled the question itself
	return answer, nil
}

// unasked closes a question because the operation that asked has ended before there was an answer.
func (st *state) unasked(p *prompt, q *serverQuestion, cause error) {
	c, done := closing{cause: event.CauseParent, origin: event.OriginParent, reason: servers.NobodyWaits}, false
	switch {
	case st.draining:
		c.cause, c.origin, c.reason = event.CauseShutdown, event.OriginShutdown, "the hub is shutting down"
	case q.over != nil:
		c, done = q.over(cause)
	}
	c.action = event.ActionDismiss
	r := p.request
	st.closePrompt(p, c)
	if done {
		st.end(r, ending{state: event.StateDone})
		return
	}
	st.cancel(r, &event.CancelCause{Origin: c.origin, Reason: c.reason})
	st.end(r, ending{state: event.StateCancelled})
}

// holdFor makes p hold the clocks of all outgoing requests to s as well, because s waits for the same answer.
func (st *state) holdFor(p *prompt, s *server) {
	known := slices.Contains(p.about, s)
	p.about = append(p.about, s)
	if known {
		return
	}
	for _, r := range st.requests {
		if r.server == s && r.direction == event.Outgoing && r != p.request {
			p.holding = append(p.holding, r)
			st.hold(r, +1)
		}
	}
}

// letGo reverses one holdFor.
func (st *state) letGo(p *prompt, s *server) {
	i := slices.Index(p.about, s)
	p.about = slices.Delete(p.about, i, i+1)
	if slices.Contains(p.about, s) {
		return
	}
	p.holding = slices.DeleteFunc(p.holding, func(r *request) bool {
		if r.server != s || r == p.request {
			return false
		}
		if st.requests[r.id] == r {
			st.hold(r, -1)
			st.resume(r)
		}
		return true
	})
}
