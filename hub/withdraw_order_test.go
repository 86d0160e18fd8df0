package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A server that withdraws its question and answers the call in the next line has withdrawn: the card must not say that the call ended it.
func TestWithdrawalBeforeTheResult(t *testing.T) {
	for range 200 {
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
			if end := last[*hub.PromptClosed](v); end.Cause != hub.CauseWithdrawn || end.Reason != "never mind" || end.Origin != hub.OriginServer {
				t.Fatalf("promptClosed says %+v", end)
			}
			if end := last[*hub.RequestCancelled](v); end.Cancellation.Origin != hub.OriginServer {
				t.Fatalf("mcpRequestCancelled says %+v", end)
			}
			if got := responses(s); len(got) != 0 {
				t.Fatalf("something was answered: %v", got)
			}
		})
	}
}
