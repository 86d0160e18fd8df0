package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
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
	with *search
}

// askAboutServer asks a question that a server waits for. Each question is a request of its own, so that people can see
// and cancel it. All requests to the server wait for the answer, too, and no clock runs meanwhile.
//
// Without an error the closing is an answer (answered, declined or dismissed; a cancel of the request counts as
// dismissed), or says that the question was superseded and another window could be asked, or is zero, since what there
// is to agree to has changed before the question opened.
func (h *Hub) askAboutServer(ctx context.Context, s *server, q *serverQuestion) (closing, error) {
	words := promptWordsOf(&q.info)
	return h.ask(ctx, func(st *state) (*prompt, error) {
		if err := st.mayAskAbout(s, q, &words); err != nil {
			return nil, err
		}
		r := &request{method: words.method, subject: words.subject, direction: event.Outgoing, server: s, ctx: ctx}
		p := &prompt{info: q.info, launch: q.launch, with: q.with, changed: q.told, about: true}
		e := core.Asked{Server: s.number, Name: s.name, Prefix: words.name, Human: s.humanLimit(),
			About: []core.ServerNumber{s.number}}
		if q.launch != nil {
			e.Form = formOf(q.launch)
		}
		for _, other := range q.with.waiting() {
			e.About = append(e.About, other.number)
		}
		if st.open(p, r, e) == core.Needless { // mayAskAbout has looked for all else that it refuses
			return nil, nil
		}
		return p, nil
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
	if limit := s.conf.Timeouts.Human; limit != nil {
		return *limit
	}
	return DefaultHumanTimeout
}

// asks records that a question about servers has opened (+1) or closed (-1), for each server that waits for the answer:
// the time in between does not count against any of their limits.
func (st *state) asks(p *prompt, by int) {
	if !p.about {
		return
	}
	for _, s := range append([]*server{p.request.server}, p.with.waiting()...) {
		s.pause(time.Now(), by)
	}
	if p.with != nil {
		p.with.question = nil
		if by > 0 {
			p.with.question = p
		}
	}
	if p.changed != nil {
		p.changed(by)
	}
}

// mayAskAbout returns an error for a question that no window can show, or whose answer nobody would use.
func (st *state) mayAskAbout(s *server, q *serverQuestion, words *promptWords) error {
	switch {
	case st.core.Draining():
		return event.ErrDraining()
	case s.stopping() != nil || s.removed():
		return words.stopped(s.name)
	case !st.core.Shows().Has(q.info.Kind, false):
		return words.unasked(s.name, &q.info)
	case s.unwanted() && !q.byHand():
		// everybody who wanted the server had gone before it was known that there is a question
		if q.with != nil {
			// the start itself asks: callers that come from now on wait for another start, and do not get the error of this
			// one
			s.startAsks()
		}
		return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
			"server %q wants %s, and %s", s.name, words.wants, core.NobodyWaits)
	}
	return nil
}

// concludeQuestion ends the request of a question whose prompt has closed.
func (st *state) concludeQuestion(ctx context.Context, r *request, q *serverQuestion, words *promptWords,
	answer closing) (closing, error) {
	st.answerRead(r, answer, nil)
	switch answer.cause {
	case event.CauseAnswered, event.CauseDeclined, event.CauseDismissed:
		return answer, nil
	}
	switch {
	case r.cause.Err != nil: // a clock ran out
		return closing{}, r.cause.Err
	case st.core.Draining():
		return closing{}, event.ErrDraining()
	case r.server.removed():
		return closing{}, words.stopped(r.server.name)
	case answer.cause == event.CauseSuperseded && !st.core.Shows().Has(q.info.Kind, false):
		return closing{}, words.unasked(r.server.name, &q.info)
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
	c, done := closing{cause: event.CauseParent, origin: event.OriginParent, reason: core.NobodyWaits}, false
	switch {
	case st.core.Draining():
		c.cause, c.origin, c.reason = event.CauseShutdown, event.OriginShutdown, "the hub is shutting down"
	case q.over != nil:
		c, done = q.over(cause)
	}
	st.apply(core.AskerLeft{Request: p.request.number, Prompt: p.number, Leave: core.Leave{End: c.end(), Done: done,
		Ends: &event.CancelCause{Origin: c.origin, Reason: c.reason}}})
}
