package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
)

// ready brings a server's config to the point where it can be started: the user has agreed to it, if it needs that, and every reference in it is resolved.
// It runs in the goroutine of the start, without the lock, and may ask the user; time in which a person is asked does not count against the start.
func (h *Hub) ready(_ context.Context, _ *server, conf config.Server) (config.Resolved, error) {
	return config.Resolved{Server: conf}, nil
}
