package core

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// inconsistent returns what contradicts itself in the state, "" if nothing does.
func (s *State) inconsistent() string {
	stopped := map[RequestNumber]int{}
	for n, p := range s.prompts {
		r := s.requests[p.request]
		switch {
		case p.n != n || r == nil:
			return fmt.Sprintf("prompt %d belongs to a request that is over", n)
		case r.cause != nil:
			return fmt.Sprintf("prompt %d is open, and its request %s is cancelled", n, r.id)
		case !slices.Contains(r.prompts, n):
			return fmt.Sprintf("request %s does not know its prompt %d", r.id, n)
		case p.among != (p.candidates != nil) || p.among && (!r.incoming || r.parent != 0):
			return fmt.Sprintf("prompt %d may belong to %v, and its call is known, or it is the hub's own", n, p.candidates)
		case p.among && len(p.candidates) == 0:
			return fmt.Sprintf("prompt %d is open, and all calls are over that it may belong to", n)
		case p.hidden && p.tried == nil:
			return fmt.Sprintf("prompt %d is hidden, and no client is asked", n)
		case p.comparing == 0 && p.tried == nil && !s.shows.Has(p.kind, p.withTools):
			return fmt.Sprintf("prompt %d is open, and nobody could answer it", n)
		}
		for c := range p.candidates {
			if s.requests[c] == nil {
				return fmt.Sprintf("prompt %d may belong to request %d, which is over", n, c)
			}
		}
		for i, c := range p.stops {
			if s.requests[c] == nil || slices.Contains(p.stops[:i], c) {
				return fmt.Sprintf("prompt %d stops the clocks of %v", n, p.stops)
			}
			if stops := s.requests[c]; p.about != nil && c != p.request && !slices.Contains(p.about, stops.server) {
				return fmt.Sprintf("prompt %d stops the clocks of %s, which does not wait for it", n, stops.id)
			}
			stopped[c]++
		}
		for _, r := range s.requests { // no clock of a request that waits for the server may run
			if !r.incoming && slices.Contains(p.about, r.server) && !slices.Contains(p.stops, r.n) {
				return fmt.Sprintf("request %s waits for prompt %d, which does not stop its clocks", r.id, n)
			}
		}
	}
	for n, r := range s.requests {
		limited := r.clock.idle > 0 || r.clock.total > 0
		_, _, counts := r.clock.left(start, r.idles())
		switch {
		case r.n != n || s.byID[r.id] != n:
			return fmt.Sprintf("request %s is found under another number or id", r.id)
		case r.state.Terminal():
			return fmt.Sprintf("request %s is %s and in the table", r.id, r.state)
		case r.waits != stopped[n]:
			return fmt.Sprintf("request %s waits for %d prompts, and %d stop its clocks", r.id, r.waits, stopped[n])
		case !r.incoming && r.state == event.StateAwaitingInput && r.waits == 0:
			return fmt.Sprintf("request %s waits for nobody", r.id)
		case limited && r.counts() == r.clock.since.IsZero():
			return fmt.Sprintf("request %s is %s and waits for %d prompts, and its clocks run: %v", r.id, r.state, r.waits,
				!r.clock.since.IsZero())
		case limited && counts && r.clock.due.IsZero() && !r.start: // package hub ends a start that has expired
			return fmt.Sprintf("the clocks of request %s run, and no timer is set", r.id)
		case (r.cause != nil) != (r.state == event.StateCancelling):
			return fmt.Sprintf("request %s is %s, cancelled: %v", r.id, r.state, r.cause != nil)
		case r.start && r.cause != nil:
			return fmt.Sprintf("the start %s was cancelled", r.id)
		case r.parent != 0 && (s.requests[r.parent] == nil || !slices.Contains(s.requests[r.parent].children, n)):
			return fmt.Sprintf("request %s has outlived its parent, or is not known to it", r.id)
		case r.parent != 0 && s.requests[r.parent].cause != nil:
			return fmt.Sprintf("request %s goes on, and its parent is cancelled", r.id)
		}
		for _, p := range r.prompts {
			if s.prompts[p] == nil {
				return fmt.Sprintf("request %s has the prompt %d, which is closed", r.id, p)
			}
		}
	}
	for n, sv := range s.servers {
		if wrong := s.serverInconsistent(sv); wrong != "" {
			return fmt.Sprintf("server %d is %s: %s", n, sv.state, wrong)
		}
	}
	for n, t := range s.turns {
		if wrong := s.turnsInconsistent(t); wrong != "" {
			return fmt.Sprintf("turns at server %d: %s", n, wrong)
		}
	}
	for n, c := range s.unanswered.calls {
		if s.requests[n] != nil || s.byID[c.id] != 0 || s.unanswered.byID[c.id] != n ||
			!slices.Contains(s.unanswered.order, n) {
			return fmt.Sprintf("request %d is over and unanswered, and open, or its id is, or it is kept for ever", n)
		}
	}
	if len(s.byID) != len(s.requests) {
		return fmt.Sprintf("%d ids of %d requests", len(s.byID), len(s.requests))
	}
	return ""
}

