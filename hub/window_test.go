package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/windows"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// names gives each event as a short word and the id that it is about.
func names(events []event.Event) []string {
	var list []string
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.RequestStarted:
			list = append(list, "started "+b.Request.ID)
		case *event.RequestFinished:
			list = append(list, "finished "+b.RequestID)
		case *event.RequestCancelling:
			list = append(list, "cancelling "+b.RequestID)
		case *event.RequestCancelled:
			list = append(list, "cancelled "+b.RequestID)
		case *event.RequestProgressed:
			list = append(list, "progressed "+b.RequestID)
		case *event.PromptOpened:
			list = append(list, "opened "+b.Prompt.ID)
		case *event.PromptClosed:
			list = append(list, "closed "+b.PromptID)
		default:
			list = append(list, strings.TrimPrefix(fmt.Sprintf("%T", b), "*event."))
		}
	}
	return list
}

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
		seq := first.lastSeq()
		v := w.everything()
		s := v.start.Snapshot
		if v.start.Resumed || s == nil || s.Seq != seq || len(s.Servers) != 2 || s.Servers[0].Name != "s" ||
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
		if len(after.Requests) != 0 || len(after.Prompts) != 0 || after.Seq <= seq {
			t.Errorf("%+v", after)
		}
	})
}

// resume attaches v's window again, with the events after the last one that v was told.
func (w *world) resume(v *view, kinds []event.PromptKind) *view {
	return w.attach(windows.Hello{WindowID: v.win.ID(), Kinds: kinds, SamplingTools: true,
		Resume: &windows.Resume{HubID: w.hub.ID(), After: v.lastSeq()}})
}

// A window that comes back gets what it missed, in order, and nothing twice.
func TestResumeGetsJustWhatItMissed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v, witness := w.everything(), w.everything()
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"}).ok(t)
		v.lastSeq()
		v.win.Detach(false)
		from := witness.lastSeq()
		c := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
		synctest.Wait()
		w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "echo"}).ok(t)
		again := w.resume(v, allKinds)
		if !again.start.Resumed || again.start.Snapshot != nil {
			t.Fatalf("%+v", again.start)
		}
		// The states of open requests are told anew at the end: progress is not kept.
		if got, want := names(again.start.Events), []string{"started r2", "started r3", "finished r3",
			"progressed r2"}; !slices.Equal(got, want) {
			t.Errorf("missed %q, want %q", got, want)
		}
		var told []event.Event
		for _, e := range witness.events {
			if _, progress := e.Body.(*event.RequestProgressed); e.Seq > from && !progress {
				told = append(told, e)
			}
		}
		if diff := cmp.Diff(told, again.start.Events[:3]); diff != "" {
			t.Errorf("what was missed differs from what others were told:\n%s", diff)
		}
		if _, err := again.win.Cancel("r2", ""); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if got := names(again.events[4:]); !slices.Equal(got, []string{"cancelling r2", "cancelled r2"}) {
			t.Errorf("then came %q", got)
		}
		if n := len(w.resumeNow(again).start.Events); n != 0 {
			t.Errorf("%d events for a window that missed nothing", n)
		}
	})
}

func (w *world) resumeNow(v *view) *view {
	v.lastSeq()
	v.win.Detach(false)
	return w.resume(v, allKinds)
}

// A prompt that was shown to one window alone, because it could not show its kind before, is not lost when that
// window's stream breaks.
func TestResumeKeepsWhatWasForOneWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		other := w.everything()
		v := w.attach(windows.Hello{})
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := other.prompt()
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"}).ok(t)
		seen, otherSeen := v.lastSeq(), other.lastSeq()
		v.win.SetCapabilities(allKinds, true, nil) // the prompt goes out, and is lost on its way
		v.win.Detach(false)
		again := w.attach(windows.Hello{WindowID: v.win.ID(), Kinds: allKinds, SamplingTools: true,
			Resume: &windows.Resume{HubID: w.hub.ID(), After: seen}})
		if got := names(again.start.Events)[0]; got != "opened "+p.ID || again.prompt().ID != p.ID {
			t.Errorf("missed %q", names(again.start.Events))
		}
		// Nothing of it reaches the other window.
		other.win.Detach(false)
		for _, name := range names(w.attach(windows.Hello{WindowID: other.win.ID(), Kinds: allKinds,
			Resume: &windows.Resume{HubID: w.hub.ID(), After: otherSeen}}).start.Events) {
			if strings.HasPrefix(name, "opened") {
				t.Errorf("another window was given %s again", name)
			}
		}
		again.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionDecline})
	})
}

