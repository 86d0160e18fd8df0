//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestHTTPForgottenSession: a server that is restarted behind its URL does not know the session; server-everything
// answers it with 400, the others with 404. The next call goes through on a new session, and runs once. Finding B4.
func TestHTTPForgottenSession(t *testing.T) {
	const tool, long = "trigger-long-running-operation", `{"duration":0,"steps":1}`
	for _, c := range []struct {
		name, tool, arguments, result string
		open                          func(testing.TB) *peers.Server
	}{
		{"server-everything", tool, long, "Long running operation completed", peers.EverythingHTTP},
		{"TypeScript 1", "slow", `{"ms":10,"steps":1}`, "done", peers.TypeScript1.HTTP},
		{"TypeScript 2", "slow", `{"ms":10,"steps":1}`, "done", peers.TypeScript2.HTTP},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := c.open(t)
			between := newTap(t, first.URL)
			p := newPlace(t)
			e := remote("http", between.url+"/mcp")
			e.Era = "legacy"
			d := p.open(servers{"peer": e})
			works := func() *call {
				t.Helper()
				k := d.call("peer", c.tool, c.arguments)
				if text := k.text(); !strings.Contains(text, c.result) {
					t.Errorf("result %q", text)
				}
				return k
			}
			works()
			before := between.await("a call", sent("tools/call")).Session

			second := c.open(t)
			between.to(second.URL) // before: another test's server may get the port of the first one
			first.Kill()
			works()
			works()
			again := map[string]int{} // by session
			for _, m := range between.all(sent("tools/call")) {
				again[m.Session]++
			}
			// On the old session one call was sent before, and perhaps one more, which the new server refused unread.
			if before == "" || again[before] > 2 || len(again) != 2 {
				t.Errorf("calls were sent on sessions %v, the first of them is %q", again, before)
			}
			for session, n := range again {
				if session != before && n != 2 {
					t.Errorf("%d calls were sent on the new session, not 2", n)
				}
			}
			if c.tool == "slow" {
				if n := begun(second, c.tool); n != 2 {
					t.Errorf("the new server began %d calls, not 2", n)
				}
			}
			if state := d.server("peer").GetState(); state != mcphubv1.ServerState_SERVER_STATE_READY {
				t.Errorf("the server is shown as %v", state)
			}
		})
	}
}

// begun counts the calls that a server has begun.
func begun(s *peers.Server, tool string) (n int) {
	for _, e := range s.Events() {
		if e.Is(peers.EventStarted, tool) {
			n++
		}
	}
	return n
}
