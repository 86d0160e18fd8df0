package core

import (
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// prompt is one open question. It is open as long as it is in State.prompts.
type prompt struct {
	n         PromptNumber
	request   RequestNumber
	server    ServerNumber
	kind      event.PromptKind
	withTools bool // sampling that brings tools
	human     time.Duration
	by        ConnectionNumber // that asked; 0 for the hub's own questions
	approval  bool
	form      Form            // a yes to it lets the server be launched; zero = the question is about something else
	about     []ServerNumber  // the servers whose requests wait for the answer; a server may be in it twice
	stops     []RequestNumber // the requests whose clocks it stops; those that end are removed
	// The question names no call, and calls of its server were open when it came, so it may belong to one of them.
	among      bool
	candidates map[RequestNumber]struct{} // those calls, as far as they are still open
	tried      []RequestNumber            // the calls in whose course a client was asked; nil: only windows are asked
	hidden     bool                       // only a client is asked
	comparing  int                        // answers whose content is being compared
}

// ask opens a question, if somebody waits for the answer and somebody could give it.
func (s *State) ask(e *Asked) {
	of := s.requests[e.Of]
	parent := s.requests[e.Parent]
	var calls []RequestNumber // that the question may belong to
	if e.By != 0 && e.Of == 0 && e.Parent == 0 {
		calls = s.calls(e.Server)
	}
	client, several := s.clientFor(e)
	if several {
		s.takeTurns(e.Server, e.Name)
	}
	gone := func(n RequestNumber, r *request) bool { return n != 0 && (r == nil || r.cause != nil) }
	switch {
	case gone(e.Of, of) || gone(e.Parent, parent) || e.OfSome && len(calls) == 0:
		s.do(Refused{CallIsOver})
		return
	case s.draining:
		s.do(Refused{Draining})
		return
	case client == 0 && !s.shows.Has(e.Kind, e.WithTools):
		s.do(Refused{Unshowable})
		return
	case e.Approval && !s.isNeeded(of, e), e.Form != Form{} && !s.isOpenTo(e.Server, e.Form):
		s.do(Refused{Needless})
		return
	case e.Approval && !s.moveTo(of, event.StateAwaitingApproval):
		s.do(Refused{CallIsOver})
		return
	}
	if of == nil {
		of = &request{id: s.mint(e.Prefix), server: e.Server, name: e.Name, incoming: e.By != 0, parent: e.Parent}
		s.register(of)
		if !of.incoming {
			s.moveTo(of, event.StateRunning)
		}
	}
	s.asked++
	p := &prompt{n: s.asked, request: of.n, server: of.server, kind: e.Kind, withTools: e.WithTools, human: e.Human,
		by: e.By, approval: e.Approval, form: e.Form, about: slices.Clone(e.About)}
	if client != 0 {
		p.tried, p.hidden = []RequestNumber{client}, s.requests[client].audience == event.AskClient
	}
	s.prompts[p.n] = p
	of.prompts = append(of.prompts, p.n)
	opened := PromptOpened{Prompt: p.n, Request: of.n, Kind: p.kind, Open: s.now, Client: client, Hidden: p.hidden}
	if p.human > 0 {
		opened.Expires = s.now.Add(p.human)
	}
	s.do(opened)
	if p.among = len(calls) > 0; p.among {
		p.candidates = make(map[RequestNumber]struct{}, len(calls))
		for _, n := range calls {
			p.candidates[n] = struct{}{}
		}
	}
	for _, n := range s.stoppedBy(p, of) {
		s.stopClocks(p, s.requests[n])
	}
	s.waiting(of)
	if sv := s.servers[p.server]; sv != nil && p.form != (Form{}) {
		of.launch = true
		sv.launch.asking++
		s.showNew(sv)
	}
}

// stoppedBy returns the requests whose clocks p stops: its own, and the call that caused it, if that is known. A
// question of a server that belongs to no call stops no other clock, since a server could otherwise keep all of its
// calls open by asking.
func (s *State) stoppedBy(p *prompt, of *request) []RequestNumber {
	stops := []RequestNumber{of.n}
	switch {
	case p.about != nil: // all requests to these servers wait for it, including the start of a session
		for n, r := range s.requests {
			if slices.Contains(p.about, r.server) && !r.incoming && r != of {
				stops = append(stops, n)
			}
		}
		slices.Sort(stops)
	case of.incoming && s.requests[of.parent] != nil:
		stops = append(stops, of.parent)
	}
	return stops
}

// stopClocks makes p stop r's clocks.
func (s *State) stopClocks(p *prompt, r *request) {
	p.stops = append(p.stops, r.n)
	s.wait(r, +1)
	if r.start { // it makes room for another one
		s.startNext()
	}
}

// wait counts the questions that stop r's clocks.
func (s *State) wait(r *request, by int) {
	r.account(s.now)
	r.waits += by
	s.wind(r)
}

// waiting moves r, and the calls that caused it, to StateAwaitingInput.
func (s *State) waiting(r *request) {
	for ; r != nil; r = s.requests[r.parent] {
		if r.state == event.StateRunning || r.state == event.StateTaskWorking ||
			r.state == event.StateQueued && r.incoming {
			s.moveTo(r, event.StateAwaitingInput)
		}
	}
}

// resume moves a call back to running, or to its task, once no open question stops its clocks. The last one that does
// may be about its server and name no call, so every question that closes does this for all requests that it stopped.
func (s *State) resume(r *request) {
	if r.state == event.StateAwaitingInput && !r.incoming && r.waits == 0 {
		to := event.StateRunning
		if r.task {
			to = event.StateTaskWorking
		}
		s.moveTo(r, to)
	}
}

// closePrompt removes a question. It does nothing if somebody else has removed it.
func (s *State) closePrompt(n PromptNumber, end End) {
	p := s.prompts[n]
	if p == nil {
		return
	}
	delete(s.prompts, n)
	r := s.requests[p.request]
	r.prompts = without(r.prompts, n)
	r.answer = answered{among: p.among, stopped: p.stops}
	s.do(PromptClosed{Prompt: n, Request: r.n, Kind: p.kind, End: end})
	for _, stopped := range p.stops {
		s.wait(s.requests[stopped], -1)
		s.resume(s.requests[stopped])
	}
	if p.approval {
		s.approvalClosed(r, end.Cause)
	}
	if sv := s.servers[p.server]; sv != nil && p.form != (Form{}) && end.Cause == event.CauseDeclined {
		sv.launch.declined = p.form
	}
}

// closePromptsOf closes the questions that r waits for, oldest first.
func (s *State) closePromptsOf(r *request, end End) {
	for _, n := range slices.Clone(r.prompts) {
		s.closePrompt(n, end)
	}
}

// endAmong closes the questions for which r was the last candidate: all calls that such a question may belong to are
// over. Otherwise a server that never withdraws a question would use up its places for questions. r was removed from
// the table, and has ended with cause, which shows whether the connection or the hub has ended, too.
func (s *State) endAmong(r *request, cause *event.CancelCause) {
	end := closesWith(cause)
	if end.Cause == event.CauseParent {
		end.Reason = causeOver.Reason // why one candidate was cancelled says nothing about the question
	}
	for _, n := range s.mayBeOf(r.n) {
		p := s.prompts[n]
		if delete(p.candidates, r.n); len(p.candidates) == 0 {
			s.closePrompt(n, end)
		}
	}
}

// mayBeOf returns the open questions that may belong to a call, oldest first.
func (s *State) mayBeOf(call RequestNumber) (list []PromptNumber) {
	for n, p := range s.prompts {
		if _, may := p.candidates[call]; may {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// leaveWaits removes a request that has ended from the questions that stopped its clocks. A question may stay open for
// long, while a host makes one request after the other.
func (s *State) leaveWaits(r *request) {
	if r.waits == 0 {
		return
	}
	for _, p := range s.prompts {
		p.stops = without(p.stops, r.n)
	}
}

// followed makes p stop the clocks of the requests to a further server that waits for the same answer, or no longer.
func (s *State) followed(e *Followed) {
	p := s.prompts[e.Prompt]
	if p == nil { // it has closed, which has released all clocks
		return
	}
	if e.Left {
		i := slices.Index(p.about, e.Server)
		p.about = slices.Delete(p.about, i, i+1)
	}
	if slices.Contains(p.about, e.Server) { // the server waits for it once more
		if !e.Left {
			p.about = append(p.about, e.Server)
		}
		return
	}
	if !e.Left {
		p.about = append(p.about, e.Server)
	}
	for _, n := range s.outgoing(e.Server) {
		r := s.requests[n]
		switch {
		case n == p.request:
		case e.Left:
			p.stops = without(p.stops, n)
			s.wait(r, -1)
			s.resume(r)
		default:
			s.stopClocks(p, r)
		}
	}
}

// closeUnshowable closes the questions that no window can show, including the windows that may still come back. Nobody
// could ever answer them. While an answer is being compared, the window that gave it may have left.
func (s *State) closeUnshowable() {
	for _, n := range s.Prompts() {
		p := s.prompts[n]
		if p != nil && p.comparing == 0 && p.tried == nil && !s.shows.Has(p.kind, p.withTools) {
			s.closePrompt(n, End{Cause: event.CauseSuperseded, Origin: event.OriginPolicy,
				Reason: "no window is left that can show it"})
		}
	}
}

func (s *State) comparing(e *Comparing) {
	p := s.prompts[e.Prompt]
	switch {
	case p == nil:
	case !e.Over:
		p.comparing++
	default:
		if p.comparing--; p.comparing == 0 && !e.Fits { // what fits takes the question next
			s.closeUnshowable()
		}
	}
}

// answerRead ends the request of a question whose asker has learned how it closed.
func (s *State) answerRead(e *AnswerRead) {
	r := s.requests[e.Request]
	if r == nil { // its call was over first
		if e.Left == nil {
			s.do(ReplyDelayed{e.Request})
		}
		return
	}
	chosen := e.End.Cause == event.CauseAnswered || e.End.Cause == event.CauseDeclined ||
		e.End.Cause == event.CauseDismissed
	switch {
	case e.Left != nil: // withdrawn in the same instant: the answer will not be written, so it did not count
		s.cancelRequest(r, e.Left.Ends)
	case !chosen:
		s.cancelRequest(r, &event.CancelCause{Origin: e.End.Origin, Reason: e.End.Reason})
	}
	delayed := e.Left == nil && r.cause != nil && (r.answer.among ||
		slices.ContainsFunc(r.answer.stopped, func(n RequestNumber) bool {
			other := s.requests[n]
			return n != r.n && (other == nil || other.cause != nil)
		}))
	// The hub uses the answer to a question of its own, even if somebody has cancelled that since.
	s.end(r, ending{failed: r.cause != nil && (r.incoming || !chosen)})
	if delayed {
		s.do(ReplyDelayed{r.n})
	}
}

// askerLeft closes a question whose asker has left. If somebody has answered at the same moment, the answer is dropped:
// a question that the server has withdrawn gets no answer.
func (s *State) askerLeft(e *AskerLeft) {
	if e.Prompt != 0 {
		s.closePrompt(e.Prompt, e.Leave.End)
	}
	r := s.requests[e.Request]
	if r == nil {
		return
	}
	s.closePromptsOf(r, e.Leave.End)
	if !e.Leave.Done {
		s.cancelRequest(r, e.Leave.Ends)
	}
	s.end(r, ending{failed: !e.Leave.Done})
}

// closePromptsOn closes the questions that came on a connection, since nobody could take the answers.
func (s *State) closePromptsOn(connection ConnectionNumber) {
	for _, n := range s.Prompts() {
		if p := s.prompts[n]; p != nil && p.by == connection {
			s.closePrompt(n, End{Cause: event.CauseServerGone, Origin: event.OriginTransport, Reason: ConnectionLost})
		}
	}
}

// promptExpired closes a question that nobody has answered in time, as dismissed. It also cancels the question's
// request, which is the call of an approval, the question of a server, or the question about a server. For a question
// in a round of a call it only closes the question.
func (s *State) promptExpired(e *PromptExpired) {
	p := s.prompts[e.Prompt]
	if p == nil {
		return
	}
	s.closePrompt(e.Prompt, End{Cause: event.CauseTimeout, Origin: event.OriginTimeout, Reason: e.Cause.Reason})
	if r := s.requests[p.request]; p.approval || p.about != nil || r.incoming {
		s.cancelRequest(r, e.Cause)
	}
}
