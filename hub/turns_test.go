package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
