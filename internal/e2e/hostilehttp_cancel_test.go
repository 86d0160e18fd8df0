//go:build unix

package e2e

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// ownStream is the one exchange that lasts: the standalone stream of the legacy era, subscriptions/listen of the modern
// one.
const ownStream = 1

// TestHTTPCancelsLeaveNoGoroutine_nightly counts the hub's goroutines, which its runtime prints when SIGQUIT ends it,
// while the server is still connected.
func TestHTTPCancelsLeaveNoGoroutine_nightly(t *testing.T) {
	const calls = 300
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		p := newPlace(t)
		d, logs := p.openLogged(servers{"web": b.entry(era)})
		w := d.window("side bar")
		for range calls / 50 {
			var begun []*call
			for range 50 {
				begun = append(begun, d.call("web", "slow", ""))
			}
			for _, c := range begun {
				progressed(w, c.id)
				cancels(t, w, c.id, "enough")
				c.fails("CANCELLED", "CANCELLED")
			}
		}
		until(t, "no exchange is left", func() bool { return b.busy() == ownStream })
		d.echoes("web", "still there")
		info, err := d.Hub.GetInfo(d.ctx, &mcphubv1.GetInfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		death := doortest.Watch(t, int(info.GetProcessId()))
		if err := syscall.Kill(int(info.GetProcessId()), syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		death.Wait(t, faketime.Long)
		_ = d.Close(context.Background()) // its error is that the hub ended by itself; it waits for the last log lines
		stacks := strings.Split(logs.String(), "\ngoroutine ")
		ours := 0
		for _, stack := range stacks[1:] {
			if strings.Contains(stack, "mcphub/hub/transport.") || strings.Contains(stack, "mcphub/hub/mcp.") ||
				strings.Contains(stack, "mcphub/hub/jsonrpc.") {
				ours++
			}
		}
		// A connection at rest has a handful.
		if ours < 2 || ours > 20 {
			t.Errorf("%d goroutines of the engine among %d after %d cancels:\n%s", ours, len(stacks)-1, calls, logs)
		}
	})
}
