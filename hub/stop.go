package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// stop ends s and waits for it. A cause cancels its open requests.
func (h *Hub) stop(ctx context.Context, s *server, cause *event.CancelCause) error {
	var done <-chan struct{}
	h.update(func() { done = h.beginStop(s, cause, servers.Stop) })
	windows.TookEffect(ctx)
	return s.AwaitStop(ctx, done)
}

// beginStop cancels the requests of s and ends its connection once they are over, by one of the events Stop, End and
// Again. nil: nothing ran. h.mu is held.
func (h *Hub) beginStop(s *server, cause *event.CancelCause, by servers.Event) <-chan struct{} {
	var overs []<-chan struct{}
	for _, r := range h.requestsInOrder() {
		if r.server == s && !r.uncancellable && h.requests[r.id] == r {
			h.cancel(r, cause)
			overs = append(overs, r.whenOver())
		}
	}
	return s.EndConnection(overs, cause, by)
}
