package core

import (
	"cmp"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
)

// clientFor returns the call in whose course a client is asked, 0 if none is. A question that may belong to several
// calls goes to a client only if all of them are its own, since one client must not see what is asked of another. Calls
// of clients that are gone do not count, as soon as their server must have read that they are cancelled. several
// reports that a client is not asked only because the question may be another one's.
func (s *State) clientFor(e *Asked) (call RequestNumber, several bool) {
	if e.By == 0 { // the hub asks people
		return 0, false
	}
	if known := cmp.Or(e.Of, e.Parent); known != 0 {
		if s.answers(known, e.Kind, e.WithTools) {
			return known, false
		}
		return 0, false
	}
	var client string
	count := func(of string) {
		several = several || client != "" && of != client
		client = of
	}
	for _, past := range e.Past {
		switch {
		case past.Client == "":
			return 0, false
		case s.gone.has(past.Client) && s.now.Sub(past.Cancelled) >= cancelReadTime:
		default:
			count(past.Client)
		}
	}
	for _, may := range e.Among {
		if may.Client == "" {
			return 0, false
		}
		count(may.Client)
	}
	call = s.bestOf(e.Among, e.Kind, e.WithTools, nil)
	if several {
		return 0, call != 0
	}
	return call, false
}

// bestOf returns one of the calls of a client that a question may belong to, 0 if there is none. It prefers calls in
// whose course the client can be reached now, and then the newest. It skips those that were tried.
func (s *State) bestOf(among []MayAsk, kind event.PromptKind, withTools bool, tried []RequestNumber) RequestNumber {
	var best MayAsk
	for _, may := range among {
		if !s.answers(may.Request, kind, withTools) || slices.Contains(tried, may.Request) {
			continue
		}
		if may.Heard && !best.Heard || may.Heard == best.Heard && may.Request > best.Request {
			best = may
		}
	}
	return best.Request
}

// answers reports whether a call is open and its client answers such questions.
func (s *State) answers(call RequestNumber, kind event.PromptKind, withTools bool) bool {
	r := s.requests[call]
	return r != nil && r.cause == nil && r.client != "" && r.audience != event.AskWindows &&
		r.answers.Has(kind, withTools)
}

// clientUnreachable asks the client in the course of another one of its calls. If there is none, the question is left
// to the windows.
func (s *State) clientUnreachable(e *ClientUnreachable) {
	p := s.prompts[e.Prompt]
	if p == nil {
		return
	}
	if next := s.bestOf(e.Among, p.kind, p.withTools, p.tried); next != 0 {
		p.tried = append(p.tried, next)
		s.do(ClientAsked{p.n, next})
		return
	}
	p.tried = nil
	if p.hidden {
		p.hidden = false
		s.do(PromptShown{p.n})
	}
	s.closeUnshowable()
}
