package hub_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A question that its server withdraws closes in every window and gets no response; the call that caused it goes on.
func TestServerWithdrawsItsQuestion(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := asking(way.method, way.params)
				w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
				views := []*view{w.everything(), w.everything()}
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
				p := views[0].prompt()
				if p.ID != views[1].prompt().ID || p.Kind != way.kind || p.ParentRequestID != "r1" || p.Server != "s" ||
					string(p.Question.Payload) != way.params {
					t.Errorf("%+v", p)
				}
				if s := w.state("r1"); s != "awaiting_input" {
					t.Errorf("the call is %s", s)
				}
				q := <-a.asked
				q.Cancel("changed my mind")
				for _, v := range views {
					v.wantClosed(p.ID, event.CauseWithdrawn, event.OriginServer, "changed my mind")
					end := last[*event.RequestCancelled](v)
					if end.RequestID != p.RequestID || end.Direction != event.Incoming || end.Method != way.method ||
						end.WireID != string(q.ID) ||
						end.Cancellation.Origin != event.OriginServer || end.Cancellation.Reason != "changed my mind" ||
						end.ServerNotified() {
						t.Errorf("mcpRequestCancelled says %+v", end)
					}
					v.noPrompt()
				}
				if s := w.state("r1"); s != "running" {
					t.Errorf("the call is %s", s)
				}
				close(a.finish)
				if text := textOf(t, c.ok(t)); text != "went on" {
					t.Errorf("the call ended with %q", text)
				}
				pass(time.Minute)
				if got := responses(a.Server); len(got) != 0 {
					t.Errorf("the server was sent %v", got)
				}
			})
		})
	}
}

// Cancels of a server that are malformed, of an unknown id, late or doubled change nothing: the question stays open,
// the connection stays, and they are counted.
func TestWithdrawTwiceLateUnknownMalformed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c1 := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		p := v.prompt()
		malformed := []string{``, `null`, `{}`, `[]`, `{"requestId":null}`, `{"requestId":{}}`,
			`{"requestId":true,"reason":"x"}`, `{"reason":"x"}`}
		for _, params := range malformed {
			if err := a.Notify("notifications/cancelled", params); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Notify("notifications/cancelled", `{"requestId":"no such","reason":"x"}`); err != nil {
			t.Fatal(err)
		}
		if v.prompt().ID != p.ID {
			t.Error("another prompt is open")
		}
		q := <-a.asked
		q.Cancel("once")
		q.Cancel("twice")
		v.wantClosed(p.ID, event.CauseWithdrawn, event.OriginServer, "once")
		a.finish <- struct{}{}
		c1.ok(t)

		c2 := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: formYes})
		c2.ok(t)
		(<-a.asked).Cancel("late")
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		if n := len(eventsOf[*event.RequestCancelled](v)); n != 1 {
			t.Errorf("%d requests were cancelled", n)
		}
		servers, _ := w.hub.Servers()
		if n := servers[0].Counters; n.UnknownCancels != 3 || n.MalformedCancels != uint64(len(malformed)) {
			t.Errorf("%+v", n)
		}
		if n := len(responses(a.Server)); n != 1 || w.starts("s") != 1 {
			t.Errorf("%d responses, %d starts", n, w.starts("s"))
		}
	})
}

// Two windows answer at once: one answer is taken, the other window is told that the prompt is closed, and the server
// gets the answer that was taken.
func TestFirstAnswerTakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		views := []*view{w.everything(), w.everything()}
		answers := []event.PromptAnswer{{Action: event.ActionAccept, Content: formYes}, {Action: event.ActionDecline}}
		wants := []string{`{"action":"accept","content":{"name":"Ada"}}`, `{"action":"decline"}`}
		for round := range 200 {
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := views[0].prompt()
			errs := make([]error, 2)
			var both sync.WaitGroup
			for i := range 2 {
				i := (i + round) % 2
				both.Go(func() {
					answer := answers[i]
					answer.PromptID = p.ID
					errs[i] = views[i].win.Answer(answer)
				})
			}
			both.Wait()
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			if errs[winner] != nil {
				t.Fatalf("nobody won: %v", errs)
			}
			wantReason(t, errs[1-winner], event.ReasonPromptClosed)
			if got := textOf(t, c.ok(t)); got != wants[winner] {
				t.Fatalf("window %d won, and the server got %s", winner, got)
			}
			for _, v := range views {
				if closed := last[*event.PromptClosed](v); closed.WindowID != views[winner].win.ID() || closed.PromptID != p.ID {
					t.Fatalf("%+v", closed)
				}
			}
		}
		if n := len(responses(a.Server)); n != 200 {
			t.Errorf("%d responses", n)
		}
	})
}

