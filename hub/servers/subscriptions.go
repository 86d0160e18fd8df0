package servers

import (
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// subscriptions are the resources whose changes somebody wants to hear of, over all connections to come.
type subscriptions struct {
	uris  []string // in the order in which they were asked for
	asked int      // that the server was asked for, and has not answered
}

// Reserve takes a place for one more subscription, which Subscribed gives back, or refuses: a server may have so many,
// those that it has not answered among them. false: none is needed.
func (s *Server) Reserve(uri string) (reserved bool, err *event.Error) {
	if slices.Contains(s.subscriptions.uris, uri) {
		return false, nil
	}
	if len(s.subscriptions.uris)+s.subscriptions.asked >= bounds.Subscriptions {
		return false, event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, []string{"server", s.name},
			"%d resources of server %q are subscribed to, and more are not taken; unsubscribe some", bounds.Subscriptions,
			s.name)
	}
	s.subscriptions.asked++
	return true, nil
}

// Subscribed says what came of asking for a subscription on session.
func (s *Server) Subscribed(uri string, session *mcp.Session, reserved, ok bool) {
	if reserved {
		s.subscriptions.asked--
	}
	if !ok || s.life.Removed() || slices.Contains(s.subscriptions.uris, uri) {
		return
	}
	s.subscriptions.uris = append(s.subscriptions.uris, uri)
	if s.conn != nil && s.conn.session != session { // a new connection came up just now, and did not know of it
		s.resubscribe(s.conn.session)
	}
}

// Unsubscribe ends a subscription. It tells whether the server has to be told.
func (s *Server) Unsubscribe(uri string) (tell bool) {
	had := slices.Contains(s.subscriptions.uris, uri)
	s.subscriptions.uris = slices.DeleteFunc(s.subscriptions.uris, func(u string) bool { return u == uri })
	tell = had && s.conn != nil
	s.watchIdle()
	return tell
}

// resubscribe brings the subscriptions of s onto a new connection. Nobody waits for it: what fails is logged.
func (s *Server) resubscribe(session *mcp.Session) {
	if len(s.subscriptions.uris) == 0 {
		return
	}
	uris := slices.Clone(s.subscriptions.uris)
	limit, late := s.ConnectLimit("did not take its subscriptions over")
	s.table.House.Go(func() {
		ctx, stop := s.Within(context.Background(), limit, late)
		defer stop()
		for _, uri := range uris {
			still := func() (ok bool) {
				s.table.House.Update(func() { ok = slices.Contains(s.subscriptions.uris, uri) })
				return ok
			}
			if !still() {
				continue
			}
			if err := session.Subscribe(ctx, uri); err != nil && still() {
				s.table.Logger.Warn("a subscription was not taken over to the new connection", "server", s.name,
					"error", bounds.Cut(err.Error(), bounds.ErrorTextBytes))
			}
		}
	})
}
