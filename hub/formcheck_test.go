package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// doublingForm returns a small schema that applies to the same value in 2^n ways.
func doublingForm(n int) string {
	defs := []string{`"d0":{"type":"object"}`}
	for i := 1; i <= n; i++ {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1))
	}
	return fmt.Sprintf(`{"type":"object","properties":{},"$defs":{%s},"$ref":"#/$defs/d%d"}`, strings.Join(defs, ","), n)
}

// formOf returns a server that asks with a form of this schema.
func formOf(schema string) *asker {
	return asking(elicitation, `{"message":"Who?","requestedSchema":`+schema+`}`)
}

// Findings A1 and A2: an answer to a form that cannot be checked within the bound is passed on without the check, and
// the windows are told.
func TestAFormThatCannotBeCheckedIsAnsweredUncheckedAndSaysSo(t *testing.T) {
	for name, schema := range map[string]string{
		"ref root":    `{"$ref":"#"}`,
		"allOf root":  `{"allOf":[{"$ref":"#"}]}`,
		"each other":  `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		"dynamic":     `{"$dynamicAnchor":"n","$dynamicRef":"#n"}`,
		"doubling 22": doublingForm(22),
		"doubling 40": doublingForm(40),
	} {
		subtest(t, name, func(t *testing.T) {
			a := formOf(schema)
			w, v := withWindow(t, a.Server)
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: `{"name":"x"}`})
			<-c.done
			if got := textOf(t, c.result); !strings.Contains(got, `"action":"accept"`) || !strings.Contains(got, `"name":"x"`) {
				t.Errorf("the server got %s", got)
			}
			said := false
			for _, e := range eventsOf[*event.LogMessage](v) {
				said = said || e.Server == "s" && e.Logger == "mcphub" && strings.Contains(e.Data, "answerNotChecked")
			}
			if !said {
				t.Error("nothing says that the answer was not checked")
			}
		})
	}
}

// Finding A2: while an answer is compared with its form, a cancel from the same window is carried out at once.
func TestACancelWorksWhileAnAnswerIsCompared(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := formOf(`{"type":"object","properties":{}}`)
		w, v := withWindow(t, a.Server)
		release := w.hub.HoldComparing()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		id := v.prompt().ID
		told := make(chan error, 1)
		v.win.BeginAnswer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Content: `{}`}, func(err error) {
			told <- err
		})
		if outcome, err := v.win.Cancel("r1", "enough"); outcome != event.OutcomeCancelling || err != nil {
			t.Fatalf("%v, %v", outcome, err)
		}
		<-c.done
		synctest.Wait()
		select {
		case err := <-told:
			t.Fatalf("told of an answer that is still being compared: %v", err)
		default:
		}
		release()
		wantReason(t, <-told, event.ReasonPromptClosed)
	})
}

// The number and the size of the answers of a window that are compared at the same time are bounded. A refused answer
// leaves the prompt open.
func TestAWindowHasABoundOnAnswersThatAreCompared(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := formOf(`{"type":"object"}`)
		w, v := withWindow(t, a.Server)
		release := w.hub.HoldComparing()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		id := v.prompt().ID
		errs, tooLong := make(chan error, 20), make(chan error, 1)
		for i := range 20 {
			if i == 4 { // a page that was loaded anew has no more room
				v = w.back(v, allKinds)
			}
			v.win.BeginAnswer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Content: `{}`}, func(err error) {
				errs <- err
			})
		}
		v.win.BeginAnswer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Content: `{"x":"` +
			strings.Repeat("x", 8<<20) + `"}`}, func(err error) {
			tooLong <- err
		})
		wantReason(t, <-tooLong, event.ReasonInvalidContent)
		release()
		count := map[string]int{}
		for range 20 {
			if err := <-errs; err == nil {
				count["taken"]++
			} else {
				count[event.AsError(err).Reason]++
			}
		}
		<-c.done
		if count["taken"] != 1 || count[event.ReasonPromptClosed] != 7 || count[event.ReasonQueueFull] != 12 {
			t.Errorf("of 20 answers: %v; want 1 taken, 7 %s, 12 %s", count, event.ReasonPromptClosed, event.ReasonQueueFull)
		}
	})
}
