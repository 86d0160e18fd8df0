package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// The cause that ended the context of a question decides how it closes, and what its request says.
func TestWithdrawn(t *testing.T) {
	byUser := &event.CancelCause{Origin: event.OriginUser, Reason: "not needed"}
	draining := &event.CancelCause{Origin: event.OriginShutdown, Reason: "bye"}
	for name, row := range map[string]struct {
		cause  error
		closes event.PromptCause
		reason string
		ends   event.CancelCause
	}{
		"by the server": {&jsonrpc.WithdrawnError{Reason: "changed my mind"}, event.CauseWithdrawn, "changed my mind",
			event.CancelCause{Origin: event.OriginServer, Reason: "changed my mind"}},
		"with its call": {byUser, event.CauseParent, "not needed",
			event.CancelCause{Origin: event.OriginParent, Reason: "not needed"}},
		"with the hub": {draining, event.CauseShutdown, "bye", *draining},
		"the page is done": {&mcp.ElicitationCompleted{}, event.CauseSuperseded,
			"the server reports that the page is done", event.CancelCause{Origin: event.OriginServer}},
		"by another question": {&mcp.SiblingError{}, event.CauseParent, "another question of the same call ended it",
			event.CancelCause{Origin: event.OriginParent, Reason: "another question of the same call ended it"}},
		"with its connection": {jsonrpc.ErrClosed, event.CauseServerGone, core.ConnectionLost,
			event.CancelCause{Origin: event.OriginTransport, Reason: core.ConnectionLost}},
		"for no known reason": {context.Canceled, event.CauseServerGone, core.ConnectionLost,
			event.CancelCause{Origin: event.OriginTransport, Reason: core.ConnectionLost}},
		"without a cause": {nil, event.CauseServerGone, core.ConnectionLost,
			event.CancelCause{Origin: event.OriginTransport, Reason: core.ConnectionLost}},
	} {
		t.Run(name, func(t *testing.T) {
			closes, reason, ends := withdrawnBy(row.cause)
			if closes != row.closes || reason != row.reason {
				t.Errorf("closes as %s: %q", closes, reason)
			}
			if diff := cmp.Diff(&row.ends, ends); diff != "" {
				t.Error(diff)
			}
		})
	}
	// The server chooses its reason, and how long it is.
	if _, reason, ends := withdrawnBy(&jsonrpc.WithdrawnError{Reason: strings.Repeat("ä", 1<<20)}); len(
		reason) > 2<<10 ||
		ends.Reason != reason {
		t.Errorf("a reason of %d bytes is told", len(reason))
	}
}

func TestSignInOver(t *testing.T) {
	for name, row := range map[string]struct {
		cause    error
		closes   event.PromptCause
		origin   event.Origin
		cameBack bool
	}{
		"the browser came back": {&signin.Completed{}, event.CauseSuperseded, event.OriginUser, true},
		"signed out":            {signin.ErrSignedOut, event.CauseParent, event.OriginHost, false},
		"server removed":        {signin.ErrClosed, event.CauseParent, event.OriginHost, false},
		"nobody waits":          {context.Canceled, event.CauseParent, event.OriginParent, false},
	} {
		closes, origin, reason, cameBack := signInEnded(row.cause)
		if closes != row.closes || origin != row.origin || cameBack != row.cameBack || reason == "" {
			t.Errorf("%s: closes as %s by %s: %q, came back: %v", name, closes, origin, reason, cameBack)
		}
	}
}

