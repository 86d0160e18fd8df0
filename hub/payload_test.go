package hub_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Each long text of an event counts towards the limits of a window and of what is kept.
func TestPayloadCountsLongText(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, b := range []event.Body{
		&event.ResourceUpdated{URI: long},
		&event.PromptOpened{Prompt: event.PromptInfo{Kind: event.PromptSignIn, SignIn: &event.SignInQuestion{URL: long}}},
		&event.PromptOpened{Prompt: event.PromptInfo{Kind: event.PromptToolApproval,
			Approval: &event.ToolApproval{Changes: []event.DefinitionChange{{Before: long}}}}},
		&event.PromptOpened{Prompt: event.PromptInfo{Kind: event.PromptServerLaunch,
			Launch: &event.LaunchQuestion{Args: []string{long}}}},
		&event.RequestFinished{Err: &event.Error{Message: long}},
		&event.RequestFinished{McpError: &event.McpError{Data: long}},
		&event.RequestCancelled{Err: &event.Error{Meta: map[string]string{"k": long}}},
	} {
		if n := event.PayloadSize(b); n < 1000 {
			t.Errorf("%T counts as %d bytes", b, n)
		}
	}
}

// A server chooses the ids of its questions. One that is longer than the hub's bound is shown in no window and kept
// nowhere; the answer carries it whole.
func TestHugeWireIDIsShownToNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		if _, err := w.hub.StartServer(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		huge := `"` + strings.Repeat("i", 1<<20) + `"`
		if _, err := s.RequestWithID(huge, elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		p := v.prompt()
		if _, err := v.win.Cancel(p.RequestID, "no"); err != nil {
			t.Fatal(err)
		}
		end, _ := v.terminalOf(p.RequestID).(*event.RequestCancelled)
		started := eventsOf[*event.RequestStarted](v)
		if end == nil || end.WireID != "" || started[len(started)-1].Request.WireID != "" {
			t.Errorf("the windows were told %d bytes of an id", len(started[len(started)-1].Request.WireID))
		}
		if got := responses(s); len(got) == 0 || !strings.Contains(got[len(got)-1], huge) {
			t.Error("the answer does not carry the id of its question")
		}
		w.nothingLeft()
	})
}
