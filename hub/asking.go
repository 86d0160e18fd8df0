package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// asking runs something short with the session of a server: a list, a completion. It is no request of its own, as
// nobody is told of it and no person is asked; the end of ctx ends it, and so does the time that the server has for its
// start. doing completes "server x did not ...".
func (h *Hub) asking(ctx context.Context, name, doing string, ask func(context.Context, *mcp.Session) error) error {
	s, err := h.find(name)
	if err != nil {
		return err
	}
	session, err := s.Acquire(ctx, nil)
	if err != nil {
		return contextError(ctx, err)
	}
	defer s.Unlease()
	var limit time.Duration
	var late *event.Error
	h.update(func() { limit, late = s.ConnectLimit("did not " + doing) })
	within, stop := s.Within(ctx, limit, late)
	defer stop()
	err = ask(within, session)
	if outcome.NotRun(err) {
		if session, err = s.Renew(within, nil, session); err == nil {
			err = ask(within, session)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return contextError(ctx, err)
	case within.Err() != nil:
		return late
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return outcome.NotOffered(s.Server, refused)
	}
	return outcome.Exchange(s.Server, fmt.Sprintf("server %q did not %s", name, doing), err)
}