// An answer that comes too late, to an unknown prompt, without a valid action, or from a window that does not show the
// prompt changes nothing and is refused with the reason.
func TestLateAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		deaf := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		p := v.prompt()
		no := event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline}
		wantReason(t, deaf.win.Answer(no), event.ReasonPromptKind)
		deaf.win.Detach(true)
		wantReason(t, deaf.win.Answer(no), event.ReasonWindowDetached)
		for _, action := range []event.Action{0, -1, 4} {
			wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: action}), event.ReasonInvalidRequest)
		}
		for _, id := range []string{"", "prompt-0", "prompt-2", "prompt-x", "nonsense\n", "ask-1"} {
			wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionDecline}),
				event.ReasonPromptNotFound)
		}
		if v.prompt().ID != p.ID {
			t.Error("the prompt changed")
		}
		v.answer(no)
		c.ok(t)
		for range 2 {
			wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes}),
				event.ReasonPromptClosed)
		}
		if got := responses(a.Server); len(got) != 1 || !strings.Contains(got[0], "decline") {
			t.Errorf("the server was sent %v", got)
		}
	})
}

// An answer whose content does not fit the question is refused, and the prompt stays open.
func TestInvalidContentKeepsThePromptOpen(t *testing.T) {
	for _, tc := range []struct {
		method, params, yes string
		bad                 []string
	}{
		{elicitation, formParams, formYes, []string{``, `null`, `[]`, `{`, `{}`, `{"name":5}`,
			`{"name":"a","name":"b"}`, `{"name":"a","n\u0061me":"b"}`, // Finding C9
		}},
		{sampling, sampleParams, sampleYes, []string{``, `null`, `[]`, `"ho"`, `{}`,
			`{"role":"assistant","content":{"type":"text","text":"ho"}}`, `{"role":"assistant","model":"m"}`}},
	} {
		t.Run(tc.method, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := asking(tc.method, tc.params)
				w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
				p := v.prompt()
				for _, content := range tc.bad {
					err := v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: content})
					if e := event.AsError(err); e == nil || e.Code != event.CodeInvalidArgument ||
						e.Reason != event.ReasonInvalidContent {
						t.Errorf("content %s: %v", content, err)
					}
				}
				if v.prompt().ID != p.ID || len(responses(a.Server)) != 0 {
					t.Error("the prompt did not stay open")
				}
				v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: tc.yes})
				if got := textOf(t, c.ok(t)); !strings.Contains(got, tc.yes) {
					t.Errorf("the server got %s", got)
				}
			})
		})
	}
}

// Accept, decline and dismiss are three things on the wire, for each kind.
func TestDeclineDismissCancelAreThree(t *testing.T) {
	actions := []struct {
		action event.Action
		cause  event.PromptCause
	}{{event.ActionAccept, event.CauseAnswered}, {event.ActionDecline, event.CauseDeclined},
		{event.ActionDismiss, event.CauseDismissed}}
	wants := map[string][]string{
		"sampling": {sampleYes, "error -1: the sampling request was declined",
			"error -1: the sampling request was dismissed"},
		"form": {`{"action":"accept","content":{"name":"Ada"}}`, `{"action":"decline"}`, `{"action":"cancel"}`},
		"url":  {`{"action":"accept"}`, `{"action":"decline"}`, `{"action":"cancel"}`},
	}
	for _, way := range ways {
		for i, tc := range actions {
			t.Run(fmt.Sprintf("%s %v", way.name, tc.cause), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					a := asking(way.method, way.params)
					w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
					v := w.everything()
					c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
					p := v.prompt()
					v.answer(event.PromptAnswer{PromptID: p.ID, Action: tc.action, Content: way.yes})
					if got := textOf(t, c.ok(t)); got != wants[way.name][i] {
						t.Errorf("the server got %s, want %s", got, wants[way.name][i])
					}
					v.wantClosed(p.ID, tc.cause, event.OriginUser, "")
					for _, f := range eventsOf[*event.RequestFinished](v) {
						if f.RequestID == p.RequestID && f.State != event.StateDone {
							t.Errorf("%+v", f)
						}
					}
					if n := len(eventsOf[*event.RequestCancelled](v)); n != 0 {
						t.Errorf("%d requests were cancelled", n)
					}
				})
			})
		}
	}
}