func (s *State) serverInconsistent(sv *server) string {
	at := *sv
	at.restAnew()
	soon := func(due time.Time) bool { return due.IsZero() || !sv.due.IsZero() && !sv.due.After(due) }
	switch {
	case at.state != sv.state:
		return "it rests as " + at.state.String()
	case sv.removed && sv.state.Rests():
		return "it was removed, and is not forgotten"
	case sv.planned() && (!sv.state.Rests() || !sv.usable() || sv.gaveUp):
		return "a start is to come"
	case sv.starting != (sv.state == event.ServerConnecting) && sv.state != event.ServerStopping:
		return fmt.Sprintf("a start is under way: %v", sv.starting)
	case !sv.state.Rests() && sv.gaveUp:
		return "it was given up"
	case sv.gaveUp && sv.failures < giveUpAfter:
		return fmt.Sprintf("it was given up after %d failures", sv.failures)
	case len(sv.waiters) > 0 && (sv.state == event.ServerReady || sv.state.Rests() && !sv.planned()):
		return "somebody waits for it for ever"
	case sv.users < 0:
		return fmt.Sprintf("%d use it", sv.users)
	case sv.intent == intentRestart && sv.state != event.ServerStopping && !slices.Contains(s.eager, sv.n):
		return "it is to be started again, and nothing does it"
	case sv.closing.cause != nil && (sv.state != event.ServerStopping || len(sv.closing.after) == 0):
		return "its session is to be closed, and nothing does it"
	case sv.idle != idleness{} && sv.state != event.ServerReady:
		return "its idle clock runs"
	case !soon(sv.plan.due) || !soon(sv.idle.renew) ||
		!sv.idle.since.IsZero() && !soon(sv.idle.since.Add(sv.entry.IdleStop)):
		return "its timer fires too late"
	case sv.stale && sv.state == event.ServerReady && sv.idle.renew.IsZero() && !s.draining && !s.renewMustWait(sv):
		return "it is to be connected anew, and nothing does it"
	case sv.successor != 0 && (!sv.removed || s.servers[sv.successor] == nil):
		return "another one waits for its end"
	}
	for _, n := range sv.closing.after {
		if r := s.requests[n]; r == nil || r.cause == nil {
			return fmt.Sprintf("its session waits for request %d, which nothing ends", n)
		}
	}
	return ""
}

func (s *State) renewMustWait(sv *server) bool {
	return sv.users > 0 || slices.ContainsFunc(slices.Collect(maps.Values(s.requests)), func(r *request) bool {
		return r.server == sv.n && (r.uses || r.incoming)
	})
}

func (s *State) turnsInconsistent(t *turns) string {
	counted := map[string]clientTurns{}
	for n, of := range t.of {
		client := counted[of.client]
		switch of.phase {
		case turnWaits:
			if r := s.requests[n]; r == nil || !slices.Contains(t.waiting, n) {
				return fmt.Sprintf("request %d waits and is not in the queue, or over", n)
			}
			continue
		case turnRuns:
			if s.requests[n] == nil {
				return fmt.Sprintf("request %d runs, and is over", n)
			}
			client.running++
		case turnKept:
			if s.requests[n] != nil || !slices.Contains(t.kept, n) || t.due.IsZero() {
				return fmt.Sprintf("request %d keeps its turn, and nothing ends that", n)
			}
			client.kept++
		}
		counted[of.client] = client
	}
	for client, of := range t.clients {
		if c := counted[client]; c.running != of.running || c.kept != of.kept || of.running+of.kept == 0 {
			return fmt.Sprintf("client %s has %+v, counted %+v", client, of, c)
		}
	}
	for wireID, n := range t.sent {
		if of, has := t.of[n]; !has || of.wireID != wireID {
			return fmt.Sprintf("%s leads to request %d, which has no such turn", wireID, n)
		}
	}
	if len(t.waiting) > 0 {
		first := t.of[t.waiting[0]]
		if free, _ := s.free(t, first.client); free && s.now.Equal(start) || t.due.IsZero() {
			return fmt.Sprintf("request %d waits, and for nobody, or for ever", t.waiting[0])
		}
	}
	return ""
}

