package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// clocked returns the entry of a server whose calls need no approval and have these limits.
func clocked(limits string) string { return "s:" + allow + `,"timeouts":{` + limits + `}` }

// ends checks that a call that began at before has ended after exactly that time, for that reason.
func (p *pendingCall) ends(t *testing.T, before time.Time, after time.Duration, reason string) *event.Error {
	t.Helper()
	e := p.want(t, event.CodeDeadlineExceeded, reason)
	if d := time.Since(before); d != after {
		t.Errorf("the call ended after %v, want %v", d, after)
	}
	return e
}

// A call without progress ends at the idle limit.
func TestIdleTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), clocked(`"idle":"10s","total":"1m"`))
		before := time.Now()
		w.call(hub.CallRequest{Server: "s", Tool: "hang"}).ends(t, before, 10*time.Second, event.ReasonIdleTimeout)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
	})
}

// Progress starts the idle clock anew; progress of another call does not.
func TestProgressResetsIdle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("slow", func(c *fakeserver.CallContext) {
			for i := range 3 {
				time.Sleep(9 * time.Second)
				c.Progress(float64(i+1), 5, "step")
			}
			_ = c.Hang()
		})
		w := newWorld(t, serversOf("s", s), clocked(`"idle":"10s","total":"1m"`))
		v := w.everything()
		before := time.Now()
		slow := w.call(hub.CallRequest{ID: "slow", Server: "s", Tool: "slow"})
		hang := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		hang.ends(t, before, 10*time.Second, event.ReasonIdleTimeout)
		slow.ends(t, before, 37*time.Second, event.ReasonIdleTimeout)
		p := last[*event.RequestProgressed](v)
		if p.RequestID != "slow" || p.Progress == nil || p.Progress.Progress != 3 || *p.Progress.Total != 5 ||
			p.Progress.Message != "step" {
			t.Errorf("the progress is %+v", p)
		}
	})
}

// The total limit holds in spite of progress.
func TestTotalTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("busy", func(c *fakeserver.CallContext) {
			for c.Context().Err() == nil {
				c.Progress(1, 0, "")
				time.Sleep(time.Second)
			}
		})
		w := newWorld(t, serversOf("s", s), clocked(`"idle":"10s","total":"1m"`))
		before := time.Now()
		w.call(hub.CallRequest{Server: "s", Tool: "busy"}).ends(t, before, time.Minute, event.ReasonTotalTimeout)
		pass(2 * time.Second)
	})
}

