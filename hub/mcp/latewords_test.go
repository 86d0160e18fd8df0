package mcp

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Finding B10. "The progress value MUST increase with each notification" (basic/utilities/progress): one that goes back
// is marked Back, so that it is not shown, and counted; it is reported all the same, as a sign of life.
func TestProgressThatGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) {
			for _, n := range []float64{50, 10, 50, 90, 20} {
				c.Progress(n, 100, fmt.Sprint(n))
				pass(time.Millisecond) // each is delivered alone, and not coalesced
			}
			c.Result(callResult)
		})
		s := connect(t, f, &recorder{})
		var shown []string
		back := 0
		for range 2 { // a call's progress is its own
			if _, err := s.CallTool(background, &CallRequest{Name: "t", OnProgress: func(p Progress) {
				if p.Back {
					back++
					return
				}
				shown = append(shown, p.Message)
			}}); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"50", "50", "90", "50", "50", "90"}; !slices.Equal(shown, want) || back != 4 ||
			s.Stats().DroppedNotifications != 4 {
			t.Errorf("shown %v, %d back, %d counted", shown, back, s.Stats().DroppedNotifications)
		}
	})
}

// Finding B10. If a server accepts a subscribe after it was given up, the session unsubscribes, unless the resource was
// subscribed to again meanwhile.
func TestSubscribeGivenUpIsTakenBack(t *testing.T) {
	for name, wantedAgain := range map[string]bool{"not wanted again": false, "wanted again": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithCapabilities(`{"resources":{"subscribe":true}}`))
				n := 0
				f.Handle(protocol.MethodSubscribe, func(c *fakeserver.CallContext) {
					if n++; n == 1 {
						c.Hang()
						return
					}
					c.Result(`{}`)
				})
				f.Handle(protocol.MethodUnsubscribe, func(c *fakeserver.CallContext) { c.Result(`{}`) })
				s := connect(t, f, &recorder{})
				ctx, cancel := context.WithCancelCause(background)
				done := make(chan error, 1)
				go func() { done <- s.Subscribe(ctx, "file:///a") }()
				synctest.Wait()
				cancel(&stopped{"enough"})
				if err := <-done; err == nil {
					t.Fatal("subscribed")
				}
				if wantedAgain {
					if err := s.Subscribe(background, "file:///a"); err != nil {
						t.Fatal(err)
					}
				}
				late := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, lines(f, protocol.MethodSubscribe)[0].ID)
				for range 2 {
					if err := f.SendLine(late); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if got, want := len(lines(f, protocol.MethodUnsubscribe)),
					map[bool]int{true: 0, false: 1}[wantedAgain]; got != want {
					t.Errorf("%d unsubscribes, want %d", got, want)
				}
			})
		})
	}
}
