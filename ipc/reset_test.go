package ipc

import (
	"context"
	"testing"
	"testing/synctest"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Only a window that says so is closed for good. One whose stream ends in another way may come back: Node's HTTP/2
// half-closes each stream that it resets, and on a busy machine nothing may follow for long.
func TestOnlyCloseWindowIsFinal(t *testing.T) {
	for name, c := range map[string]struct{ says, halfClose, final bool }{
		"close_window":                  {true, false, true},
		"close_window and a half-close": {true, true, true},
		"half-close":                    {false, true, false},
		"reset":                         {false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				stream, err := mcphubv1.NewEditorServiceClient(serve(t, h, Options{})).Attach(ctx)
				if err != nil {
					t.Fatal(err)
				}
				messages := []*mcphubv1.AttachRequest{
					{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}},
					{Message: &mcphubv1.AttachRequest_CloseWindow{CloseWindow: &mcphubv1.CloseWindow{}}},
				}
				if !c.says {
					messages = messages[:1]
				}
				for _, m := range messages {
					if err := stream.Send(m); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				switch {
				case c.halfClose:
					if err := stream.CloseSend(); err != nil {
						t.Fatal(err)
					}
				case !c.says:
					stop(nil)
				}
				synctest.Wait()
				if got := h.window(0).detached(); len(got) == 0 || got[0] != c.final {
					t.Errorf("detached %v, want first %v", got, c.final)
				}
			})
		})
	}
}
