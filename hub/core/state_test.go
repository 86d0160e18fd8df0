package core

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

// An event may come when what it is of is over, or never was: it changes nothing, and only who waits for an answer gets
// one.
func TestEventsOfWhatIsOver(t *testing.T) {
	cause := &event.CancelCause{Origin: event.OriginUser}
	for _, row := range []struct {
		e    Event
		want []Effect
	}{
		{Looked{Request: 9, Up: true}, []Effect{Refused{CallIsOver}}},
		{Sent{9, "w"}, nil},
		{AnsweredLate{Server: 9, WireID: "w", Request: 9}, nil},
		{AnsweredLate{Server: 1, WireID: "w", Request: 1}, nil},
		{Progressed{9, true}, nil},
		{TaskReported{9}, nil},
		{CallOver{Request: 9}, nil},
		{StartOver{Request: 9}, nil},
		{ScopeCancelled{Scope{Server: 9}, cause}, nil},
		{RequestGivenUp{9, cause}, nil},
		{Asked{Of: 9, Approval: true}, []Effect{Refused{CallIsOver}}},
		{Asked{By: 1, Parent: 9}, []Effect{Refused{CallIsOver}}},
		{Asked{By: 1, OfSome: true, Server: 9}, []Effect{Refused{CallIsOver}}},
		{Followed{9, 1, false}, nil},
		{Followed{9, 1, true}, nil},
		{Answered{Prompt: 9}, nil},
		{TermsSeen{Prompt: 9}, nil},
		{TermsSeen{Prompt: 1}, nil},
		{ClientUnreachable{Prompt: 9}, nil},
		{ClientGone{"n"}, nil},
		{Comparing{Prompt: 9}, nil},
		{AnswerRead{Request: 9}, []Effect{ReplyDelayed{9}}},
		{AnswerRead{Request: 9, Left: &Leave{}}, nil},
		{AskerLeft{Request: 9, Prompt: 9}, nil},
		{ConnectionEnded{9, 9}, nil},
		{ServerRemoved{Server: 9}, nil},
		{WindowDetached{Window: "v", Return: 1}, nil},
		{WindowTimer{"v"}, nil},
		{RequestTimer{9}, nil},
		{PromptTimer{9}, nil},
		{TurnTimer{9}, nil},
		{PromptExpired{9, cause}, nil},
	} {
		s := New("hub")
		s.Apply(start, WindowShows{"w", allKinds()})
		s.Apply(start, RequestMade{Prefix: "call", Server: 1, Call: true})
		s.Apply(start, Looked{Request: 1, Up: true})
		s.Apply(start, Asked{Kind: event.PromptSampling, Server: 1, By: 1, Parent: 1})
		if got := s.Apply(start, row.e); !slices.Equal(got, row.want) {
			t.Errorf("%T: got %+v, want %+v", row.e, got, row.want)
		}
		if s.Len() != 2 || s.Asked() != 1 || !s.Open(1) || s.inconsistent() != "" {
			t.Errorf("%T has changed something: %+v", row.e, s.Requests())
		}
	}
}

