package hub_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A question that the server wrote before the result of its call belongs to that call, even if both arrive at once: its
// prompt must not stay open after the call has ended.
func TestQuestionBeforeTheResult_long(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			s.Tool("ask", func(c *fakeserver.CallContext) {
				if err := s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`+"\n"+
					`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", elicitation, formParams, c.ID)); err != nil {
					t.Error(err)
				}
			})
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			c.ok(t)
			v.noPrompt()
			time.Sleep(2 * time.Second) // the hub waits a moment for a withdrawal after the result
			synctest.Wait()
			if got := responses(s); len(got) != 1 || got[0] != `{"jsonrpc":"2.0","id":7,"result":{"action":"cancel"}}` {
				t.Fatalf("answered %v", got)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// The user cancels a call, and the server withdraws its question when it gets the cancel. The prompt has closed with
// the call before that, so this is the cause that the windows are told.
func TestParentCancelComesBeforeTheWithdrawal_long(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		bubble(t, func(t *testing.T) {
			a := asking(elicitation, formParams)
			a.withdraws = true
			w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			p := v.prompt()
			if _, err := v.win.Cancel("r1", "enough"); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "enough")
			if got := responses(a.Server); len(got) != 0 {
				t.Errorf("answered %v", got)
			}
		})
		if t.Failed() {
			return
		}
	}
}
