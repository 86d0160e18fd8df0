package ipc

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestSlowWindowDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		stream := deaf(t, conn)
		synctest.Wait()
		for range bounds.WindowQueue + 2000 {
			h.emit(&event.ServerChanged{Server: event.ServerInfo{Name: strings.Repeat("x", 1000)}})
		}
		synctest.Wait()
		if got := h.window(0).detached(); len(got) == 0 || got[0] {
			t.Fatalf("Detach calls %v, want one that is not final", got)
		}
		var err error
		events := 0
		for ; err == nil; events++ { // what was sent before can still be read, then the status
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.ResourceExhausted || reasonOf(err) != event.ReasonWindowTooSlow {
			t.Errorf("got %v, want RESOURCE_EXHAUSTED WINDOW_TOO_SLOW", err)
		}
		if events > 2000 {
			t.Errorf("%d events came although the window was ended", events)
		}
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t}) // and a new start works
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowWindowSlowsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		deaf(t, conn)
		synctest.Wait()
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		begin := time.Now()
		const n = 6000 // fewer than end the slow window
		for range n {
			h.emit(&event.ServerChanged{Server: event.ServerInfo{Name: strings.Repeat("x", 1000)}})
		}
		synctest.Wait()
		changed := 0
		for _, e := range w.Events() {
			if e.GetServerChanged() != nil {
				changed++
			}
		}
		if changed != n {
			t.Errorf("the quick window got %d of %d events", changed, n)
		}
		if took := time.Since(begin); took != 0 { // fake time: it stands still while any goroutine can run
			t.Errorf("it had to wait %v for the slow one", took)
		}
		if len(h.window(0).detached()) != 0 {
			t.Error("the slow window was ended already: it proves nothing")
		}
	})
}

// deaf attaches a window that never reads.
func deaf(t *testing.T, conn grpc.ClientConnInterface) grpc.BidiStreamingClient[mcphubv1.AttachRequest,
	mcphubv1.AttachResponse] {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(
		&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: &mcphubv1.Hello{}}}); err != nil {
		t.Fatal(err)
	}
	return stream
}