// answer returns what whoever tells an event is answered, as far as it is known outside; 0 and 0 if it is not refused
// and nobody has asked for a cancel.
func (w *world) answer(e Event) (why Refusal, outcome event.Outcome) {
	over := func(n RequestNumber) bool { return n != 0 && (w.said[n].ended || w.said[n].cause != nil) }
	switch e := e.(type) {
	case CancelAsked:
		ended := func(c call) bool { return c.n != 0 && c.ended > 0 && w.id(w.position(&c)) == e.ID }
		switch r := w.st.requests[w.st.byID[e.ID]]; {
		case r != nil && r.start:
			return Uncancellable, 0
		case r != nil:
			return 0, event.OutcomeCancelling
		case slices.ContainsFunc(w.calls, ended):
			return 0, event.OutcomeAlreadyFinished
		}
		return 0, event.OutcomeUnknown
	case RequestMade:
		if w.drained && !e.Start {
			return Draining, 0
		}
		if w.st.byID[e.ID] != 0 {
			return IDInUse, 0
		}
	case Looked:
		switch r := w.st.requests[e.Request]; {
		case over(e.Request):
			return CallIsOver, 0
		case w.rules.approval && r.passed().need == NeedApprovals && !w.canShow():
			return NoApprover, 0
		case r.handed:
			return OutOfStep, 0
		}
	case Asked:
		open := func(c call) bool { return c.n != 0 && c.ended == 0 && w.server(w.position(&c)) == e.Server }
		if over(e.Of) || over(e.Parent) || e.OfSome && !slices.ContainsFunc(w.calls, open) {
			return CallIsOver, 0
		}
		if w.drained {
			return Draining, 0
		}
		if !w.canShow() && (e.By == 0 || !w.rules.client && !w.rules.turns) {
			return Unshowable, 0
		}
	}
	return 0, 0
}

// answered returns what is wrong with the answer that an event got.
func (w *world) answered(e Event, why Refusal, outcome event.Outcome, effects []Effect) string {
	var got []Effect
	for _, effect := range effects {
		switch effect.(type) {
		case Refused, CancelOutcome:
			got = append(got, effect)
		}
	}
	switch {
	case why != 0 && (len(effects) != 1 || effects[0] != Refused{why}):
		return fmt.Sprintf("%T %+v brings %+v, and must only be refused: %v", e, e, effects, why)
	case outcome != 0 && (len(got) != 1 || got[0] != CancelOutcome{outcome}),
		why == 0 && outcome == 0 && len(got) > 0 && !(w.rules.turns && got[0] == Refused{Unshowable}):
		return fmt.Sprintf("%T %+v is answered %+v, and must be: %v", e, e, got, outcome)
	}
	return ""
}

