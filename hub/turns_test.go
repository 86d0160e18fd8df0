package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// client is a hub.Caller that declines whatever it is asked.
type client string

func (c client) Client() string                                         { return string(c) }
func (c client) Answers() event.Kinds                                   { return formsOnly() }
func (c client) Heard() bool                                            { return true }
func (c client) Progress(json.RawMessage)                               {}
func (c client) Completed() func(string)                                { return func(string) {} }
func (c client) Roots(context.Context, string) (json.RawMessage, error) { return nil, nil }
func (c client) Ask(context.Context, *mcp.Question) (a mcp.Answer, err error) {
	return mcp.Answer{Action: mcp.Decline}, nil
}

// cannotBeAsked is a client that cannot be asked, though it has declared that it answers.
type cannotBeAsked struct{ client }

func (cannotBeAsked) Ask(context.Context, *mcp.Question) (mcp.Answer, error) {
	return mcp.Answer{}, hub.ErrNotAsked
}

// A question to a client that cannot be asked is shown in the windows, and answered there. Before that, none shows it.
func TestWindowsGetWhatTheClientCannotBeAsked(t *testing.T) {
	for _, of := range []hub.Caller{cannotBeAsked{"c"}, client("c")} {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask", Caller: of})
			synctest.Wait()
			if _, cannot := of.(cannotBeAsked); cannot {
				v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
			} else if opened := eventsOf[*event.PromptOpened](v); len(opened) > 0 {
				t.Errorf("a window shows what the client was asked: %+v", opened[0].Prompt)
			}
			if text := textOf(t, c.ok(t)); text != `{"action":"decline"}` {
				t.Errorf("the server was answered %s", text)
			}
			w.nothingLeft()
		})
	}
}

// withClients returns a world with one server, and a gateway, whose clients call it.
func withClients(t *testing.T, s *fakeserver.Server, entry string) (*world, *hub.Gateway) {
	w := newWorld(t, serversOf("s", s), entry)
	gateway, err := w.hub.OpenGateway()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	return w, gateway
}

// of makes a call of a client, nil for a person.
func (w *world) of(client hub.Caller, id, tool string) *pendingCall {
	defer synctest.Wait()
	return w.call(hub.CallRequest{ID: id, Server: "s", Tool: tool, Caller: client})
}

func (w *world) cancels(id string) {
	w.t.Helper()
	if _, err := w.hub.CancelRequest(id, "s", "enough", event.OriginUser); err != nil {
		w.t.Fatal(err)
	}
}

func formsOnly() (k event.Kinds) {
	k.Add(event.PromptElicitationForm, false)
	return k
}

// A server answers a call at once when it reads its cancel, before the hub has noted the end of the call or after: the
// next call has its turn in both cases.
func TestTurnAfterAnAnsweredCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("obeys", func(c *fakeserver.CallContext) {
			<-c.Cancelled()
			c.Text("cancelled")
		})
		w, _ := withClients(t, s, "s:"+allow)
		call := func(n int, of client) *pendingCall { return w.of(of, fmt.Sprint(of, n), "obeys") }
		last := call(0, "c")
		other := call(0, "d")
		if _, err := s.Request(elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel := func(n int, of client) { w.cancels(fmt.Sprint(of, n)) }
		cancel(0, "d")
		<-other.done
		for n := range 300 {
			of := []client{"c", "d"}[n%2]
			next := call(n+1, []client{"d", "c"}[n%2])
			cancel(n, of)
			<-last.done
			synctest.Wait()
			if r := w.hub.Requests("s"); len(r) != 1 || r[0].State != event.StateRunning {
				t.Fatalf("after %d calls: %+v", n+1, r)
			}
			last = next
		}
		cancel(300, "c")
		<-last.done
		w.nothingLeft()
	})
}

// A server that is connected in the modern era from then on says in which call it asks: no call waits for its turn.
func TestNoTurnsInTheModernEra(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithBothEras())
		w, _ := withClients(t, s, `s:"era":"legacy",`+allow)
		call := func(of client) *pendingCall { return w.of(of, string(of), "hang") }
		states := func() (list []event.RequestState) {
			for _, r := range w.hub.Requests("s") {
				list = append(list, r.State)
			}
			return list
		}
		c, d := call("c"), call("d")
		if _, err := s.Request(elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e := call("e")
		running, queued := event.StateRunning, event.StateQueued
		if diff := cmp.Diff([]event.RequestState{running, running, queued}, states()); diff != "" {
			t.Error(diff)
		}
		w.load(`s:"era":"modern",` + allow)
		for _, call := range []*pendingCall{c, d, e} {
			<-call.done
		}
		c, d = call("c"), call("d")
		if diff := cmp.Diff([]event.RequestState{running, running}, states()); diff != "" {
			t.Error(diff)
		}
		w.hub.CancelRequests(hub.CancelScope{All: true}, "enough", event.OriginUser)
		<-c.done
		<-d.done
		w.nothingLeft()
	})
}

