package core

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A cancel that comes before its call may name the server. The name counts: the entry may come later, or be replaced by
// another one of its name, which has another number.
func TestEarlyCancelNamesItsServer(t *testing.T) {
	s := New("hub")
	cancelled := func(e Event) (yes bool) {
		for _, effect := range s.Apply(start, e) {
			_, is := effect.(CancelAccepted)
			yes = yes || is
		}
		return yes
	}
	for _, id := range []string{"a", "b"} {
		cancelled(CancelAsked{ID: id, Server: "s", Cause: &event.CancelCause{Origin: event.OriginUser}})
	}
	if cancelled(RequestMade{ID: "a", Server: 3, Name: "other", Call: true}) {
		t.Error("the cancel of a call of another server was taken for this one")
	}
	if !cancelled(RequestMade{ID: "b", Server: 7, Name: "s", Call: true}) {
		t.Error("a cancel that came before its call was lost")
	}
	if cancelled(CancelAsked{ID: "a", Server: "s"}) || cancelled(CancelAsked{ID: "unknown", Server: "other"}) ||
		!cancelled(CancelAsked{ID: "a", Server: "other", Cause: &event.CancelCause{Origin: event.OriginUser}}) {
		t.Error("a cancel reaches the call of the server that it names, and no other")
	}
}

// A person has agreed to a launch, and somebody cancels the question before the start has read the answer, which
// counts: the question is done.
func TestAnswerThatIsUsedIsNotCancelled(t *testing.T) {
	s := New("hub")
	s.Apply(start, WindowShows{"w", allKinds()})
	s.Apply(start, Asked{Kind: event.PromptServerLaunch, Server: 1, Prefix: "launch", About: []ServerNumber{1}})
	yes := End{Cause: event.CauseAnswered, Origin: event.OriginUser, Window: "w"}
	s.Apply(start, Answered{Prompt: 1, End: yes})
	s.Apply(start, CancelAsked{ID: "launch-hub-1", Cause: &event.CancelCause{Origin: event.OriginUser}})
	ended := false
	for _, effect := range s.Apply(start, AnswerRead{Request: 1, End: yes}) {
		if e, ok := effect.(RequestEnded); ok {
			ended = true
			if e.State != event.StateDone {
				t.Errorf("the question that was answered ends as %s", e.State)
			}
		}
	}
	if !ended {
		t.Error("the question has not ended")
	}
}