// The time that people take to answer counts neither for the idle limit of a call nor for the total one.
func TestHumanTimeStopsTheClocks(t *testing.T) {
	const limits = `"idle":"10s","total":"15s","human":"30m"`
	t.Run("question of the call", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			a.Tool("ask then hang", func(c *fakeserver.CallContext) {
				time.Sleep(4 * time.Second)
				<-c.Request(elicitation, formParams).Response()
				c.Progress(1, 0, "")
				time.Sleep(8 * time.Second)
				c.Progress(2, 0, "")
				_ = c.Hang()
			})
			w := newWorld(t, serversOf("s", a.Server), clocked(limits))
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask then hang"})
			pass(4*time.Second + 20*time.Minute)
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			c.ends(t, before, 20*time.Minute+15*time.Second, event.ReasonTotalTimeout)
		})
	})
	t.Run("question that names no call", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), clocked(limits))
			v := w.everything()
			before := time.Now()
			c1 := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
			c2 := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
			pass(3 * time.Second)
			if _, err := s.Request(elicitation, formParams); err != nil {
				t.Fatal(err)
			}
			p := v.prompt()
			if p.ParentRequestID != "" || w.state("r1") != "running" {
				t.Errorf("the prompt is %+v, the call %s", p, w.state("r1"))
			}
			// The question stops no clock, since a server could otherwise keep all of its calls open by asking. Finding
			// B16.
			c1.ends(t, before, 10*time.Second, event.ReasonIdleTimeout)
			c2.ends(t, before, 10*time.Second, event.ReasonIdleTimeout)
			if end := v.terminalOf("r1").(*event.RequestCancelled); end.Timings.Human != 0 ||
				end.Timings.Active != 10*time.Second {
				t.Errorf("the timings are %+v", end.Timings)
			}
			v.noPrompt() // both calls that it may belong to are over
		})
	})
	t.Run("two questions at once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), clocked(limits))
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
			synctest.Wait()
			for range 2 {
				if _, err := s.Request(elicitation, formParams); err != nil {
					t.Fatal(err)
				}
			}
			opened := eventsOf[*event.PromptOpened](v)
			pass(5 * time.Minute)
			v.answer(event.PromptAnswer{PromptID: opened[0].Prompt.ID, Action: event.ActionDecline})
			pass(5 * time.Minute)
			if s := w.state("r1"); s != "awaiting_input" {
				t.Errorf("the call is %s while a question is open", s)
			}
			v.answer(event.PromptAnswer{PromptID: opened[1].Prompt.ID, Action: event.ActionDecline})
			c.ends(t, before, 10*time.Minute+10*time.Second, event.ReasonIdleTimeout)
		})
	})
	t.Run("one that names the call and one that does not", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			w := newWorld(t, serversOf("s", a.Server), clocked(limits))
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			named := v.prompt()
			none := time.Duration(0)
			w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang", Timeouts: hub.Timeouts{Idle: &none, Total: &none}})
			synctest.Wait()
			if _, err := a.Request(elicitation, formParams); err != nil {
				t.Fatal(err)
			}
			opened := eventsOf[*event.PromptOpened](v)
			pass(time.Minute)
			(<-a.asked).Cancel("never mind")
			v.wantClosed(named.ID, event.CauseWithdrawn, event.OriginServer, "never mind")
			if s := w.state("r1"); s != "running" {
				t.Errorf("the call is %s, and nobody is asked in its course any more", s)
			}
			c.ends(t, before, time.Minute+10*time.Second, event.ReasonIdleTimeout)
			v.answer(event.PromptAnswer{PromptID: opened[1].Prompt.ID, Action: event.ActionDecline})
		})
	})
	t.Run("approval", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, serversOf("s", hanging()), `s:"timeouts":{`+limits+`}`)
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
			pass(20 * time.Minute)
			v.answer(yes(v.prompt(), event.ScopeOnce))
			c.ends(t, before, 20*time.Minute+10*time.Second, event.ReasonIdleTimeout)
		})
	})
	t.Run("between rounds", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, serversOf("s", rounds(1)), clocked(limits))
			v := w.everything()
			before := time.Now()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask", Arguments: `{"hang":true}`})
			pass(20 * time.Minute)
			v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			c.ends(t, before, 20*time.Minute+10*time.Second, event.ReasonIdleTimeout)
		})
	})
}

// The error of a timeout says which setting to change, where it is, and its value.
func TestTimeoutNamesTheSetting(t *testing.T) {
	for setting, tc := range map[string]struct{ limits, reason string }{
		"timeouts.idle":  {`"idle":"7s"`, event.ReasonIdleTimeout},
		"timeouts.total": {`"idle":"0","total":"7s"`, event.ReasonTotalTimeout},
	} {
		t.Run(setting, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()), clocked(tc.limits))
				before := time.Now()
				e := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}).ends(t, before, 7*time.Second, tc.reason)
				if e.Meta["setting"] != setting || e.Meta["limit"] != "7s" || e.Meta["server"] != "s" ||
					e.Meta["request_id"] != "r1" {
					t.Errorf("the error has %+v", e.Meta)
				}
				for _, word := range []string{setting, "test.json:1", "7s", `"hang"`} {
					if !strings.Contains(e.Message, word) {
						t.Errorf("%q does not name %s", e.Message, word)
					}
				}
			})
		})
	}
}

