package hub_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// rounds returns a modern server whose tool "ask" wants n answers, one in each round, and returns the last one as its
// result. A call with {"hang":true} hangs in what would be the last round.
func rounds(n int) *fakeserver.Server {
	s := hanging(fakeserver.WithModern())
	s.Tool("ask", func(c *fakeserver.CallContext) {
		round := 0
		if state := c.Param("requestState"); state != nil {
			fmt.Sscanf(string(state), `"after %d"`, &round)
		}
		switch {
		case round < n:
			c.InputRequired(fmt.Sprintf(`{"q%d":{"method":"elicitation/create","params":%s}}`, round+1, formParams),
				fmt.Sprintf("after %d", round+1))
		case strings.Contains(string(c.Arguments()), "hang"):
			_ = c.Hang()
		default:
			c.Text(string(c.Param("inputResponses")))
		}
	})
	return s
}

// The rounds of a call have different wire ids, but the call is one request with one id and one end.
func TestMRTRRoundsAreOneRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(2)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask", Arguments: `{"big":12345678901234567890}`})
		wires := map[string]bool{}
		for round := range 2 {
			p := v.prompt()
			if p.RequestID != "r1" || p.ParentRequestID != "" || w.state("r1") != "awaiting_input" {
				t.Errorf("the prompt is %+v, the call %s", p, w.state("r1"))
			}
			wires[w.hub.Requests("s")[0].WireID] = true
			v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept,
				Content: fmt.Sprintf(`{"name":"n%d"}`, round)})
		}
		r := c.ok(t)
		if r.Rounds != 3 || textOf(t, r) != `{"q2":{"action":"accept","content":{"name":"n1"}}}` {
			t.Errorf("%d rounds, %s", r.Rounds, r.Result)
		}
		if len(wires) != 2 {
			t.Errorf("wire ids %v", wires)
		}
		var calls []fakeserver.Message
		for _, m := range s.Received() {
			if m.Method == "tools/call" {
				calls = append(calls, m)
			}
			if m.IsResponse() {
				t.Errorf("a response was written: %s", m.Raw)
			}
		}
		for i, m := range calls {
			if string(m.Param("arguments")) != `{"big":12345678901234567890}` || i > 0 &&
				string(m.Param("requestState")) != fmt.Sprintf(`"after %d"`, i) {
				t.Errorf("round %d: %s", i, m.Params)
			}
		}
		started, finished := 0, 0
		for _, e := range eventsOf[*event.RequestStarted](v) {
			if e.Request.Method != "initialize" {
				started++
			}
		}
		for _, e := range eventsOf[*event.RequestFinished](v) {
			if e.RequestID == "r1" {
				finished++
			}
		}
		if len(calls) != 3 || started != 1 || finished != 1 {
			t.Errorf("%d calls on the wire, %d requests started, %d ended", len(calls), started, finished)
		}
	})
}

// Between two rounds nothing is in flight: a cancel closes the prompts and sends nothing, not even the retry.
func TestCancelBetweenRounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(1)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v, v2 := w.everything(), w.everything()
		const times = 300 // either the end of the prompt or that of the call wakes it first
		for i := range times {
			id := fmt.Sprintf("r%d", i)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "ask"})
			p := v.prompt()
			if _, err := v.win.Cancel(id, "no more"); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			for _, v := range []*view{v, v2} {
				v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "no more")
			}
			if end := last[*event.RequestCancelled](v); end.ServerNotified() || end.ServerMayContinue {
				t.Errorf("the end of the request is %+v", end)
			}
		}
		if toolCalls(s) != times || len(cancels(s)) != 0 || len(responses(s)) != 0 {
			t.Errorf("%d calls, %d cancels, %d responses", toolCalls(s), len(cancels(s)), len(responses(s)))
		}
	})
}