// Each kind that is a request of its own has its words; an address is told without its query, which may be secret.
func TestWordsOf(t *testing.T) {
	for _, row := range []struct {
		prompt event.PromptInfo
		want   promptWords
	}{
		{event.PromptInfo{Kind: event.PromptSampling}, promptWords{method: "sampling/createMessage", name: "ask"}},
		{event.PromptInfo{Kind: event.PromptElicitationForm}, promptWords{method: "elicitation/create", name: "ask"}},
		{event.PromptInfo{Kind: event.PromptElicitationURL}, promptWords{method: "elicitation/create", name: "ask"}},
		{event.PromptInfo{Kind: event.PromptSignIn, SignIn: &event.SignInQuestion{Issuer: "https://as.example"}},
			promptWords{method: "authorization", subject: "https://as.example", name: "sign-in", wants: "a sign-in",
				shows: "sign-ins"}},
		{event.PromptInfo{Kind: event.PromptServerLaunch, Launch: &event.LaunchQuestion{Command: "npx", Args: []string{"x"}}},
			promptWords{method: "launch", subject: "npx", name: "launch", wants: "your consent to start it",
				shows: "server launches"}},
		{event.PromptInfo{Kind: event.PromptServerLaunch,
			Launch: &event.LaunchQuestion{URL: "https://x.example/mcp?key=tok-1"}},
			promptWords{method: "launch", subject: "https://x.example/mcp", name: "launch",
				wants: "your consent to start it", shows: "server launches"}},
		{event.PromptInfo{Kind: event.PromptConfigInput, Input: &event.InputQuestion{InputID: "to\x1bken"}},
			promptWords{method: "input", subject: "to\x1bken", name: "input", shows: "config inputs",
				wants: `the input "to\\u001bken" of its config`}},
	} {
		if diff := cmp.Diff(row.want, promptWordsOf(&row.prompt), cmp.AllowUnexported(promptWords{})); diff != "" {
			t.Errorf("%s: %s", row.prompt.Kind, diff)
		}
	}
}

// Whether a sample is about tools is read by the exact name, from an array that has something in it: a window that
// cannot show tools must not be shown them.
func TestOfAQuestion(t *testing.T) {
	for payload, want := range map[string]bool{
		`{"messages":[]}`:               false,
		`{"tools":[]}`:                  false,
		`{"tools":[{"name":"x"}]}`:      true,
		`{"tools":[null]}`:              true,
		`{"\u0074ools":[{"name":"x"}]}`: true,
		`{"Tools":[{"name":"x"}]}`:      false,
		`{"tools":{"name":"x"}}`:        false,
		`{"meta":{"tools":[{}]}}`:       false,
		``:                              false,
	} {
		info, withTools := promptOf(&mcp.Question{Kind: mcp.Sampling, Payload: json.RawMessage(payload)})
		if info.Kind != event.PromptSampling || withTools != want || string(info.Question.Payload) != payload {
			t.Errorf("%s: kind %s, with tools: %v", payload, info.Kind, withTools)
		}
	}
	info, withTools := promptOf(&mcp.Question{Kind: mcp.ElicitationURL, URL: "https://a.example/x", URLHost: "a.example",
		Message: "go", Payload: json.RawMessage(`{"tools":[1]}`)})
	want := event.PromptInfo{Kind: event.PromptElicitationURL, Question: &event.Question{URL: "https://a.example/x",
		URLHost: "a.example", Message: "go", Payload: json.RawMessage(`{"tools":[1]}`)}}
	if diff := cmp.Diff(want, info); diff != "" || withTools {
		t.Errorf("with tools: %v; %s", withTools, diff)
	}
	if info, _ := promptOf(&mcp.Question{Kind: mcp.ElicitationForm}); info.Kind != event.PromptElicitationForm {
		t.Errorf("a form is shown as %s", info.Kind)
	}
}

// A declined or dismissed question becomes an error with the reason that a person typed; any other end is no refusal of
// the tool.
func TestRefusedTool(t *testing.T) {
	for _, row := range []struct {
		cause                event.PromptCause
		typed, reason, words string
	}{
		{event.CauseDeclined, "no\x07pe", event.ReasonDeniedByUser, `denied tool "t" of server "s": no\u0007pe`},
		{event.CauseDeclined, "", event.ReasonDeniedByUser, `denied tool "t" of server "s"`},
		{event.CauseDismissed, "", event.ReasonDismissedByUser, "without a choice"},
	} {
		var e *event.Error
		if err := errToolRefused("s", "t", "r", row.cause, row.typed); !errors.As(err, &e) ||
			e.Code != event.CodePermissionDenied || e.Reason != row.reason || !strings.Contains(e.Message, row.words) {
			t.Errorf("%s: %v", row.cause, err)
		}
	}
	for c := event.CauseAnswered; c <= event.CauseSuperseded; c++ {
		if c != event.CauseDeclined && c != event.CauseDismissed && errToolRefused("s", "t", "r", c, "x") != nil {
			t.Errorf("%s counts as a No", c)
		}
	}
}