// Without a window, a question of a kind that was declared earlier is answered at once, and never with accept; a window
// that may come back is waited for. A kind that was never declared is an unknown method.
func TestNoWindowIsAnsweredAtOnce(t *testing.T) {
	for _, final := range []bool{true, false} {
		t.Run(fmt.Sprintf("final %v", final), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				v.win.Detach(final)
				before := time.Now()
				for _, way := range ways {
					q, err := s.Request(way.method, way.params)
					if err != nil {
						t.Fatal(err)
					}
					want := `{"action":"cancel"}`
					if way.kind == event.PromptSampling {
						want = "error -1: nobody could be asked"
					}
					if got := answerOf(<-q.Response()); got != want {
						t.Errorf("%s: answered %s", way.name, got)
					}
				}
				if d := time.Since(before); d != map[bool]time.Duration{true: 0, false: 10 * time.Second}[final] {
					t.Errorf("it took %v", d)
				}
			})
		})
	}
	t.Run("never declared", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			for _, way := range ways {
				q, err := s.Request(way.method, way.params)
				if err != nil {
					t.Fatal(err)
				}
				if got := answerOf(<-q.Response()); !strings.HasPrefix(got, "error -32601") {
					t.Errorf("%s: answered %s", way.name, got)
				}
			}
		})
	})
}

// A prompt is shown only in windows that declared its kind; a window that declares the kind later gets it then.
func TestPromptOnlyWhereItCanBeShown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		deaf, v := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptToolApproval}}),
			w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptElicitationForm}})
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		p := v.prompt()
		if n := len(eventsOf[*event.PromptOpened](deaf)); n != 0 {
			t.Errorf("%d prompts in a window that did not declare the kind", n)
		}
		if late := w.attach(hub.Hello{}); len(late.start.Snapshot.Prompts) != 0 {
			t.Errorf("%+v", late.start.Snapshot.Prompts)
		}
		deaf.win.SetCapabilities([]event.PromptKind{event.PromptElicitationForm}, false, nil)
		if deaf.prompt().ID != p.ID {
			t.Error("another prompt")
		}
		v.win.SetCapabilities(nil, false, nil)
		if deaf.prompt().ID != p.ID {
			t.Error("the prompt closed while a window shows it")
		}
		deaf.win.SetCapabilities(nil, false, nil)
		v.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, "no window is left that can show it")
		if got := textOf(t, c.ok(t)); got != `{"action":"cancel"}` {
			t.Errorf("the server got %s", got)
		}
	})
}

// A sampling request with tools goes only to windows that declared tools for sampling.
func TestSamplingWithTools(t *testing.T) {
	const params = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	bubble(t, func(t *testing.T) {
		a := asking(sampling, params)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		plain := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		if got := textOf(t, c.ok(t)); !strings.HasPrefix(got, "error -32602") {
			t.Errorf("answered %s where no window knows tools", got)
		}
		v := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}, SamplingTools: true})
		c = w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		p := v.prompt()
		if string(p.Question.Payload) != params {
			t.Errorf("payload %s", p.Question.Payload)
		}
		if n := len(eventsOf[*event.PromptOpened](plain)); n != 0 {
			t.Errorf("%d prompts in the window that knows no tools", n)
		}
		wantReason(t, plain.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline}),
			event.ReasonPromptKind)
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: sampleYes})
		if got := textOf(t, c.ok(t)); got != sampleYes {
			t.Errorf("the server got %s", got)
		}
	})
}

// The user may cancel a server's request as any other: the server is told "cancel", its call goes on.
func TestUserCancelsIncomingRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		p := v.prompt()
		before := time.Now()
		if out, err := v.win.Cancel(p.RequestID, "not this"); out != event.OutcomeCancelling || err != nil {
			t.Fatal(out, err)
		}
		if got := textOf(t, c.ok(t)); got != `{"action":"cancel"}` {
			t.Errorf("the server got %s", got)
		}
		if d := time.Since(before); d != 0 {
			t.Errorf("it took %v", d)
		}
		end := last[*event.RequestCancelled](v)
		if end.RequestID != p.RequestID || end.Direction != event.Incoming || end.Cancellation.Origin != event.OriginUser ||
			end.Cancellation.Reason != "not this" {
			t.Errorf("%+v", end)
		}
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "not this")
		if len(cancels(a.Server)) != 0 {
			t.Error("a cancel went to the server for a request of its own")
		}
		synctest.Wait()
		if out, _ := v.win.Cancel(p.RequestID, "again"); out != event.OutcomeAlreadyFinished {
			t.Errorf("outcome %v", out)
		}
	})
}