// The limits of a call override those of the config; 0 means no limit.
func TestCallTimeoutsOverrideConfig(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), clocked(`"idle":"10s","total":"1m"`))
		short, none := 3*time.Second, time.Duration(0)
		before := time.Now()
		w.call(hub.CallRequest{Server: "s", Tool: "hang", Timeouts: hub.Timeouts{Idle: &short}}).ends(t, before,
			3*time.Second, event.ReasonIdleTimeout)
		before = time.Now()
		w.call(hub.CallRequest{Server: "s", Tool: "hang", Timeouts: hub.Timeouts{Idle: &none}}).ends(t, before, time.Minute,
			event.ReasonTotalTimeout)
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang", Timeouts: hub.Timeouts{Idle: &none, Total: &none}})
		pass(30 * 24 * time.Hour)
		if c.over() {
			t.Fatal("a call without limits ended")
		}
		if _, err := w.hub.CancelRequest("r1", "", "", event.OriginHost); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		p := w.call(hub.CallRequest{Server: "s", Tool: "hang", Timeouts: hub.Timeouts{Human: &short, Idle: &none}})
		pass(2 * short)
		if p.over() {
			t.Error("the human limit of a call counts while nobody is asked")
		}
	})
}

// A timeout is a cancel: one notification with a reason that the server can use, one event, origin timeout.
func TestTimeoutSendsCancel(t *testing.T) {
	for _, tc := range []struct{ limits, reason string }{
		{`"idle":"10s"`, "timeouts.idle of 10s exceeded"}, {`"total":"10s"`, "timeouts.total of 10s exceeded"},
	} {
		t.Run(tc.limits, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				w := newWorld(t, serversOf("s", s), clocked(tc.limits))
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				<-c.done
				if got := cancels(s); len(got) != 1 || object(t, got[0])["reason"] != tc.reason {
					t.Errorf("cancels %v", got)
				}
				end := last[*event.RequestCancelled](v)
				if end.RequestID != "r1" || end.Cancellation.Origin != event.OriginTimeout ||
					end.Cancellation.Reason != tc.reason ||
					!end.ServerNotified() || end.Err != c.err {
					t.Errorf("the end of the request is %+v", end)
				}
				pass(time.Hour)
				if n := len(eventsOf[*event.RequestCancelled](v)); n != 1 {
					t.Errorf("%d ends", n)
				}
			})
		})
	}
}

// The timings of a call distinguish the time for the start of its server, for people, and for the work.
func TestTimings(t *testing.T) {
	for _, end := range []string{"done", "cancelled"} {
		t.Run(end, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging(fakeserver.WithSilentProbe()) // 5 s until the hub takes it for a legacy one
				s.Tool("work", func(c *fakeserver.CallContext) {
					time.Sleep(3 * time.Second)
					<-c.Request(elicitation, formParams).Response()
					time.Sleep(8 * time.Second)
					c.Text("done")
				})
				w := newWorld(t, serversOf("s", s))
				v := w.everything()
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "work"})
				pass(5*time.Second + 7*time.Second)
				v.answer(yes(v.prompt(), event.ScopeOnce))
				pass(3*time.Second + 11*time.Second)
				v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
				want := event.Timings{Queued: 5 * time.Second, Active: 11 * time.Second, Human: 18 * time.Second}
				var got event.Timings
				if end == "done" {
					got = c.ok(t).Timings
					if f := last[*event.RequestFinished](v); f.RequestID != "r1" || f.Timings != got {
						t.Errorf("the end of the request is %+v", f)
					}
				} else {
					want.Active = 5 * time.Second
					pass(2 * time.Second)
					if _, err := v.win.Cancel("r1", ""); err != nil {
						t.Fatal(err)
					}
					c.want(t, event.CodeCancelled, event.ReasonCancelled)
					got = last[*event.RequestCancelled](v).Timings
				}
				if got != want {
					t.Errorf("timings %s, want %s", show(got), show(want))
				}
			})
		})
	}
}

func show(t event.Timings) string {
	return fmt.Sprintf("queued %v, active %v, human %v", t.Queued, t.Active, t.Human)
}