// told plays what an effect does outside, and returns what must not be ordered, "" if nothing is wrong.
func (w *world) told(e Effect) string {
	call := func(n RequestNumber) *call {
		for i := range w.calls {
			if w.calls[i].n == n && n != 0 {
				return &w.calls[i]
			}
		}
		return nil
	}
	asked := func(p PromptNumber) *question {
		for i := range w.questions {
			if w.questions[i].p == p && p != 0 {
				return &w.questions[i]
			}
		}
		return nil
	}
	if wrong := w.saidOf(e); wrong != "" {
		return wrong
	}
	switch e := e.(type) {
	case RequestOpened:
		for i := range w.calls {
			if c := &w.calls[i]; c.phase > callUnmade && c.n == 0 && c.ended == 0 && w.newest(e.Request) {
				c.n = e.Request
				break
			}
		}
	case CancelAccepted:
		if c := call(e.Request); c != nil {
			if c.cancels++; c.cancels > 1 || c.ended > 0 {
				return fmt.Sprintf("request %d is cancelled for the %d. time, or is over", e.Request, c.cancels)
			}
		}
	case Stopped:
		if c := call(e.Request); c != nil {
			c.stopped = true
		}
	case RequestEnded:
		c := call(e.Request)
		switch {
		case c == nil:
		case c.ended > 0:
			return fmt.Sprintf("request %d ends for the second time", e.Request)
		case c.phase != callOver:
			return fmt.Sprintf("request %d ends, and its goroutine has not come back", e.Request)
		case c.result && e.State != event.StateDone:
			return fmt.Sprintf("request %d has a result, and ends as %s", e.Request, e.State)
		case !c.result && c.cancels > 0 && e.State != event.StateCancelled:
			return fmt.Sprintf("request %d is cancelled, and ends as %s", e.Request, e.State)
		case c.server && (e.Cancel == nil || e.Cancel.Origin != event.OriginServer):
			return fmt.Sprintf("request %d was cancelled by its server, and ends with %+v", e.Request, e)
		case (c.cancels > 0) != (e.Cancel != nil):
			return fmt.Sprintf("request %d was cancelled %d times, and its end has %v", e.Request, c.cancels, e.Cancel)
		}
		if c != nil {
			c.ended++
		}
	case PromptOpened:
		q := asked(e.Prompt)
		if limited := q != nil; e.Open != start || e.Expires.IsZero() == limited || limited && e.Expires.Sub(start) != 1 {
			return fmt.Sprintf("prompt %d is open from %v to %v", e.Prompt, e.Open, e.Expires)
		}
		if q != nil {
			if q.client, q.hidden = e.Client != 0, e.Hidden; !q.hidden {
				q.opened++
			}
		}
		if among, past := w.among(); q != nil && e.Client != 0 && w.rules.turns {
			for _, may := range among {
				if w.client(w.position(call(e.Client))) != may.Client || len(past) > 0 {
					return fmt.Sprintf("prompt %d goes to the client of %d, and may be of another one's call", e.Prompt, e.Client)
				}
			}
		}
	case ClientAsked:
		asked(e.Prompt).client = true
	case TurnCame:
		if c := call(e.Request); !c.waits || c.ended > 0 {
			return fmt.Sprintf("request %d has its turn, and does not wait for it", e.Request)
		}
		c := call(e.Request)
		c.waits, c.beside = false, !w.st.now.Equal(start)
	case RequestShown:
		if c := call(e.Request); c != nil && w.rules.taken && !w.removed && e.State == event.StateRunning && !c.beside {
			for i, other := range w.calls {
				if w.client(i) != w.client(w.position(c)) && !other.beside &&
					(other.phase == callRunning && other.ended == 0 || other.lingers && w.st.now.Equal(start)) {
					return fmt.Sprintf("request %d is sent, and may be confused with that of another client", e.Request)
				}
			}
		}
	case PromptShown:
		if q := asked(e.Prompt); q != nil {
			if q.opened++; q.opened > 1 {
				return fmt.Sprintf("prompt %d is shown twice", e.Prompt)
			}
		}
	case PromptClosed:
		end := e.End
		if q := asked(e.Prompt); q != nil {
			if q.closed != nil {
				return fmt.Sprintf("prompt %d closes twice", e.Prompt)
			}
			q.closed = &end
			if own := w.ownQuestion(w.index(q)); own && end.Cause == event.CauseServerGone {
				return fmt.Sprintf("prompt %d is the hub's own, and closes with a connection", e.Prompt)
			}
		}
		for i := range w.calls {
			if c := &w.calls[i]; c.prompt == e.Prompt {
				c.closed = &end
			}
		}
	}
	return ""
}

