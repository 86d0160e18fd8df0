package hub_test

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A server that withdraws its question and answers the call in the next line has withdrawn: the prompt must not be told
// as closed by the end of the call.
func TestWithdrawalBeforeTheResult_long(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		bubble(t, func(t *testing.T) {
			s := fakeserver.New()
			withdrawNow := make(chan struct{})
			s.Tool("ask", func(c *fakeserver.CallContext) {
				ask := c.Request("elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
				<-withdrawNow
				ask.Cancel("never mind")
				c.Text("done without you")
			})
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			v := w.everything()
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			v.prompt()
			close(withdrawNow)
			c.ok(t)
			if end := last[*event.PromptClosed](v); end.Cause != event.CauseWithdrawn || end.Reason != "never mind" ||
				end.Origin != event.OriginServer {
				t.Fatalf("promptClosed says %+v", end)
			}
			if end := last[*event.RequestCancelled](v); end.Cancellation.Origin != event.OriginServer {
				t.Fatalf("mcpRequestCancelled says %+v", end)
			}
			if got := responses(s); len(got) != 0 {
				t.Fatalf("something was answered: %v", got)
			}
		})
	}
}

// Over Streamable HTTP the withdrawal comes on another stream than the result, and often behind it: the question gets
// no answer all the same.
func TestWithdrawalBehindTheResult(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		s.Tool("ask", func(c *fakeserver.CallContext) {
			ask := c.Request("elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
			<-time.After(100 * time.Millisecond)
			c.Text("done without you")
			<-time.After(500 * time.Millisecond)
			ask.Cancel("never mind")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := v.prompt()
		c.ok(t)
		v.wantClosed(p.ID, event.CauseParent, event.OriginParent, "the request that caused it is over")
		pass(time.Minute)
		if got := responses(s); len(got) != 0 {
			t.Errorf("something was answered: %v", got)
		}
	})
}
