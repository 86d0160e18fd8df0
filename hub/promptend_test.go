package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A cancelled call closes its prompts at once. The server has a second to withdraw its question itself, and then gets
// no response; otherwise it is answered.
func TestParentCancelClosesPrompts(t *testing.T) {
	for _, way := range ways {
		for _, withdraws := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s withdraws %v", way.name, withdraws), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					a := asking(way.method, way.params)
					a.withdraws = withdraws
					w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
					v, v2 := w.everything(), w.everything()
					c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
					p := v.prompt()
					q := <-a.asked
					before := time.Now()
					if _, err := v.win.Cancel("r1", "enough"); err != nil {
						t.Fatal(err)
					}
					c.want(t, event.CodeCancelled, event.ReasonCancelled)
					for _, v := range []*view{v, v2} {
						v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "enough")
					}
					ends := eventsOf[*event.RequestCancelled](v)
					if len(ends) != 2 || ends[0].RequestID != p.RequestID || ends[0].Cancellation.Origin != event.OriginParent ||
						ends[1].RequestID != "r1" {
						t.Errorf("%+v", ends)
					}
					if time.Since(before) != 0 {
						t.Error("it took time")
					}
					m, answered := fakeserver.Message{}, false
					if !withdraws {
						m, answered = <-q.Response()
						if d := time.Since(before); d != time.Second {
							t.Errorf("the answer came after %v", d)
						}
					}
					pass(time.Minute)
					want := `{"action":"cancel"}`
					if way.kind == event.PromptSampling {
						want = "error -1: the sampling request was dismissed"
					}
					switch n := len(responses(a.Server)); {
					case withdraws && n != 0:
						t.Errorf("%d responses to a question that was withdrawn", n)
					case !withdraws && (n != 1 || !answered || answerOf(m) != want):
						t.Errorf("%d responses, %s", n, answerOf(m))
					}
				})
			})
		}
	}
}

// Two calls are open, and a question names neither: when both are cancelled, no answer overtakes the cancels.
func TestCancelAllAnswersNothingTooEarly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		for range 50 {
			calls := []*pendingCall{w.call(hub.CallRequest{Server: "s", Tool: "hang"})}
			synctest.Wait()
			calls = append(calls, w.call(hub.CallRequest{Server: "s", Tool: "ask"}))
			if p := v.prompt(); p.ParentRequestID != "" {
				t.Fatalf("%+v", p)
			}
			q := <-a.asked
			before := time.Now()
			w.hub.CancelRequests(hub.CancelScope{Server: "s"}, "stop", event.OriginUser)
			for _, c := range calls {
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
			}
			v.noPrompt()
			if got := answerOf(<-q.Response()); got != `{"action":"cancel"}` || time.Since(before) != time.Second {
				t.Fatalf("answered %s after %v", got, time.Since(before))
			}
		}
	})
}

// A call that ends closes what its server still asks, whatever the answer would have been. The server is answered a
// moment later, as it may be about to withdraw its question.
func TestFinishedCallClosesItsPrompts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := v.prompt()
		q := <-a.asked
		before := time.Now()
		close(a.finish)
		c.ok(t)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "the request that caused it is over")
		if got := answerOf(<-q.Response()); got != `{"action":"cancel"}` || time.Since(before) != time.Second {
			t.Errorf("answered %s after %v", got, time.Since(before))
		}
	})
}

