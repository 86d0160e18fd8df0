package hub

import (
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// subscriptions are the resources of one server that somebody is subscribed to. They outlive its connections.
type subscriptions struct {
	of    []subscription // in the order in which they were requested
	asked []string       // the subscribers of requests that the server has not answered yet
}

// subscription is one resource and its subscribers: the names of gateways and windows, or "" for the host.
type subscription struct {
	uri string
	by  []string
}

func (s *subscriptions) find(uri string) *subscription {
	i := slices.IndexFunc(s.of, func(of subscription) bool { return of.uri == uri })
	if i < 0 {
		return nil
	}
	return &s.of[i]
}

// reserve reserves a place for a subscription of by to uri, until Subscribed is called. It fails if the server has
// bounds.Subscriptions already, or if by has most subscriptions already (0 means no bound); requests that are not yet
// answered count. reserved reports whether the server has to be asked. shared reports that it need not be, since
// somebody else is subscribed to uri on the present connection; the subscription of by is then recorded at once.
func (s *server) reserve(uri, by string, most int) (reserved, shared bool, err *event.Error) {
	of := s.subscriptions.find(uri)
	if of != nil && slices.Contains(of.by, by) {
		return false, false, nil
	}
	if most > 0 && len(s.subscribedBy(by))+s.subscriptions.askedBy(by) >= most {
		return false, false, event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded,
			[]string{"server", s.name},
			"%s is subscribed to %d resources of server %q, which is as many as one may be; unsubscribe some", by, most,
			s.name)
	}
	switch {
	case of != nil && s.conn != nil:
		of.by = append(of.by, by)
		return false, true, nil
	case of == nil && len(s.subscriptions.of)+len(s.subscriptions.asked) >= bounds.Subscriptions:
		return false, false, event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded,
			[]string{"server", s.name},
			"%d resources of server %q are subscribed to, and more are not taken; unsubscribe some", bounds.Subscriptions,
			s.name)
	}
	s.subscriptions.asked = append(s.subscriptions.asked, by)
	return true, false, nil
}

// askedBy counts the unanswered requests of by.
func (s *subscriptions) askedBy(by string) (n int) {
	for _, one := range s.asked {
		if one == by {
			n++
		}
	}
	return n
}

// subscribed records the outcome (ok) of a subscription that was requested on session. reserved is the result of
// Reserve.
func (s *server) subscribed(uri, by string, session *mcp.Session, reserved, ok bool) {
	if i := slices.Index(s.subscriptions.asked, by); reserved && i >= 0 {
		s.subscriptions.asked = slices.Delete(s.subscriptions.asked, i, i+1)
	}
	if !ok || s.removed() {
		return
	}
	if of := s.subscriptions.find(uri); of != nil {
		if !slices.Contains(of.by, by) {
			of.by = append(of.by, by)
		}
		return
	}
	s.subscriptions.of = append(s.subscriptions.of, subscription{uri, []string{by}})
	if s.conn != nil && s.conn.session != session { // a new connection was made meanwhile without this subscription
		s.resubscribe(s.conn.session)
	}
}

// subscribes reports whether anybody is subscribed to uri.
func (s *server) subscribes(uri string) bool { return s.subscriptions.find(uri) != nil }

// subscribedBy returns the resources that by is subscribed to.
func (s *server) subscribedBy(by string) (uris []string) {
	for _, of := range s.subscriptions.of {
		if slices.Contains(of.by, by) {
			uris = append(uris, of.uri)
		}
	}
	return uris
}

// unsubscribe removes the subscription of by to uri. It reports whether the server has to be told: it is connected, and
// nobody else is subscribed.
func (s *server) unsubscribe(uri, by string) (tell bool) {
	of := s.subscriptions.find(uri)
	if of == nil || !slices.Contains(of.by, by) {
		return false
	}
	of.by = slices.DeleteFunc(of.by, func(other string) bool { return other == by })
	if len(of.by) > 0 {
		return false
	}
	s.subscriptions.of = slices.DeleteFunc(s.subscriptions.of, func(of subscription) bool { return of.uri == uri })
	tell = s.conn != nil
	s.hub.held().apply(core.Unsubscribed{Server: s.number})
	return tell
}

// resubscribe repeats the subscriptions of s on a new connection. Nobody waits for it; failures are logged.
func (s *server) resubscribe(session *mcp.Session) {
	if len(s.subscriptions.of) == 0 {
		return
	}
	var uris []string
	for _, of := range s.subscriptions.of {
		uris = append(uris, of.uri)
	}
	limit, late := s.connectLimit("did not take its subscriptions over")
	s.hub.work.Go(func() {
		ctx, stop := s.within(context.Background(), limit, late)
		defer stop()
		for _, uri := range uris {
			still := func() (ok bool) {
				s.hub.within(func() { ok = s.subscribes(uri) })
				return ok
			}
			if !still() {
				continue
			}
			if err := session.Subscribe(ctx, uri); err != nil && still() {
				s.hub.log.Warn("a subscription was not taken over to the new connection", "server", s.name,
					"error", bounds.Cut(err.Error(), bounds.ErrorTextBytes))
			}
		}
	})
}
