package hub_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func (w *world) callTo(server, tool string) *pendingCall {
	return w.call(hub.CallRequest{Server: server, Tool: tool})
}

// questions is a window that sends the ids of the prompts that open in it. It must have room for all of them, since
// Deliver is called with the hub's lock held.
type questions chan string

func (q questions) Deliver(e event.Event) {
	if o, ok := e.Body.(*event.PromptOpened); ok {
		q <- o.Prompt.ID
	}
}

func (questions) Closed(*event.Error) {}

// There are calls to both servers, reloads, and changes from one entry to the other at the same time. Each call ends,
// and a call by an address is answered by the server with that address.
func TestBothScopesRace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		says := func(text string) *fakeserver.Server {
			s := fakeserver.New()
			s.Tool("echo", func(c *fakeserver.CallContext) { c.Text(text) })
			return s
		}
		w := newWorldWith(t, hub.Options{}, map[string]*fakeserver.Server{"m": says("user"), "t": says("workspace")})
		mine, theirs := ofServer(`{"command":"m","alwaysAllow":["*"]}`), ofServer(`{"command":"t","alwaysAllow":["*"]}`)
		w.twoFiles(mine, theirs)
		w.everything() // checks the order of the events
		asked := make(questions, 10_000)
		person, _, err := w.hub.Attach(hub.Hello{WindowID: "one", Kinds: startKinds}, asked)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		stop := make(chan struct{})
		all.Go(func() { // plays a person who agrees to everything, until stop is closed
			for {
				select {
				case <-stop:
					return
				case id := <-asked:
					_ = person.Answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Scope: event.ScopeWindow})
					w.hub.Servers()
				}
			}
		})
		var work sync.WaitGroup
		addresses := []string{"s", "s@user", "s@workspace"}
		for _, address := range addresses {
			for range 2 {
				work.Go(func() {
					for range 15 {
						r, err := w.hub.CallTool(context.Background(), hub.CallRequest{Server: address, Tool: "echo"})
						if e := event.AsError(err); err != nil && e.Code != event.CodeCancelled && e.Code != event.CodeUnavailable &&
							e.Reason != event.ReasonServerNotFound {
							t.Errorf("%s: %v", address, err)
						}
						_, scope, _ := strings.Cut(address, "@")
						if err == nil && !strings.Contains(string(r.Result), scope) {
							t.Errorf("%s: %s answers", address, r.Result)
						}
					}
				})
			}
		}
		work.Go(func() {
			for i := range 10 {
				if i%2 == 0 {
					_, _ = w.hub.StartWorkspaceEntry(context.Background(), "s")
				} else {
					var ids []string
					for _, r := range w.hub.Remembered("") {
						ids = append(ids, r.ID)
					}
					w.hub.Forget(ids)
					_, _ = w.hub.StopServer(context.Background(), "s", "")
				}
				w.twoFiles(mine, theirs)
			}
		})
		work.Wait()
		for _, address := range addresses { // nothing changes any more
			w.callTo(address, "echo").ok(t)
		}
		close(stop)
		all.Wait()
		servers, _ := w.hub.Servers()
		if len(servers) != 2 || servers[0].Name != "s" || servers[1].ConfigName != "s" {
			t.Errorf("the servers are %+v", servers)
		}
		if bad := w.hub.Inconsistent(); bad != "" {
			t.Error(bad)
		}
	})
}