// A cancel and an answer come at the same time: the call ends once, and is not sent again if the cancel has closed the
// prompt. If it is sent again, at most one cancel follows.
func TestCancelAndAnswerBetweenRounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(1)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for i := range 200 {
			id := fmt.Sprintf("r%d", i)
			c := w.call(hub.CallRequest{ID: id, Server: "s", Tool: "ask"})
			p := v.prompt()
			sent, cancelled := toolCalls(s), len(cancels(s))
			var both sync.WaitGroup
			both.Go(func() { _, _ = v.win.Cancel(id, "no") })
			both.Go(func() {
				_ = v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
			})
			both.Wait()
			<-c.done
			if c.err != nil {
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
			}
			retried := toolCalls(s) - sent
			if last[*event.PromptClosed](v).Cause == event.CauseParent && retried != 0 {
				t.Fatal("the call was tried again after its prompt was closed by the cancel")
			}
			if n := len(cancels(s)) - cancelled; n > retried {
				t.Fatalf("%d cancels were sent for %d retries", n, retried)
			}
		}
	})
}

// A cancel of a later round goes out once, for the id of that round.
func TestCancelOnTheWireInARound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(1)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask", Arguments: `{"hang":true}`})
		p := v.prompt()
		first := w.hub.Requests("s")[0].WireID
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		synctest.Wait()
		second := w.hub.Requests("s")[0].WireID
		if _, err := v.win.Cancel("r1", "stop"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if got := cancels(s); len(got) != 1 || first == second || s.Count(fakeserver.CancelOf([]byte(second))) != 1 {
			t.Errorf("ids %s and %s; cancels %v", first, second, got)
		}
		if end := last[*event.RequestCancelled](v); !end.ServerNotified() || end.WireID != second {
			t.Errorf("the end of the request is %+v", end)
		}
	})
}

// When the round comes nobody is left who could be asked: the call ends, and its error does not say that somebody
// refused.
func TestMRTRNobodyCouldBeAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New(fakeserver.WithModern())
		gone := make(chan struct{})
		s.Tool("sample", func(c *fakeserver.CallContext) {
			<-gone
			c.InputRequired(`{"a":{"method":"sampling/createMessage","params":`+sampleParams+`}}`, "")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "sample"})
		synctest.Wait() // it is at the server
		v.win.Detach(true)
		close(gone)
		e := c.want(t, event.CodeFailedPrecondition,
			event.ReasonInputDeclined)
		if !strings.Contains(e.Message, "nobody could be asked its sampling question") {
			t.Errorf("the error says %s", e.Message)
		}
	})
}

// 2026-07-28 has no form for a refused sampling request: the call ends, its other questions close, nothing is retried.
func TestMRTRSamplingRefused(t *testing.T) {
	for _, action := range []event.Action{event.ActionDecline, event.ActionDismiss} {
		t.Run(fmt.Sprint(action), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := fakeserver.New(fakeserver.WithModern())
				s.Tool("both", func(c *fakeserver.CallContext) {
					c.InputRequired(`{"a":{"method":"sampling/createMessage","params":`+sampleParams+
						`},"b":{"method":"elicitation/create","params":`+formParams+`}}`, "")
				})
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: "both"})
				open := map[event.PromptKind]event.PromptInfo{}
				for _, o := range eventsOf[*event.PromptOpened](v) {
					open[o.Prompt.Kind] = o.Prompt
				}
				if len(open) != 2 {
					t.Fatalf("%d prompts", len(open))
				}
				v.answer(event.PromptAnswer{PromptID: open[event.PromptSampling].ID, Action: action})
				c.want(t, event.CodeFailedPrecondition, event.ReasonInputDeclined)
				v.wantClosed(open[event.PromptElicitationForm].ID, event.CauseParent, event.OriginParent,
					"another question of the same call ended it")
				if toolCalls(s) != 1 || len(cancels(s)) != 0 {
					t.Errorf("%d calls, %d cancels", toolCalls(s), len(cancels(s)))
				}
			})
		})
	}
}