// The calls of a client to a server that wait for the end of those of another client, since the server has asked a
// question that may be of either, are queued requests: they can be cancelled without a trace on the wire, a new
// connection does not need the turns of the old one, and a person does not wait for them. TestCrossing of ipc/gateway
// has whose turn it is.
func TestCallsThatWaitForTheirTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, _ := withClients(t, s, "s:"+allow)
		call := func(id string, of hub.Caller) *pendingCall { return w.of(of, id, "hang") }
		state := func(id string) event.RequestState {
			for _, r := range w.hub.Requests("s") {
				if r.ID == id {
					return r.State
				}
			}
			return 0
		}
		cancel := func(id string) {
			w.cancels(id)
			synctest.Wait()
		}
		sent := func() int { return s.Count(func(m fakeserver.Message) bool { return m.Method == "tools/call" }) }

		c1, d1 := call("c1", client("c")), call("d1", client("d"))
		q, err := s.Request(elicitation, formParams)
		if err != nil {
			t.Fatal(err)
		}
		if a := <-q.Response(); string(a.Result) != `{"action":"cancel"}` {
			t.Fatalf("a question of either was answered with %+v", a)
		}
		c2, d2, mine := call("c2", client("c")), call("d2", client("d")), call("mine", nil)
		if state("c2") != event.StateQueued || state("d2") != event.StateQueued || state("mine") != event.StateRunning {
			t.Errorf("behind both: %v, %v; a person's: %v", state("c2"), state("d2"), state("mine"))
		}
		cancel("c2")
		e := c2.want(t, event.CodeCancelled, event.ReasonCancelled)
		if e.Meta["server_may_continue"] == "true" || sent() != 3 {
			t.Errorf("a call that was cancelled while it waited: %+v, %d were sent", e.Meta, sent())
		}
		cancel("c1")
		c1.want(t, event.CodeCancelled, event.ReasonCancelled)
		pass(20 * time.Second)
		if state("d2") != event.StateQueued {
			t.Errorf("beside a cancelled call that the server has not answered: %v", state("d2"))
		}
		cancel("d1")
		d1.want(t, event.CodeCancelled, event.ReasonCancelled)
		c3 := call("c3", client("c"))
		w.procs["s"][0].Kill()
		synctest.Wait()
		mine.want(t, event.CodeUnavailable, event.ReasonServerGone)
		pass(5 * time.Second)
		if state("d2") != event.StateRunning || state("c3") != event.StateQueued {
			t.Errorf("on the next connection: %v, %v", state("d2"), state("c3"))
		}
		pass(30 * time.Second)
		if state("c3") != event.StateRunning {
			t.Errorf("behind a call that does not end: %v", state("c3"))
		}
		cancel("d2")
		cancel("c3")
		d2.want(t, event.CodeCancelled, event.ReasonCancelled)
		c3.want(t, event.CodeCancelled, event.ReasonCancelled)
		w.nothingLeft()
	})
}

// Events at the very moment at which the timer of the turns fires, before it has the lock, leave one timer, not one
// more each time: each of them would fire for as long as cancelled calls keep their turn.
func TestTurnsHaveOneTimer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, gateway := withClients(t, s, "s:"+allow)
		call := func(id string, of client) *pendingCall { return w.of(of, id, "hang") }
		cancel := func(id string, c *pendingCall) {
			w.cancels(id)
			<-c.done
			synctest.Wait()
		}
		c, d := call("c", "c"), call("d", "d")
		if _, err := s.Request(elicitation, formParams); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel("c", c)
		cancel("d", d)
		for n := range 300 { // from the 30th on, a turn is over each second
			time.Sleep(time.Second)
			gateway.ClientGone("c")
			synctest.Wait()
			id := fmt.Sprint(n)
			cancel(id, call(id, "c"))
		}
		before := w.hub.LockCount()
		pass(time.Second)
		if fired := w.hub.LockCount() - before - 1; fired != 1 {
			t.Errorf("%d timers fired for one turn that was over", fired)
		}
		pass(time.Minute)
		w.nothingLeft()
	})
}
