package core

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// State is what the hub knows of requests, questions and servers. It is not safe for concurrent use. Only Apply changes
// it.
type State struct {
	mark       string // of the hub, in the ids that it makes
	requests   map[RequestNumber]*request
	byID       map[string]RequestNumber // the open requests
	prompts    map[PromptNumber]*prompt
	begun      RequestNumber
	asked      PromptNumber
	ended      recent
	early      earlyCancels
	unanswered unanswered
	turns      map[ServerNumber]*turns // of the servers whose calls take turns
	gone       gone
	shows      event.Kinds // what all windows can show
	windows    map[string]window
	draining   bool

	servers     map[ServerNumber]*server // that are configured, or have not ended yet
	eager       []ServerNumber           // the queue of starts that no call waits for
	startsNext  bool                     // there may be room for starts of the queue
	connections ConnectionNumber
	askable     uint64 // counts changes after which a start that could ask nobody may succeed

	goneWindows []string // oldest first

	now     time.Time // of the event that is applied
	effects []Effect  // of the event that is applied
}

// New returns a state without requests. mark names the hub in the ids that it makes.
func New(mark string) *State {
	return &State{mark: mark, requests: map[RequestNumber]*request{}, byID: map[string]RequestNumber{},
		prompts: map[PromptNumber]*prompt{}, turns: map[ServerNumber]*turns{}, windows: map[string]window{},
		servers: map[ServerNumber]*server{}}
}

// Apply changes the state by one event, and returns what has to be done, in order. The slice is good until the next
// call.
func (s *State) Apply(at time.Time, e Event) []Effect {
	clear(s.effects)
	s.now, s.effects = at, s.effects[:0]
	switch e := e.(type) { // the events of each call: see applyFurther
	case RequestMade:
		s.make(&e)
	case Looked:
		s.looked(&e)
	case Sent:
		s.sent(&e)
	case CallOver:
		s.callOver(&e)
	default:
		s.applyFurther(e)
	}
	if s.startsNext {
		s.startQueued()
	}
	return s.effects
}

// applyFurther applies an event that not each call causes. The frame of a switch has a copy of each of its kinds, and a
// call that waits keeps the stack that its deepest event needed: with all kinds in one frame, ten thousand calls had 16
// KiB of stack each in place of 8.
func (s *State) applyFurther(e Event) {
	switch e := e.(type) {
	case AnsweredLate:
		s.answeredLate(&e)
	case Progressed:
		s.progressed(&e)
	case TaskReported:
		s.taskReported(e.Request)
	case StartOver:
		s.startOver(&e)
	case CancelAsked:
		s.cancelAsked(&e)
	case ScopeCancelled:
		s.cancelScope(&e)
	case RequestGivenUp:
		if r := s.requests[e.Request]; r != nil {
			s.cancelRequest(r, e.Cause)
		}
	case Asked:
		s.ask(&e)
	case Followed:
		s.followed(&e)
	case Answered:
		s.closePrompt(e.Prompt, e.End)
	case TermsSeen:
		s.termsSeen(&e)
	case ClientUnreachable:
		s.clientUnreachable(&e)
	case ClientGone:
		s.clientGone(e.Client)
	case Comparing:
		s.comparing(&e)
	case AnswerRead:
		s.answerRead(&e)
	case AskerLeft:
		s.askerLeft(&e)
	case ConnectionEnded:
		s.connectionEnded(&e)
	case ServerAdded:
		s.serverAdded(&e)
	case ServerRemoved:
		s.serverRemoved(&e)
	case ServerWanted:
		s.serverWanted(&e)
	case ServerEnded:
		s.serverEnded(&e)
	case MoreShown:
		s.moreShown(&e)
	case AnswerPossible:
		s.askable++
	case LaunchLooked:
		s.launchLooked(&e)
	case WindowShows:
		s.windowShows(&e)
	case WindowDetached:
		s.windowDetached(&e)
	case WindowTimer:
		s.windowTimer(e.Window)
	case Drained:
		s.draining = true
	case RequestTimer:
		s.requestTimer(e.Request)
	case PromptTimer:
		if p := s.prompts[e.Prompt]; p != nil {
			s.do(PromptRanOut{e.Prompt, p.human})
		}
	case TurnTimer:
		s.turnTimer(e.Server)
	case PromptExpired:
		s.promptExpired(&e)
	default:
		s.applyToServer(e)
	}
}