// saidOf keeps what an effect says of a request, of whatever kind, and returns what contradicts what was said before.
func (w *world) saidOf(e Effect) string {
	switch e := e.(type) {
	case RequestOpened:
		if w.drained && !w.st.requests[e.Request].start {
			return fmt.Sprintf("request %d opens, and the hub drains", e.Request)
		}
		w.said[e.Request] = said{state: event.StateQueued, parent: e.Parent, opened: w.st.now}
	case RequestShown:
		r := &w.said[e.Request]
		switch {
		case r.ended:
			return fmt.Sprintf("request %d is %s after its end", e.Request, e.State)
		case e.Moved && !slices.Contains(successors[r.state], e.State), !e.Moved && r.state != e.State:
			return fmt.Sprintf("request %d is %s, and was %s", e.Request, e.State, r.state)
		case !e.Moved && r.cause != nil:
			return fmt.Sprintf("request %d is cancelled, and goes on", e.Request)
		}
		r.state = e.State
	case CancelAccepted:
		r := &w.said[e.Request]
		if r.cause != nil || r.ended {
			return fmt.Sprintf("request %d is cancelled twice, or after its end", e.Request)
		}
		if e.Cancel != (event.Cancellation{Origin: e.Cause.Origin, Reason: e.Cause.Reason, Time: w.st.now}) {
			return fmt.Sprintf("request %d is cancelled with %+v, for %v", e.Request, e.Cancel, e.Cause)
		}
		r.cause = e.Cause
	case Stopped:
		r := &w.said[e.Request]
		if r.stopped && !w.lost || r.ended { // when a connection is lost, the question of a server ends first
			return fmt.Sprintf("the context of request %d ends twice, or after its end", e.Request)
		}
		r.stopped = true
	case RequestEnded:
		r := &w.said[e.Request]
		switch {
		case r.ended, r.state != e.State, !e.State.Terminal(), e.With == nil, e.Cause != r.cause,
			(e.Cancel == nil) != (r.cause == nil),
			r.cause != nil && (e.With != r.cause || e.Cancel.Origin != r.cause.Origin),
			(e.Late != nil) != (r.late && e.State == event.StateCancelled):
			return fmt.Sprintf("request %d ends with %+v, and it was said: %+v", e.Request, e, *r)
		}
		r.ended, r.heard = true, e.Late != nil
		if of := e.Timings; of.Queued+of.Active+of.Human != w.st.now.Sub(r.opened) {
			return fmt.Sprintf("request %d was open for %v, and took %+v", e.Request, w.st.now.Sub(r.opened), of)
		}
		if slices.ContainsFunc(w.questions, func(q question) bool { return q.n == e.Request }) &&
			e.State == event.StateFailed {
			return fmt.Sprintf("question %d ends as failed", e.Request)
		}
	case RequestAnsweredLate:
		r := &w.said[e.Request]
		if !r.ended || r.state != event.StateCancelled || !r.late || r.heard {
			return fmt.Sprintf("request %d is said to be answered late, and it was said: %+v", e.Request, *r)
		}
		r.heard = true
	case PromptOpened:
		if w.drained {
			return fmt.Sprintf("prompt %d opens, and the hub drains", e.Prompt)
		}
	case PromptClosed:
		if r := w.said[e.Request]; r.cause != nil && !r.stopped {
			return fmt.Sprintf("prompt %d closes before the context of its cancelled request has ended", e.Prompt)
		}
		if wrong := w.closesFor(e); wrong != "" {
			return wrong
		}
		if e.End.Cause == event.CauseParent && w.rules.among {
			for i := range w.calls {
				if c := w.calls[i]; c.n != 0 && c.n < e.Request && w.st.requests[c.n] != nil {
					return fmt.Sprintf("prompt %d closes, and call %d, of which it may be, is open", e.Prompt, i)
				}
			}
		}
	case RequestTimerSet:
		w.said[e.Request].timer = e.At
	case TurnTimerSet:
		w.turnTimer = e.At
	case ReplyDelayed:
		r := w.said[e.Request]
		if !r.ended || r.cause == nil || r.parent != 0 && !w.said[r.parent].ended && w.said[r.parent].cause == nil {
			return fmt.Sprintf("the reply to question %d is delayed, and neither it nor its call was cancelled", e.Request)
		}
	}
	return ""
}

// closesFor returns what is wrong with the reason for which a prompt closes.
func (w *world) closesFor(e PromptClosed) string {
	origin := event.Origin(0)
	if cause := w.said[e.Request].cause; cause != nil {
		origin = cause.Origin
	}
	shuts, gone := e.End.Cause == event.CauseShutdown, e.End.Cause == event.CauseServerGone
	if shuts && !w.drained || gone && !w.lost ||
		shuts != (e.End.Origin == event.OriginShutdown) || gone != (e.End.Origin == event.OriginTransport) ||
		origin == event.OriginShutdown && !shuts || origin == event.OriginTransport && !gone {
		return fmt.Sprintf("prompt %d closes with %+v, and its request was cancelled by %v", e.Prompt, e.End, origin)
	}
	return ""
}

func (w *world) position(c *call) int {
	return slices.IndexFunc(w.calls, func(other call) bool { return other.n == c.n })
}

func (w *world) index(q *question) int {
	return slices.IndexFunc(w.questions, func(other question) bool { return other.p == q.p })
}

// follows reports whether the open requests to the other server wait for p exactly if that server does.
func (w *world) follows(p *prompt, follows bool) bool {
	for n, r := range w.st.requests {
		if r.server == 2 && slices.Contains(p.stops, n) != follows {
			return false
		}
	}
	return true
}

// newest reports whether the request was made just now, by a call.
func (w *world) newest(n RequestNumber) bool {
	r := w.st.requests[n]
	return r == nil || !r.incoming && (r.call || r.start)
}

