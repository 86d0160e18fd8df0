package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/conversation"
	"github.com/mcphub-go/mcphub/internal/script"
)

// TestConversations plays testdata/*.txt: what people rely on, as events and the effects that follow. With -update the
// effects are written anew. What mcphub trace --core shows of a bug report is such a conversation.
func TestConversations(t *testing.T) {
	script.Texts(t, "testdata/*.txt", func(t *testing.T, text string) string {
		got, err := conversation.Play(text, func(s *core.State, line string) {
			if wrong := s.Inconsistent(); wrong != "" {
				t.Errorf("after %s: %s", line, wrong)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	})
}

// A record for a report has neither what people and servers write nor what names a client, and yet keeps apart what
// differs.
func TestNotationForReport(t *testing.T) {
	write := core.Notation{NoReasons: true, Numbered: true}
	cause := &event.CancelCause{Origin: event.OriginUser, Reason: "SECRET"}
	terms := core.Terms{Launch: "SECRET launch", Definition: "SECRET definition", Policy: event.PolicyAsk}
	other := terms
	other.Definition = "SECRET other"
	var got strings.Builder
	for _, what := range []any{
		core.RequestMade{ID: "a", Call: true, Label: "SECRET label", Client: "SECRET session"},
		core.Asked{OfSome: true, Among: []core.MayAsk{{Request: 1, Client: "SECRET session"},
			{Client: "SECRET 2", Heard: true}}},
		core.ClientGone{Client: "SECRET 2"},
		core.TermsSeen{Prompt: 1, Terms: terms},
		core.TermsSeen{Prompt: 1, Terms: other},
		core.LaunchSeen{Server: 1, Entries: []core.LaunchEntry{
			{EntryID: core.EntryID{File: "SECRET file", Launch: "SECRET launch"}},
			{EntryID: core.EntryID{File: "SECRET 2"}, Form: core.Form{File: "SECRET 2", Hash: "SECRET"}, Held: true}}},
		core.CancelAsked{ID: "a", Cause: cause},
		core.CancelAccepted{Request: 1, Cancel: event.Cancellation{Origin: event.OriginUser, Reason: "SECRET"}, Cause: cause},
		core.AskerLeft{Request: 2, Leave: core.Leave{End: core.End{Origin: event.OriginServer, Reason: "SECRET"},
			Ends: cause}},
		core.WaiterWoken{Server: 1, Why: core.WakeStopped, Reason: "SECRET"},
	} {
		got.WriteString(write.Line(what) + "\n")
	}
	if diff := cmp.Diff(`RequestMade ID="a" Call Label="label-1" Client="client-2"
Asked OfSome Among=1:client-2:unreachable,0:client-3
ClientGone Client="client-3"
TermsSeen Prompt=1 Terms.Launch="launch-4" Terms.Definition="definition-5" Terms.Policy=ask
TermsSeen Prompt=1 Terms.Launch="launch-4" Terms.Definition="definition-6" Terms.Policy=ask
LaunchSeen Server=1 Entries=file-7#launch-4,file-8!hash-9
CancelAsked ID="a" Cause=user
CancelAccepted Request=1 Cancel.Origin=user
AskerLeft Request=2 Leave.End.Origin=server Leave.Ends=user
WaiterWoken Server=1 Why=stopped
`, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
