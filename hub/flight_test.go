package hub_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// What the core was told, with the times at which it was told, leads a fresh core to the same end: with a call that
// needs an approval, one that a person cancels while its server asks, and one whose question is answered. The record
// says nothing of what people, servers and configs say, and is in the bundle for a bug report.
func TestFlightIsPlayedToTheSameEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, `{"message":"SECRET question","requestedSchema":{"type":"object","properties":{}}}`)
		a.withdraws = true
		w := newWorld(t, serversOf("s", a.Server), `s:"env":{"TOKEN":"SECRET token"}`)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo", Arguments: `{"a":"SECRET argument"}`,
			TaskLabel: "SECRET label"})
		v.answer(yes(v.prompt(), event.ScopeWindow))
		c.ok(t)
		c = w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "ask"})
		v.answer(yes(v.prompt(), event.ScopeWindow))
		v.prompt()
		if _, err := v.win.Cancel("r2", "SECRET reason"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		c = w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "ask"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
		c.ok(t)
		synctest.Wait()
		record, diff, complete := w.hub.Replayed()
		if !complete || diff != "" {
			t.Errorf("complete %v; played again, the core orders something else (-then +now):\n%s", complete, diff)
		}
		for _, want := range []string{`RequestMade ID="r1"`, "Asked Kind=tool_approval", "Asked Kind=elicitation_form",
			`CancelAsked ID="r2" Cause=user`, "CancelAccepted", "End.Cause=declined", "RequestEnded Request=1 State=done",
			"State=cancelled", `Label="label-`, `Tool.Terms.Definition="definition-`} {
			if !strings.Contains(record, want) {
				t.Errorf("the record has no %q:\n%s", want, record)
			}
		}
		bundle, err := json.Marshal(w.hub.TraceBundle())
		if err != nil || strings.Contains(string(bundle), "SECRET") || strings.Contains(record, "SECRET") {
			t.Errorf("%v: content in %s", err, bundle)
		}
		lines, _ := json.Marshal(strings.Split(strings.TrimSpace(record), "\n"))
		if !strings.Contains(string(bundle), `"core":`+string(lines)) {
			t.Errorf("the bundle has another record than %s: %s", lines, bundle)
		}
	})
}