// wrong returns what must not be in the world as a whole.
func (w *world) wrong() string {
	busy := false
	for i := range w.calls {
		c := &w.calls[i]
		busy = busy || c.phase != callOver && c.phase != callUnmade
		if c.phase == callAsking && c.closed != nil && !c.stopped && c.closed.Cause != event.CauseAnswered &&
			c.closed.Cause != event.CauseDeclined && c.closed.Cause != event.CauseDismissed &&
			c.closed.Cause != event.CauseSuperseded {
			return fmt.Sprintf("call %d waits for its end, and nothing ends it: %+v", i, *c.closed)
		}
		if c.missed {
			return fmt.Sprintf("call %d: a cancel came before it, and it was not cancelled, or it was, and none came", i)
		}
		if r := w.st.requests[c.n]; r != nil && w.rules.owners && w.windows[0] == away && r.cause == nil {
			return fmt.Sprintf("call %d goes on, and the window that owns it is gone", i)
		}
		if c.phase == callOver && c.ended != 1 {
			return fmt.Sprintf("call %d is over, and ended %d times", i, c.ended)
		}
		if r := w.said[c.n]; r.ended && r.state == event.StateCancelled && r.late != r.heard {
			return fmt.Sprintf("call %d was cancelled and answered late: %v, and the windows know: %v", i, r.late, r.heard)
		}
		if r := w.st.requests[c.n]; r != nil && c.ended == 0 && r.cause != nil != c.stopped {
			return fmt.Sprintf("call %d: cancelled %v, its context has ended: %v", i, r.cause != nil, c.stopped)
		}
	}
	for i := range w.questions {
		q := &w.questions[i]
		busy = busy || q.phase == 1
		p := w.st.prompts[q.p]
		switch {
		case p != nil && q.phase == 1 && !q.client && !w.canShow() && q.compare != 1:
			return fmt.Sprintf("question %d is open, and nobody could answer it", i)
		case p != nil && q.phase == 1 && w.heard && !w.ownQuestion(i):
			return fmt.Sprintf("question %d is open, and its connection has ended", i)
		case p != nil && q.phase == 2:
			return fmt.Sprintf("question %d is open, and nobody waits for the answer", i)
		case q.written && q.left != nil:
			return fmt.Sprintf("question %d was withdrawn, and answered", i)
		case q.phase == 1 && q.closed == nil && w.st.prompts[q.p] == nil:
			return fmt.Sprintf("question %d is not open, and whoever asked was not told", i)
		case p != nil && w.ownQuestion(i) && !w.follows(p, q.follows):
			return fmt.Sprintf("question %d: another server follows: %v; its requests wait, or do not", i, q.follows)
		case q.phase == 2 && q.closed != nil && q.closed.Cause == event.CauseParent && q.n != 0 && q.left == nil &&
			!q.delayed && !w.ownQuestion(i):
			return fmt.Sprintf("question %d was answered at once, and its call is over", i)
		case q.phase == 2 && q.n != 0 && w.ownQuestion(i) && q.written && q.closed.Cause < event.CauseWithdrawn &&
			w.said[q.n].state != event.StateDone:
			return fmt.Sprintf("question %d was answered with %v, and ends as %s", i, q.closed.Cause, w.said[q.n].state)
		case q.phase == 2 && q.n != 0 && w.st.requests[q.n] != nil:
			return fmt.Sprintf("question %d is over, and its request is not", i)
		}
	}
	for n, r := range w.st.requests {
		if due := r.clock.due; !due.IsZero() && !due.Equal(w.said[n].timer) {
			return fmt.Sprintf("the clocks of request %d count on a timer at %v, and it is set to %v", n, due, w.said[n].timer)
		}
	}
	if t := w.st.turns[1]; t != nil && !t.due.IsZero() && !t.due.Equal(w.turnTimer) {
		return fmt.Sprintf("the turns count on a timer at %v, and it is set to %v", t.due, w.turnTimer)
	}
	if t := w.st.turns[1]; t != nil && (!busy && len(t.waiting) > 0 || len(t.kept) > 0 && t.due.IsZero()) {
		return fmt.Sprintf("%v wait for their turn, and %v keep it, for ever", t.waiting, t.kept)
	}
	if !busy && len(w.st.requests)+len(w.st.prompts) > 0 {
		return fmt.Sprintf("nobody waits for anything, and %d requests and %d prompts are left", len(w.st.requests),
			len(w.st.prompts))
	}
	return ""
}