// What package hub reads of the state.
func TestWhatIsKnown(t *testing.T) {
	s := New("hub")
	if s.Draining() || s.Len() != 0 || len(s.Requests())+len(s.Prompts()) != 0 {
		t.Error("a new state has something")
	}
	s.Apply(start, WindowShows{"w", allKinds()})
	s.Apply(start, RequestMade{ID: "a", Server: 1, Name: "s", Call: true, Owner: "w", Label: "chat", Client: "m",
		Answers: allKinds()})
	s.Apply(start, RequestMade{Prefix: "start", Server: 2, Start: true})
	s.Apply(start, RequestMade{ID: "b", Server: 1, Call: true})
	s.Apply(start, Looked{Request: 1, Up: true})
	s.Apply(start, Looked{Request: 3, Up: true})
	s.Apply(start, TaskReported{1})
	s.Apply(start, Asked{Kind: event.PromptSampling, Server: 1, Prefix: "ask", By: 1, Parent: 1})
	s.Apply(start, Asked{Kind: event.PromptSampling, Server: 1, Prefix: "ask", By: 1, OfSome: true})
	cause := &event.CancelCause{Origin: event.OriginUser, Reason: "enough"}
	s.Apply(start.Add(time.Second), RequestGivenUp{3, cause})
	want := []Request{
		{Number: 1, ID: "a", Server: 1, State: event.StateAwaitingInput, Owner: "w", Label: "chat", Handed: true,
			Task: true, Waits: true},
		{Number: 2, ID: "start-hub-2", Server: 2, State: event.StateConnecting, Start: true},
		{Number: 3, ID: "b", Server: 1, State: event.StateCancelling, Handed: true, Cause: cause, Cancel: &event.
			Cancellation{Origin: event.OriginUser, Reason: "enough", Time: start.Add(time.Second)}},
		{Number: 4, ID: "ask-hub-4", Server: 1, State: event.StateAwaitingInput, Incoming: true, Parent: 1, Waits: true,
			Prompts: []PromptNumber{1}},
		{Number: 5, ID: "ask-hub-5", Server: 1, State: event.StateAwaitingInput, Incoming: true, Waits: true,
			Prompts: []PromptNumber{2}},
	}
	if diff := cmp.Diff(want, s.Requests()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r, ok := s.Request(2); !ok || r.ID != "start-hub-2" || s.ByID(r.ID) != 2 {
		t.Errorf("request 2: %+v", r)
	}
	if r, ok := s.Request(9); ok || r.Number != 0 || s.ByID("c") != 0 {
		t.Errorf("no request: %+v", r)
	}
	if id := OwnID(s.mark, "call", 1234); id != "call-hub-1234" {
		t.Errorf("an id that the hub makes: %s", id)
	}
	if s.Len() != 5 || s.Asked() != 2 || !s.Open(2) || s.Open(3) || !slices.Equal(s.Prompts(), []PromptNumber{1, 2}) {
		t.Errorf("%d requests, %d questions, open: %v", s.Len(), s.Asked(), s.Prompts())
	}
	if !s.Hidden(1) || s.Hidden(2) || s.Hidden(3) {
		t.Errorf("hidden: %v, %v", s.Hidden(1), s.Hidden(2))
	}
	if a, b, c := s.Questions(1), s.Questions(3), s.Questions(9); !slices.Equal(a, []RequestNumber{4, 5}) ||
		!slices.Equal(b, []RequestNumber{5}) || c != nil {
		t.Errorf("questions of the calls: %v and %v, of none: %v", a, b, c)
	}
	if s.Apply(start, Drained{}); !s.Draining() {
		t.Error("it does not drain")
	}
}

// A scope has the requests that it names, and no start of a session.
func TestScopes(t *testing.T) {
	s := New("hub")
	for _, e := range []RequestMade{
		{Server: 1, Name: "s", Call: true, Owner: "w", Label: "chat"},
		{Server: 2, Name: "s", Call: true, Owner: "v"},
		{Server: 1, Name: "s", Start: true},
		{Server: 3, Name: "other", Call: true, Label: "chat"},
	} {
		e.Prefix = "request"
		s.Apply(start, e)
	}
	for _, row := range []struct {
		scope Scope
		want  []RequestNumber
	}{
		{Scope{}, nil},
		{Scope{All: true}, []RequestNumber{1, 2, 4}},
		{Scope{Server: 1}, []RequestNumber{1}},
		{Scope{Name: "s"}, []RequestNumber{1, 2}},
		{Scope{Label: "chat"}, []RequestNumber{1, 4}},
		{Scope{Owner: "v"}, []RequestNumber{2}},
		{Scope{Owner: "gone"}, nil},
	} {
		if got := s.Within(row.scope); !slices.Equal(got, row.want) {
			t.Errorf("%+v: got %v, want %v", row.scope, got, row.want)
		}
	}
}

// Effects of one event on many objects come in the order in which these began: two windows see the same, and a log can
// be read.
func TestManyAtOnceComeInOrder(t *testing.T) {
	const many = 40
	begin := func() *State {
		s := New("hub")
		s.Apply(start, WindowShows{"w", allKinds()})
		for range many {
			s.Apply(start, RequestMade{Prefix: "call", Server: 1, Call: true, Total: 1, Label: "chat"})
			s.Apply(start, RequestMade{Prefix: "start", Server: 1, Start: true, Total: 1})
		}
		s.Apply(start, RequestMade{Prefix: "call", Server: 2, Call: true, Label: "chat"}) // 81
		return s
	}
	asked := func(s *State, e Asked) {
		e.Kind, e.Prefix = event.PromptSampling, "ask"
		s.Apply(start, e)
	}
	for name, run := range map[string]struct {
		before func(*State)
		e      Event
	}{
		"a scope": {func(*State) {}, ScopeCancelled{Scope{Label: "chat"}, &event.CancelCause{}}},
		"a connection ends": {func(s *State) {
			for range many {
				asked(s, Asked{By: 1, Server: 2, Parent: 81})
			}
		}, ConnectionEnded{Connection: 1}},
		"the last call that questions may be of": {func(s *State) {
			for range many {
				asked(s, Asked{By: 1, Server: 2, OfSome: true})
			}
		}, CallOver{Request: 81}},
		"no window is left": {func(s *State) {
			for range many {
				asked(s, Asked{By: 1, Server: 2})
			}
		}, WindowDetached{Window: "w", Final: true}},
	} {
		s := begin()
		run.before(s)
		last, count := map[reflect.Type]uint64{}, 0
		for _, effect := range s.Apply(start, run.e) {
			v := reflect.ValueOf(effect)
			of := v.FieldByName("Request")
			if p := v.FieldByName("Prompt"); p.IsValid() {
				of = p
			}
			if !of.IsValid() {
				continue
			}
			if count++; of.Uint() < last[v.Type()] {
				t.Errorf("%s: %+v comes after that of %d", name, effect, last[v.Type()])
				break
			}
			last[v.Type()] = of.Uint()
		}
		if count < many {
			t.Errorf("%s: %d effects", name, count)
		}
	}
	s := begin()
	for range many {
		asked(s, Asked{By: 1, Server: 2, OfSome: true})
	}
	if q := s.Questions(81); len(q) != many || !slices.IsSorted(q) {
		t.Errorf("questions that may be of a call: %v", q)
	}
}

// A server that leaves all cancelled calls unanswered fills no memory: the oldest are forgotten.
func TestUnansweredCallsAreBounded(t *testing.T) {
	s := New("hub")
	for n := RequestNumber(1); n <= 2*maxUnanswered; n++ {
		s.Apply(start, RequestMade{Prefix: "call", Server: 1, Name: "s", Call: true})
		s.Apply(start, Looked{Request: n, Up: true})
		s.Apply(start, RequestGivenUp{n, &event.CancelCause{Origin: event.OriginUser}})
		s.Apply(start, CallOver{Request: n, Failed: true, MayContinue: true})
	}
	if len(s.unanswered.calls) != maxUnanswered || len(s.unanswered.order) != maxUnanswered || s.inconsistent() != "" {
		t.Errorf("%d calls are kept, in an order of %d", len(s.unanswered.calls), len(s.unanswered.order))
	}
	told := func(n RequestNumber) bool { return len(s.Apply(start, AnsweredLate{Server: 1, Request: n})) == 1 }
	if told(maxUnanswered) || !told(maxUnanswered+1) || told(maxUnanswered+1) {
		t.Error("windows hear of what was forgotten, or not once of what is known")
	}
}
