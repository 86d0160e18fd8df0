package core

import (
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// request is an operation that can be cancelled. It is open as long as it is in State.requests.
type request struct {
	n        RequestNumber
	id       string
	server   ServerNumber
	name     string // of the server
	incoming bool   // a server asks it
	start    bool   // it is the start of a session
	call     bool   // its goroutine hands it to the engine
	launch   bool   // the hub asks a person with it whether the server may be launched
	owner    string
	label    string
	client   string      // that makes the call, "" for none
	answers  event.Kinds // of questions, that the client answers
	audience event.Audience
	parent   RequestNumber   // the call in whose course a server asks; 0 = none, or not known
	children []RequestNumber // oldest first
	prompts  []PromptNumber  // that wait for an answer for it, oldest first

	state   event.RequestState
	handed  bool // given to the engine, which may have sent it
	wireID  string
	task    bool  // a task of the server carries it out
	uses    bool  // the connection of its server, until it ends
	gate    *gate // nil = it has needed nothing before it is sent
	since   time.Time
	timings event.Timings
	cancel  event.Cancellation
	cause   *event.CancelCause // of the cancel; nil = it is not cancelled
	waits   int                // open questions that stop its clocks: its own, its children's, those about its server
	clock   clock
	answer  answered          // of a server's question, once it has closed
	late    *event.LateAnswer // that came after its cancel
}

// answered is what remains of a server's question that has closed, until the asker has learned how.
type answered struct {
	among   bool
	stopped []RequestNumber
}

func (r *request) cancellation() *event.Cancellation {
	if r.cause == nil {
		return nil
	}
	c := r.cancel
	return &c
}

// counts reports whether the clocks of r count.
func (r *request) counts() bool {
	switch r.state {
	case event.StateQueued, event.StateConnecting, event.StateRunning, event.StateTaskWorking:
		return r.waits == 0
	}
	return false
}

// idles reports whether the idle clock counts while the clocks count.
func (r *request) idles() bool { return r.state == event.StateRunning }

// successors lists the states that may follow each state of a request. A cancelling request may still end as done: then
// the response was there when the cancel came, and wins.
var successors = map[event.RequestState][]event.RequestState{
	event.StateQueued: {event.StateAwaitingApproval, event.StateConnecting, event.StateRunning, event.StateAwaitingInput,
		event.StateCancelling, event.StateFailed},
	event.StateAwaitingApproval: {event.StateQueued, event.StateCancelling, event.StateFailed},
	event.StateConnecting: {event.StateQueued, event.StateAwaitingApproval, event.StateRunning, event.StateTaskWorking,
		event.StateCancelling, event.StateDone, event.StateFailed},
	event.StateRunning: {event.StateAwaitingInput, event.StateTaskWorking, event.StateConnecting, event.StateCancelling,
		event.StateDone, event.StateFailed},
	event.StateAwaitingInput: {event.StateRunning, event.StateTaskWorking, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateTaskWorking: {event.StateAwaitingInput, event.StateConnecting, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateCancelling: {event.StateCancelled, event.StateDone},
}

// moveTo changes a request's state; nothing else does. It accounts the time, and starts or stops the clocks. It returns
// false, and changes nothing, if the step is not allowed.
func (s *State) moveTo(r *request, to event.RequestState) bool {
	if r.state == to || !slices.Contains(successors[r.state], to) {
		return false
	}
	r.account(s.now)
	r.state = to
	r.handed = r.handed || r.call && to == event.StateRunning
	s.wind(r)
	s.do(RequestShown{Request: r.n, State: to, Moved: true})
	return true
}

// account adds the time since the last change of state or of waiting to its bucket.
func (r *request) account(now time.Time) {
	d := now.Sub(r.since)
	r.since = now
	switch {
	case r.waits > 0 || r.state == event.StateAwaitingApproval || r.state == event.StateAwaitingInput:
		r.timings.Human += d
	case r.state == event.StateRunning || r.state == event.StateTaskWorking || r.state == event.StateCancelling:
		r.timings.Active += d
	default:
		r.timings.Queued += d
	}
}

// make registers the request of a host, a window or a client, or the start of a server.
func (s *State) make(e *RequestMade) {
	switch {
	case s.draining && !e.Start:
		s.do(Refused{Draining})
		return
	case s.byID[e.ID] != 0:
		s.do(Refused{IDInUse})
		return
	}
	r := &request{id: e.ID, server: e.Server, name: e.Name, start: e.Start, call: e.Call, owner: e.Owner, label: e.Label,
		client: e.Client, answers: e.Answers, audience: e.Audience, clock: clock{idle: e.Idle, total: e.Total}}
	if r.id == "" {
		r.id = s.mint(e.Prefix)
	}
	if s.ended.has(r.id) {
		s.unanswered.forget(r.id)
	}
	s.register(r)
	if r.start {
		s.moveTo(r, event.StateConnecting)
		if sv := s.servers[r.server]; sv != nil {
			sv.request = r.n
		}
	}
	if e.ID != "" { // a cancel cannot have meant an id that the hub made only now
		if early := s.early.take(s.now, r.id, r.name); early != nil {
			s.cancelRequest(r, early)
		}
	}
	if s.WindowGone(e.Owner) {
		s.cancelRequest(r, OwnerClosed)
	}
}

// register adds a request, whose id is free, to the table.
func (s *State) register(r *request) {
	s.begun++
	r.n, r.since, r.state = s.begun, s.now, event.StateQueued
	s.requests[r.n], s.byID[r.id] = r, r.n
	if parent := s.requests[r.parent]; parent != nil {
		parent.children = append(parent.children, r.n)
	}
	if !r.incoming {
		// a request that comes while a person is asked about the server waits for the answer, as the earlier ones do
		for _, p := range s.prompts {
			if slices.Contains(p.about, r.server) {
				p.stops = append(p.stops, r.n)
				r.waits++
			}
		}
	}
	s.do(RequestOpened{Request: r.n, ID: r.id, Parent: r.parent})
	s.wind(r)
}

// cancelAsked cancels a request that is named by its id.
func (s *State) cancelAsked(e *CancelAsked) {
	r := s.requests[s.byID[e.ID]]
	switch {
	case r != nil && e.Server != "" && r.name != e.Server:
		s.do(CancelOutcome{event.OutcomeUnknown})
	case r != nil && r.start:
		s.do(Refused{Uncancellable})
	case r != nil:
		s.do(CancelOutcome{event.OutcomeCancelling})
		s.cancelRequest(r, e.Cause)
	case s.ended.has(e.ID):
		if !strings.Contains(e.ID, "-"+s.mark+"-") {
			// a host may reuse its id, and this may be the cancel of the new call, which the cancel has overtaken
			s.early.remember(s.now, e.ID, e.Server, e.Cause)
		}
		s.do(CancelOutcome{event.OutcomeAlreadyFinished})
	default:
		s.early.remember(s.now, e.ID, e.Server, e.Cause)
		s.do(CancelOutcome{event.OutcomeUnknown})
	}
}

// cancelRequest accepts a cancel: what r asked of people is withdrawn, and r's context ends with the cause. The
// goroutine that runs r does the rest. A second cancel changes nothing.
func (s *State) cancelRequest(r *request, cause *event.CancelCause) {
	if r.cause != nil {
		return
	}
	r.cancel, r.cause = event.Cancellation{Origin: cause.Origin, Reason: cause.Reason, Time: s.now}, cause
	s.do(CancelAccepted{Request: r.n, Cancel: r.cancel, Cause: cause})
	s.moveTo(r, event.StateCancelling)
	// before r's questions close: the goroutine that waits for an answer must see the cancel, not a no
	s.do(Stopped{r.n, cause})
	s.endCaused(r, cause)
}

// ending is how the goroutine of a request came back.
type ending struct{ failed, lost, mayContinue bool }

func (s *State) callOver(e *CallOver) {
	r := s.requests[e.Request]
	if r == nil {
		return
	}
	if e.ByServer != nil {
		s.cancelRequest(r, e.ByServer) // which changes nothing if r was cancelled here before
	}
	s.end(r, ending{failed: e.Failed, lost: e.Lost, mayContinue: e.MayContinue})
}

// causeOver is the cause with which everything that a request has caused ends with the request.
var causeOver = &event.CancelCause{Origin: event.OriginParent, Reason: "the request that caused it is over"}

// ConnectionLost is the reason with which everything ends that belongs to a connection.
const ConnectionLost = "the connection to the server ended"

// end removes the request from the table. What it has caused ends with it.
func (s *State) end(r *request, e ending) {
	to := event.StateDone
	switch {
	case e.failed && r.cause != nil: // whatever failed after a cancel was accepted, the request ends as cancelled
		to = event.StateCancelled
	case e.failed:
		to = event.StateFailed
	}
	with := causeOver
	switch {
	case r.cause != nil:
		with = r.cause
	case e.lost:
		with = &event.CancelCause{Origin: event.OriginTransport, Reason: ConnectionLost}
	}
	s.endCaused(r, with)
	s.moveTo(r, to)
	delete(s.requests, r.n)
	delete(s.byID, r.id)
	s.endAmong(r, with)
	s.leaveWaits(r)
	s.ended.add(r.id)
	if parent := s.requests[r.parent]; parent != nil {
		parent.children = without(parent.children, r.n)
	}
	s.released(r)
	ended := RequestEnded{Request: r.n, State: to, Timings: r.timings, Cancel: r.cancellation(), Cause: r.cause,
		With: with}
	switch {
	case to != event.StateCancelled || !r.call:
	case r.late != nil:
		ended.Late = r.late
	case r.handed:
		s.unanswered.add(r)
	}
	s.do(ended)
	s.endTurn(r, e.mayContinue)
	if r.launch {
		s.launchAsked(s.servers[r.server])
	}
}

// endCaused closes the questions of r and of the server requests that r caused, and ends these requests.
func (s *State) endCaused(r *request, cause *event.CancelCause) {
	end := closesWith(cause)
	s.closePromptsOf(r, end)
	for _, n := range slices.Clone(r.children) {
		child := s.requests[n]
		ends := &event.CancelCause{Origin: end.Origin, Reason: cause.Reason}
		// The asker does the same if it sees the end of the connection first. So the windows get the events in the same
		// order in both cases.
		if end.Cause == event.CauseServerGone {
			s.do(Stopped{n, ends})
			s.closePromptsOf(child, end)
		}
		s.cancelRequest(child, ends)
		s.end(child, ending{failed: true})
	}
}

// closesWith returns how the questions of a request close that ends with cause.
func closesWith(cause *event.CancelCause) End {
	end := End{Cause: event.CauseParent, Origin: event.OriginParent, Reason: cause.Reason}
	switch cause.Origin {
	case event.OriginShutdown:
		end.Cause, end.Origin = event.CauseShutdown, event.OriginShutdown
	case event.OriginTransport:
		end.Cause, end.Origin = event.CauseServerGone, event.OriginTransport
	}
	return end
}

// progressed records a sign of life.
func (s *State) progressed(e *Progressed) {
	r := s.requests[e.Request]
	if r == nil || r.cause != nil {
		return
	}
	r.clock.sign = s.now
	if e.Shown {
		s.do(RequestShown{Request: r.n, State: r.state})
	}
}

// taskReported records that a task of the server carries out the request.
func (s *State) taskReported(n RequestNumber) {
	r := s.requests[n]
	if r == nil {
		return
	}
	first := !r.task
	r.task = true
	if r.cause != nil {
		return
	}
	// While a person is asked, r stays in the state of waiting for that; resume moves it back.
	if !first || r.state != event.StateRunning || !s.moveTo(r, event.StateTaskWorking) {
		s.do(RequestShown{Request: r.n, State: r.state})
	}
}

// without returns list without x.
func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(list, func(y T) bool { return x == y })
}