// When the connection to a server ends, its prompts close: those of a call, those of no call, and those between the
// rounds of a call.
func TestServerDeathClosesPrompts(t *testing.T) {
	t.Run("of a call", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			for range 20 { // the end of the call and the end of its question come in either order
				a := asking(elicitation, formParams)
				w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
				v := w.everything()
				c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
				p := v.prompt()
				a.Disconnect()
				c.want(t, event.CodeUnavailable, event.ReasonServerGone)
				v.wantClosed(p.ID, event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
				if end := last[*event.RequestCancelled](v); end.RequestID != p.RequestID ||
					end.Cancellation.Origin != event.OriginTransport {
					t.Fatalf("%+v", end)
				}
				wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline}),
					event.ReasonPromptClosed)
			}
		})
	})
	t.Run("of its own account", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			if _, err := s.Request(sampling, sampleParams); err != nil {
				t.Fatal(err)
			}
			p := v.prompt()
			if p.ParentRequestID != "" {
				t.Errorf("%+v", p)
			}
			s.Disconnect()
			v.wantClosed(p.ID, event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
		})
	})
	t.Run("between rounds", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := rounds(1)
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := v.prompt()
			s.Disconnect()
			c.want(t, event.CodeUnavailable, event.ReasonServerGone)
			v.wantClosed(p.ID, event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
		})
	})
}

// Over HTTP the exchange of a call fails a moment before the connection is known to have ended. Its questions close
// with the end of the connection as the cause all the same, and not as if the call had come to its end.
func TestSessionLossClosesPrompts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		var w *world
		w = newWorldWith(t, hub.Options{Open: func(s config.Server, stderr func(string)) mcp.Opener {
			return func(ctx context.Context) (*mcp.Link, error) {
				link, err := w.open(s, stderr)(ctx)
				if err == nil {
					link.Conn = &forgetful{Stream: link.Conn.(jsonrpc.Stream)}
				}
				return link, err
			}
		}}, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := v.prompt()
		a.Disconnect()
		c.want(t, event.CodeUnavailable, event.ReasonExchangeFailed)
		v.wantClosed(p.ID, event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
	})
}

// forgetful reports its end as a connection over HTTP does when the server has forgotten the session: first the failure
// of the last request, and a second later the end of the connection.
type forgetful struct {
	jsonrpc.Stream
	last atomic.Pointer[jsonrpc.ID] // of the last request written
	told bool
}

func (c *forgetful) Write(lines []byte) (int, error) {
	for m := range bytes.Lines(lines) {
		var request struct{ ID json.RawMessage }
		if json.Unmarshal(m, &request) == nil && request.ID != nil {
			if id, err := jsonrpc.ParseID(request.ID); err == nil {
				c.last.Store(&id)
			}
		}
	}
	return c.Stream.Write(lines)
}

func (c *forgetful) ReadMessage(results *bounds.Account) (jsonrpc.Message, error) {
	m, err := c.Stream.ReadMessage(results)
	if err == nil {
		return m, nil
	}
	if !c.told {
		c.told = true
		return m, &jsonrpc.CallFailedError{ID: *c.last.Load(), Err: &transport.HTTPError{
			Text: "the server ended the session before the answer came", Delivery: transport.MayHaveRun,
			Err: transport.ErrSessionExpired,
		}}
	}
	<-time.After(time.Second)
	return m, transport.ErrSessionExpired
}

// Nobody answers within timeouts.human. An approval ends its call; a question of a server is dismissed, and its call
// goes on.
func TestHumanTimeout(t *testing.T) {
	const entry = `"timeouts":{"human":"30s","idle":"10s"}`
	t.Run("approval", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), "s:"+entry)
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
			p := v.prompt()
			if want := before.Add(30 * time.Second); !p.Deadline.Equal(want) {
				t.Errorf("deadline %v, want %v", p.Deadline, want)
			}
			e := c.want(t, event.CodeDeadlineExceeded, event.ReasonHumanTimeout)
			if e.Meta["setting"] != "timeouts.human" || e.Meta["limit"] != "30s" || time.Since(before) != 30*time.Second {
				t.Errorf("%v after %v", e.Meta, time.Since(before))
			}
			v.wantClosed(p.ID, event.CauseTimeout, event.OriginTimeout, "timeouts.human of 30s exceeded")
			if end := last[*event.RequestCancelled](v); end.RequestID != "r1" ||
				end.Cancellation.Origin != event.OriginTimeout ||
				end.Err != e || end.ServerNotified() {
				t.Errorf("%+v", end)
			}
			if toolCalls(s) != 0 {
				t.Error("the tool ran")
			}
		})
	})
	t.Run("question", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			w := newWorld(t, serversOf("s", a.Server), "s:"+allow+","+entry)
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := v.prompt()
			if got := textOf(t, c.ok(t)); got != `{"action":"cancel"}` || time.Since(before) != 30*time.Second {
				t.Errorf("the server got %s after %v", got, time.Since(before))
			}
			v.wantClosed(p.ID, event.CauseTimeout, event.OriginTimeout, "timeouts.human of 30s exceeded")
			if end := last[*event.RequestCancelled](v); end.RequestID != p.RequestID || end.Err == nil ||
				end.Err.Reason != event.ReasonHumanTimeout {
				t.Errorf("%+v", end)
			}
		})
	})
	t.Run("question between rounds", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, serversOf("s", rounds(1)), "s:"+allow+","+entry)
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := v.prompt()
			if got := textOf(t, c.ok(t)); got != `{"q1":{"action":"cancel"}}` {
				t.Errorf("the server got %s", got)
			}
			v.wantClosed(p.ID, event.CauseTimeout, event.OriginTimeout, "timeouts.human of 30s exceeded")
		})
	})
}