// applyToServer applies an event that means nothing if its server is known no longer.
func (s *State) applyToServer(e Event) {
	of := func(n ServerNumber, do func(sv *server)) {
		if sv := s.servers[n]; sv != nil {
			do(sv)
		}
	}
	switch e := e.(type) {
	case ServerConfigured:
		of(e.Server, func(sv *server) { s.configured(sv, &e) })
	case ServerOutdated:
		of(e.Server, func(sv *server) { s.outdated(sv, e.Cause) })
	case InfoChanged:
		of(e.Server, s.show)
	case StartOrdered:
		of(e.Server, s.startOrdered)
	case StopOrdered:
		of(e.Server, func(sv *server) { s.stopServer(sv, stopOrdered, e.Cause, true) })
	case SwitchOrdered:
		of(e.Server, func(sv *server) { s.switchOrdered(sv, &e) })
	case WaiterLeft:
		of(e.Server, func(sv *server) { s.waiterLeft(sv, &e) })
	case ServerReleased:
		of(e.Server, s.serverReleased)
	case StartAsks:
		of(e.Server, s.stopUnwanted)
	case LaunchSeen:
		of(e.Server, func(sv *server) { s.launchSeen(sv, &e) })
	case ServerStale:
		of(e.Server, s.serverStale)
	case Unsubscribed:
		of(e.Server, s.unused)
	case ServerTimer:
		of(e.Server, func(sv *server) { s.serverTimer(sv, &e) })
	}
}

func (s *State) do(e Effect) { s.effects = append(s.effects, e) }

// mint returns a new request id. It avoids an id that a host has chosen for an open request.
func (s *State) mint(prefix string) string {
	id := OwnID(s.mark, prefix, uint64(s.begun)+1)
	for s.byID[id] != 0 {
		id += "'"
	}
	return id
}

// OwnID returns an id that names its hub by a mark, too. If a hub dies and another one takes its place, an answer or a
// cancel that was meant for the old hub must not find anything in the new one.
func OwnID(mark, prefix string, n uint64) string {
	var room [64]byte
	id := append(append(append(append(room[:0], prefix...), '-'), mark...), '-')
	return string(strconv.AppendUint(id, n, 10))
}

// Request is a copy of what is known of an open request.
type Request struct {
	Number       RequestNumber
	ID           string
	Server       ServerNumber
	State        event.RequestState
	Incoming     bool
	Start        bool // it is the start of a session
	Owner, Label string
	Handed       bool // given to the engine, which may have sent it
	Task         bool
	Waits        bool // a question to a person stops its clocks
	Cancel       *event.Cancellation
	Cause        *event.CancelCause
	Parent       RequestNumber
	Prompts      []PromptNumber // the open ones, oldest first
}

// Request returns an open request. ok is false if there is none.
func (s *State) Request(n RequestNumber) (_ Request, ok bool) {
	r := s.requests[n]
	if r == nil {
		return Request{}, false
	}
	return s.copy(r), true
}

func (s *State) copy(r *request) Request {
	return Request{Number: r.n, ID: r.id, Server: r.server, State: r.state, Incoming: r.incoming, Start: r.start,
		Owner: r.owner, Label: r.label, Handed: r.handed, Task: r.task, Waits: r.waits > 0, Cancel: r.cancellation(),
		Cause: r.cause, Parent: r.parent, Prompts: slices.Clone(r.prompts)}
}

// ByID returns the open request with that id, 0 if there is none.
func (s *State) ByID(id string) RequestNumber { return s.byID[id] }

// Requests returns the open requests, oldest first.
func (s *State) Requests() []Request {
	all := make([]Request, 0, len(s.requests))
	for _, n := range slices.Sorted(maps.Keys(s.requests)) {
		all = append(all, s.copy(s.requests[n]))
	}
	return all
}

// Len returns how many requests are open.
func (s *State) Len() int { return len(s.requests) }

// Draining reports whether the hub takes no more requests.
func (s *State) Draining() bool { return s.draining }

// Open reports whether a question is open.
func (s *State) Open(n PromptNumber) bool { return s.prompts[n] != nil }

// Asked returns how many questions there were.
func (s *State) Asked() PromptNumber { return s.asked }

// Prompts returns the open questions, oldest first.
func (s *State) Prompts() []PromptNumber { return slices.Sorted(maps.Keys(s.prompts)) }

// Hidden reports whether a question is shown to no window.
func (s *State) Hidden(n PromptNumber) bool { return s.prompts[n] != nil && s.prompts[n].hidden }

// Shows returns what windows can show.
func (s *State) Shows() event.Kinds { return s.shows }

// calls returns the open calls of a server.
func (s *State) calls(of ServerNumber) (calls []RequestNumber) {
	for n, r := range s.requests {
		if r.server == of && !r.incoming && !r.start {
			calls = append(calls, n)
		}
	}
	slices.Sort(calls)
	return calls
}

// serverNumbers returns the servers, oldest first.
func (s *State) serverNumbers() []ServerNumber { return slices.Sorted(maps.Keys(s.servers)) }

// outgoing returns the open requests to a server, with its start.
func (s *State) outgoing(of ServerNumber) (list []RequestNumber) {
	for n, r := range s.requests {
		if r.server == of && !r.incoming {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// Questions returns the requests that servers have made in the course of a call, or that may be of it. Their contexts
// may have ended before the call's end is applied: that is applied first.
func (s *State) Questions(of RequestNumber) (questions []RequestNumber) {
	r := s.requests[of]
	if r == nil {
		return nil
	}
	questions = slices.Clone(r.children)
	for _, n := range s.mayBeOf(of) {
		questions = append(questions, s.prompts[n].request)
	}
	return questions
}
