package hub_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// lastSeq is the number of the last event that the window was told.
func (v *view) lastSeq() uint64 {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seq
}

// A window that attaches is shown everything that there is, and goes on from there.
func TestSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, map[string]*fakeserver.Server{"s": a.Server, "t": hanging()}, "s:"+allow)
		first := w.everything()
		c1 := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask", TaskLabel: "x"})
		p := first.prompt()
		c2 := w.call(hub.CallRequest{ID: "r2", Server: "t", Tool: "hang"})
		synctest.Wait()
		v := w.everything()
		s := v.start.Snapshot
		if len(s.Servers) != 2 || s.Servers[0].Name != "s" ||
			s.Servers[0].State != event.ServerReady {
			t.Fatalf("%+v", v.start)
		}
		var states []string
		for _, r := range s.Requests {
			states = append(states, r.ID+" "+r.State.String()+" "+r.TaskLabel+" "+r.ParentRequestID)
		}
		if want := []string{"r1 awaiting_input x ", p.RequestID + " awaiting_input  r1",
			"r2 awaiting_approval  "}; !slices.Equal(states, want) {
			t.Errorf("requests %q, want %q", states, want)
		}
		if len(s.Prompts) != 2 || s.Prompts[0].ID != p.ID || s.Prompts[1].Kind != event.PromptToolApproval {
			t.Errorf("%+v", s.Prompts)
		}
		// The new window may answer like the first one.
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
		c1.ok(t)
		if closed := last[*event.PromptClosed](first); closed.PromptID != p.ID || closed.WindowID != v.win.ID() {
			t.Errorf("%+v", closed)
		}
		v.answer(event.PromptAnswer{PromptID: s.Prompts[1].ID, Action: event.ActionDecline})
		c2.want(t, event.CodePermissionDenied, event.ReasonDeniedByUser)
		after := w.everything().start.Snapshot
		if len(after.Requests) != 0 || len(after.Prompts) != 0 {
			t.Errorf("%+v", after)
		}
	})
}

// back attaches v's window again.
func (w *world) back(v *view, kinds []event.PromptKind) *view {
	return w.attach(hub.Hello{WindowID: v.win.ID(), Kinds: kinds, SamplingTools: true, ComesBackTo: w.hub.ID(),
		MaxHistory: 10})
}

// A prompt outlives the reload of its window, and is answered by the window that came back.
func TestWindowDetachesMidPromptAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server))
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		approval := v.prompt()
		v.win.Detach(false)
		v = w.back(v, allKinds)
		if open := v.start.Snapshot.Prompts; len(open) != 1 || open[0].ID != approval.ID {
			t.Errorf("the snapshot shows %+v", open)
		}
		v.answer(yes(approval, event.ScopeOnce))
		p := v.prompt()
		v.win.Detach(false)
		pass(9 * time.Second)
		v2 := w.attach(hub.Hello{WindowID: v.win.ID(), Kinds: allKinds, SamplingTools: true})
		if v2.prompt().ID != p.ID || v2.start.Snapshot == nil {
			t.Errorf("%+v", v2.start)
		}
		pass(time.Minute) // the time to come back no longer runs for the old stream
		v2.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		if got := textOf(t, c.ok(t)); got != `{"action":"accept","content":{"name":"Ada"}}` {
			t.Errorf("the server got %s", got)
		}
	})
	t.Run("and comes back with less", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
			p := v.prompt()
			v.win.Detach(false)
			less := w.back(v, []event.PromptKind{event.PromptToolApproval})
			if got := textOf(t, c.ok(t)); got != `{"action":"cancel"}` {
				t.Errorf("the server got %s", got)
			}
			less.wantClosed(p.ID, event.CauseSuperseded, event.OriginPolicy, "no window is left that can show it")
		})
	})
}

// A call that comes after the window that owns it has closed for good ends at once, as it would have then: no window
// would be left to end it.
func TestCallOfAWindowThatHasClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.attach(hub.Hello{WindowID: "mine"})
		v.win.Detach(true)
		e := w.call(hub.CallRequest{ID: "late", Server: "s", Tool: "hang", OwnerWindowID: "mine"}).want(t,
			event.CodeCancelled,
			event.ReasonCancelled)
		if e.Meta["origin"] != "host" || e.Meta["cancel_reason"] != "the window that owns the call closed" {
			t.Errorf("%v", e.Meta)
		}
		if n := toolCalls(s); n != 0 {
			t.Errorf("%d calls reached the server", n)
		}
		w.attach(hub.Hello{WindowID: "mine"}) // another one with this id may own calls again
		c := w.call(hub.CallRequest{ID: "owned", Server: "s", Tool: "hang", OwnerWindowID: "mine"})
		if got := w.state("owned"); got != "running" {
			t.Errorf("the call of the next window is %s", got)
		}
		w.hub.CancelRequests(hub.CancelScope{All: true}, "", event.OriginHost)
		<-c.done
		w.nothingLeft()
	})
}