// URL elicitation: the prompt shows the host of the URL, and consent is an accept without content. A call that the
// server refuses until the page is done (error -32042) is repeated when the server reports that it is.
func TestURLElicitation(t *testing.T) {
	t.Run("asked", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, urlParams)
			w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := v.prompt()
			if q := p.Question; q.URL != "https://login.example.com:8443/a?b=c" || q.URLHost != "login.example.com:8443" ||
				q.Message != "Sign in" || q.Waiting {
				t.Errorf("%+v", q)
			}
			v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: `{"ignored":true}`})
			if got := textOf(t, c.ok(t)); got != `{"action":"accept"}` {
				t.Errorf("the server got %s", got)
			}
		})
	})
	required := func() *fakeserver.Server {
		s := hanging()
		first := true
		s.Tool("secret", func(c *fakeserver.CallContext) {
			if first {
				first = false
				c.ErrorData(-32042, "sign in first", `{"elicitations":[`+urlParams+`]}`)
				return
			}
			c.Text("welcome")
		})
		return s
	}
	t.Run("required, and the server says when it is done", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := required()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "secret"})
			p := v.prompt()
			if p.Question.Waiting || p.RequestID != "r1" || p.Kind != event.PromptElicitationURL {
				t.Errorf("%+v", p)
			}
			v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept})
			p2 := v.prompt()
			if !p2.Question.Waiting || p2.ID == p.ID {
				t.Errorf("%+v", p2)
			}
			if err := s.Notify("notifications/elicitation/complete", `{"elicitationId":"e1"}`); err != nil {
				t.Fatal(err)
			}
			if r := c.ok(t); textOf(t, r) != "welcome" || r.Rounds != 2 {
				t.Errorf("%+v", r)
			}
			v.wantClosed(p2.ID, event.CauseSuperseded, event.OriginServer, "the server reports that the page is done")
			if toolCalls(s) != 2 || len(eventsOf[*event.RequestCancelled](v)) != 0 {
				t.Errorf("%d calls", toolCalls(s))
			}
		})
	})
	t.Run("required and refused", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := required()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "secret"})
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			c.want(t, event.CodeFailedPrecondition, event.ReasonInputDeclined)
			if toolCalls(s) != 1 {
				t.Errorf("%d calls", toolCalls(s))
			}
		})
	})
	t.Run("required, waiting, and cancelled", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := required()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			ctx, stop := context.WithCancelCause(context.Background())
			c := w.callContext(ctx, hub.CallRequest{Server: "s", Tool: "secret"})
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept})
			p := v.prompt()
			stop(nil)
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "the host cancelled the call")
			if toolCalls(s) != 1 || len(cancels(s)) != 0 {
				t.Errorf("%d calls, %d cancels", toolCalls(s), len(cancels(s)))
			}
		})
	})
}