// A window that was away for too long gets a snapshot.
func TestResumeTooOldGetsSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), `s:"approvals":{"no":"deny"}`)
		v := w.everything()
		w.call(hub.CallRequest{Server: "s", Tool: "no"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
		v.lastSeq()
		v.win.Detach(false)
		for range 2048 { // two events each: the journal holds 4096
			w.call(hub.CallRequest{Server: "s", Tool: "no"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
		}
		again := w.resume(v, allKinds)
		if !again.start.Resumed || len(again.start.Events) != 4096 {
			t.Fatalf("resumed %v, %d events", again.start.Resumed, len(again.start.Events))
		}
		again.win.Detach(false)
		w.call(hub.CallRequest{Server: "s", Tool: "no"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)
		late := w.attach(windows.Hello{WindowID: v.win.ID(), Kinds: allKinds,
			Resume: &windows.Resume{HubID: w.hub.ID(), After: v.seq}})
		if late.start.Resumed || late.start.Snapshot == nil || len(late.start.Events) != 0 {
			t.Errorf("resumed %v, %d events", late.start.Resumed, len(late.start.Events))
		}
	})
}

// A resume with the id of another hub, of a window that this one does not know, or after a number that it has not
// reached gets a snapshot.
func TestResumeOtherHub(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()))
		v := w.attach(windows.Hello{WindowID: "mine"})
		v.win.Detach(false)
		for _, hello := range []windows.Hello{
			{WindowID: "mine", Resume: &windows.Resume{HubID: "another", After: v.seq}},
			{WindowID: "mine", Resume: &windows.Resume{HubID: w.hub.ID(), After: v.seq + 1000}},
			{WindowID: "never seen", Resume: &windows.Resume{HubID: w.hub.ID(), After: v.seq}},
		} {
			again := w.attach(hello)
			if again.start.Resumed || again.start.Snapshot == nil {
				t.Errorf("%+v: %+v", hello.Resume, again.start)
			}
			again.win.Detach(false)
		}
	})
}

// A prompt outlives the reload of its window, and is answered by the window that came back.
func TestWindowDetachesMidPromptAndResumes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server))
		v := w.everything()
		c := w.call(hub.CallRequest{Server: "s", Tool: "ask"})
		approval := v.prompt()
		v = w.resumeNow(v)
		if got := names(v.start.Events); !v.start.Resumed || len(got) != 1 || got[0] != "progressed "+approval.RequestID {
			t.Errorf("missed %q", got)
		}
		v.answer(yes(approval, event.ScopeOnce))
		p := v.prompt()
		v.win.Detach(false)
		pass(9 * time.Second)
		v2 := w.attach(windows.Hello{WindowID: v.win.ID(), Kinds: allKinds, SamplingTools: true})
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
			less := w.resume(v, []event.PromptKind{event.PromptToolApproval})
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
		v := w.attach(windows.Hello{WindowID: "mine"})
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
		w.attach(windows.Hello{WindowID: "mine"}) // another one with this id may own calls again
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
		v := w.attach(windows.Hello{WindowID: "mine"})
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
			again := w.attach(windows.Hello{WindowID: "mine"})
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
		v := w.attach(windows.Hello{WindowID: "mine"})
		_, err := w.tryAttach(windows.Hello{WindowID: "mine"})
		if e := event.AsError(err); e == nil || e.Code != event.CodeAlreadyExists || e.Reason != event.ReasonWindowIDInUse {
			t.Errorf("%v", err)
		}
		v.win.Detach(false)
		w.attach(windows.Hello{WindowID: "mine"})
		// Minted ids avoid the chosen ones.
		next := ownID(w.hub, "window", 4)
		w.attach(windows.Hello{WindowID: next})
		if id := w.attach(windows.Hello{}).win.ID(); id != next+"'" {
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
				witness := w.attach(windows.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
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
		a, b, c := windows.Root{URI: "file:///a", Name: "a"}, windows.Root{URI: "file:///b"}, windows.Root{URI: "file:///c"}
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
		v1 := w.attach(windows.Hello{WindowID: "1", Roots: []windows.Root{a, b}})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"}`, true)
		v2 := w.attach(windows.Hello{Roots: []windows.Root{b}})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"}`, false)
		v2.win.SetRoots([]windows.Root{b, c})
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"},{"uri":"file:///c"}`, true)
		v1.win.Detach(false) // it may come back
		check(`{"uri":"file:///a","name":"a"},{"uri":"file:///b"},{"uri":"file:///c"}`, false)
		pass(11 * time.Second)
		check(`{"uri":"file:///b"},{"uri":"file:///c"}`, true)
		v2.win.Detach(true)
		check(``, true)
	})
}
