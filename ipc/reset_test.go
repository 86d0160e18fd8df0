package ipc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A stream that is reset right after its half-close, as Node's HTTP/2 resets each stream, counts as broken: its window
// may come back. A half-close without a reset is the end of the window.
func TestResetBehindAHalfCloseIsABreak(t *testing.T) {
	for name, c := range map[string]struct{ reset, final bool }{"half-close": {false, true}, "reset": {true, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				stream, err := mcphubv1.NewEditorServiceClient(serve(t, h, Options{})).Attach(ctx)
				if err != nil {
					t.Fatal(err)
				}
				hello := &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}}
				if err := stream.Send(hello); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := stream.CloseSend(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the hub has seen the half-close
				if c.reset {
					stop(nil)
				}
				time.Sleep(2 * resetFollows)
				synctest.Wait()
				if got := h.window(0).detached(); len(got) == 0 || got[0] != c.final {
					t.Errorf("detached %v, want first %v", got, c.final)
				}
			})
		})
	}
}
