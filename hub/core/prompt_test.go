package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Each second of a request counts once: while it waits for its turn or its server, while it works, or while a person is
// asked for it, by whatever question.
func TestTimings(t *testing.T) {
	s, now := New("hub"), start
	var got event.Timings
	after := func(d time.Duration, e Event) {
		now = now.Add(d)
		for _, effect := range s.Apply(now, e) {
			if ended, ok := effect.(RequestEnded); ok && ended.Request == 1 {
				got = ended.Timings
			}
		}
	}
	after(0, WindowShows{"w", allKinds()})
	after(0, RequestMade{Prefix: "call", Server: 1, Call: true})
	asks := ToolSeen{Called: true, Terms: approvalTerms}
	after(0, Looked{Request: 1, Tool: asks})
	after(0, Looked{Request: 1, Step: 1, Tool: asks})
	after(time.Second, Asked{Of: 1, Kind: event.PromptToolApproval, Server: 1, Approval: true, Terms: approvalTerms})
	after(10*time.Second, Answered{Prompt: 1, End: End{Cause: event.CauseAnswered}})
	after(2*time.Second, Looked{Request: 1, Step: 2, Tool: asks})
	after(4*time.Second, Asked{Kind: event.PromptServerLaunch, Server: 1, Prefix: "launch", About: []ServerNumber{1}})
	after(20*time.Second, Answered{Prompt: 2, End: End{Cause: event.CauseAnswered}})
	after(0, AnswerRead{Request: 2, End: End{Cause: event.CauseAnswered}})
	after(8*time.Second, Looked{Request: 1, Step: 3, Up: true, Tool: asks})
	after(100*time.Second, Asked{Kind: event.PromptSampling, Server: 1, Prefix: "ask", By: 1, Parent: 1})
	after(40*time.Second, Answered{Prompt: 3, End: End{Cause: event.CauseDeclined}})
	after(0, AnswerRead{Request: 3, End: End{Cause: event.CauseDeclined}})
	after(200*time.Second, TaskReported{1})
	after(400*time.Second, RequestGivenUp{1, &event.CancelCause{Origin: event.OriginUser}})
	after(800*time.Second, CallOver{Request: 1, Failed: true})
	want := event.Timings{Queued: 15 * time.Second, Human: 70 * time.Second, Active: 1500 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