// The calls that a window owns end with it: at once when it closed, after a while when its stream broke, not at all
// when it comes back.
func TestOwnerWindowGone(t *testing.T) {
	const reason = "the window that owns the call closed"
	start := func(t *testing.T) (*world, *fakeserver.Server, *view, *pendingCall, *pendingCall) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.attach(hub.Hello{WindowID: "mine"})
		c := w.call(hub.CallRequest{ID: "owned", Server: "s", Tool: "hang", OwnerWindowID: "mine"})
		free := w.call(hub.CallRequest{ID: "free", Server: "s", Tool: "hang"})
		synctest.Wait()
		return w, s, v, c, free
	}
	gone := func(t *testing.T, s *fakeserver.Server, c, free *pendingCall) {
		t.Helper()
		e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if e.Meta["origin"] != "host" || e.Meta["cancel_reason"] != reason {
			t.Errorf("%v", e.Meta)
		}
		if got := cancels(s); len(got) != 1 || object(t, got[0])["reason"] != reason || free.over() {
			t.Errorf("cancels %v; another call ended: %v", got, free.over())
		}
	}
	t.Run("closed", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			_, s, v, c, free := start(t)
			before := time.Now()
			v.win.Detach(true)
			gone(t, s, c, free)
			if time.Since(before) != 0 {
				t.Error("it took time")
			}
		})
	})
	t.Run("broken", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			_, s, v, c, free := start(t)
			before := time.Now()
			v.win.Detach(false)
			v.win.Detach(false)
			gone(t, s, c, free)
			if d := time.Since(before); d != 10*time.Second {
				t.Errorf("the call ended after %v", d)
			}
		})
	})
	t.Run("back in time", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, s, v, c, free := start(t)
			v.win.Detach(false)
			pass(9 * time.Second)
			again := w.attach(hub.Hello{WindowID: "mine"})
			pass(time.Minute)
			if c.over() {
				t.Fatal("the call ended")
			}
			v.win.Detach(true) // the old stream does not count any more
			synctest.Wait()
			if c.over() {
				t.Fatal("the call ended with a stream that had been replaced")
			}
			again.win.Detach(true)
			gone(t, s, c, free)
		})
	})
}

func TestWindowIDInUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, nil)
		v := w.attach(hub.Hello{WindowID: "mine"})
		_, err := w.tryAttach(hub.Hello{WindowID: "mine"})
		if e := event.AsError(err); e == nil || e.Code != event.CodeAlreadyExists || e.Reason != event.ReasonWindowIDInUse {
			t.Errorf("%v", err)
		}
		v.win.Detach(false)
		w.attach(hub.Hello{WindowID: "mine"})
		// Minted ids avoid the chosen ones.
		next := ownID(w.hub, "window", 4)
		w.attach(hub.Hello{WindowID: next})
		if id := w.attach(hub.Hello{}).win.ID(); id != next+"'" {
			t.Errorf("minted %q", id)
		}
	})
}

// When the last window that could answer has gone, its prompts close: the call that was asked about fails, the server's
// question is dismissed.
func TestLastWindowGoneEndsPrompts(t *testing.T) {
	for _, tc := range []struct {
		final bool
		after time.Duration
	}{{true, 0}, {false, 10 * time.Second}} {
		t.Run(fmt.Sprintf("final %v", tc.final), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := asking(elicitation, formParams)
				w := newWorld(t, serversOf("s", a.Server), `s:"alwaysAllow":["ask"]`)
				witness := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
				v := w.everything()
				asks := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
				synctest.Wait()
				approval := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
				synctest.Wait()
				before := time.Now()
				v.win.Detach(tc.final)
				approval.want(t, event.CodeFailedPrecondition, event.ReasonNoApprover)
				if got := textOf(t, asks.ok(t)); got != `{"action":"cancel"}` {
					t.Errorf("the server got %s", got)
				}
				if d := time.Since(before); d != tc.after {
					t.Errorf("it took %v", d)
				}
				closed := eventsOf[*event.PromptClosed](witness)
				if len(closed) != 2 || closed[0].Cause != event.CauseSuperseded || closed[1].Cause != event.CauseSuperseded ||
					closed[0].Origin != event.OriginPolicy {
					t.Errorf("%+v", closed)
				}
			})
		})
	}
}

// Servers are given the workspace folders of all windows, each once, and are told when that list changes, and only
// then.
func TestRootsOfAllWindows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("roots", func(c *fakeserver.CallContext) { c.Text(answerOf(<-c.Request("roots/list", "").Response())) })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		a, b, c := hub.Root{URI: "file:///a", Name: "a"}, hub.Root{URI: "file:///b"}, hub.Root{URI: "file:///c"}
		changes := 0
		check := func(want string, told bool) {
			t.Helper()
			if got := textOf(t, w.call(hub.CallRequest{Server: "s", Tool: "roots"}).ok(t)); got != `{"roots":[`+want+`]}` {
				t.Errorf("roots %s, want %s", got, want)
			}
			if told {
				changes++
			}
			if n := s.Count(fakeserver.Method("notifications/roots/list_changed")); n != changes {
				t.Errorf("%d changes were told, want %d", n, changes)
			}
		}
		check(``, false)
		v1 := w.attach(hub.Hello{WindowID: "1", Roots: []hub.Root{a, b}})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"}`, true)
		v2 := w.attach(hub.Hello{Roots: []hub.Root{b}})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"}`, false)
		v2.win.SetRoots([]hub.Root{b, c})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"},{"uri":"file:///c"}`, true)
		v1.win.Detach(false) // it may come back
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"},{"uri":"file:///c"}`, false)
		pass(11 * time.Second)
		check(`{"uri":"file:///b"},{"uri":"file:///c"}`, true)
		v2.win.Detach(true)
		check(``, true)
	})
}
