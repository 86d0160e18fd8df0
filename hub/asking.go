package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
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
	if notRun(err) {
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
		return errNotOffered(s, refused)
	}
	if he := exchangeError(s, "", fmt.Sprintf("server %q did not %s", name, doing), 0, err); he != nil {
		return he
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", name}, "server %q did not %s: %s",
		name, doing,
		s.Quote(err.Error()))
	e.Err = err
	return e
}

// errNotOffered says that a server was not asked, because it has said that it has no such thing.
func errNotOffered(s *server, err *mcp.CapabilityError) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", s.name, "capability", err.Capability},
		"server %q does not offer %s", s.name, err.Capability)
}
