package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// subscriptions records which clients are subscribed to which resource. A server gets one subscribe for the first of
// them, and one unsubscribe after the last.
type subscriptions struct {
	mu sync.Mutex
	of map[origin]*subscription
}

// subscription is one resource of a server that clients are subscribed to.
type subscription struct {
	turn     chan struct{}                         // has a token while a goroutine talks to the server about the resource
	waiting  int                                   // holder and waiters of turn; as all below, guarded by subscriptions.mu
	asked    bool                                  // the server has accepted the subscription
	sessions map[*mcpserver.Session]map[string]int // how often each session is subscribed, by the client's URI
}

func newSubscriptions() *subscriptions {
	return &subscriptions{of: map[origin]*subscription{}}
}

// enter waits for the turn to talk to the server about a resource. leave releases the turn.
func (s *subscriptions) enter(ctx context.Context, at origin) (*subscription, error) {
	s.mu.Lock()
	sub := s.of[at]
	if sub == nil {
		sub = &subscription{turn: make(chan struct{}, 1), sessions: map[*mcpserver.Session]map[string]int{}}
		s.of[at] = sub
	}
	sub.waiting++
	s.mu.Unlock()
	select {
	case sub.turn <- struct{}{}:
		return sub, nil
	case <-ctx.Done():
		s.leave(at, sub, false)
		return nil, context.Cause(ctx)
	}
}

func (s *subscriptions) leave(at origin, sub *subscription, had bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had {
		<-sub.turn
	}
	if sub.waiting--; sub.waiting == 0 && len(sub.sessions) == 0 && !sub.asked {
		delete(s.of, at)
	}
}

func (s *subscriptions) locked(f func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// subscribe subscribes a client. For the first client of a resource it asks the server.
func (g *Gateway) subscribe(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	uri, err := required(c.Params, "uri")
	if err != nil {
		return nil, err
	}
	at, err := g.shelf.resource(ctx, uri)
	if err != nil {
		return nil, notFound(c, err)
	}
	sub, err := g.subs.enter(ctx, at)
	if err != nil {
		return nil, err
	}
	defer g.subs.leave(at, sub, true)
	if !g.subs.join(at, sub, c.Session) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests, Message: fmt.Sprintf("this client is subscribed to "+
			"%d resources of server %q, which is as many as one client may be: unsubscribe from some",
			bounds.ClientSubscriptions, at.server)}
	}
	if err := g.ask(ctx, at, sub); err != nil {
		g.subs.locked(func() bool { sub.dropIdle(c.Session); return true })
		return nil, err
	}
	g.subs.locked(func() bool { sub.sessions[c.Session][uri]++; return true })
	return json.RawMessage("{}"), nil
}

// ask subscribes the gateway at the server to a resource, unless it is subscribed already.
func (g *Gateway) ask(ctx context.Context, at origin, sub *subscription) error {
	if g.subs.locked(func() bool { return sub.asked }) {
		return nil
	}
	inner, stop := g.carrying(ctx)
	defer stop()
	if err := g.way.Subscribe(inner, at.server, at.name); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: event.AsError(err).Message}
	}
	g.subs.locked(func() bool { sub.asked = true; return true })
	return nil
}

// join adds a session to sub, with no URI yet, if it may have one more resource of the server. Only the holder of the
// turn calls it.
func (s *subscriptions) join(at origin, sub *subscription, session *mcpserver.Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.sessions[session] != nil {
		return true
	}
	n := 0
	for of, other := range s.of {
		if of.server == at.server && other.sessions[session] != nil {
			n++
		}
	}
	if n >= bounds.ClientSubscriptions {
		return false
	}
	sub.sessions[session] = map[string]int{}
	return true
}

// dropIdle removes a session from sub if it is subscribed by no URI.
func (sub *subscription) dropIdle(session *mcpserver.Session) {
	if len(sub.sessions[session]) == 0 {
		delete(sub.sessions, session)
	}
}

// unsubscribe unsubscribes a client and, after the last client, the gateway at the server. Without a subscription it
// does nothing.
func (g *Gateway) unsubscribe(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	uri, err := required(c.Params, "uri")
	if err != nil {
		return nil, err
	}
	for _, at := range g.subs.held(c.Session, uri) {
		g.release(ctx, at, c.Session, uri, !c.Client.Modern)
	}
	return json.RawMessage("{}"), nil
}

// held returns the resources to which a session is subscribed by this URI; "" means any URI.
func (s *subscriptions) held(session *mcpserver.Session, uri string) (all []origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, sub := range s.of {
		if uris := sub.sessions[session]; uris != nil && (uri == "" || uris[uri] > 0) {
			all = append(all, at)
		}
	}
	return all
}

// release removes one subscription of a session by that URI, or all of them; uri "" means every URI.
func (g *Gateway) release(ctx context.Context, at origin, session *mcpserver.Session, uri string, all bool) {
	sub, err := g.subs.enter(ctx, at)
	if err != nil {
		return
	}
	defer g.subs.leave(at, sub, true)
	last := g.subs.locked(func() bool {
		uris := sub.sessions[session]
		if uri == "" {
			clear(uris)
		} else if uris[uri]--; all || uris[uri] <= 0 {
			delete(uris, uri)
		}
		sub.dropIdle(session)
		return len(sub.sessions) == 0 && sub.asked
	})
	if !last {
		return
	}
	if err := g.way.Unsubscribe(ctx, at.server, at.name); err != nil {
		g.log.Info("a server was not told that nobody is subscribed any more", "server", at.server, "error", err.Error())
	}
	g.subs.locked(func() bool { sub.asked = false; return true })
}

// forget removes all subscriptions of a session, on a goroutine, since servers may take long to answer.
func (s *subscriptions) forget(g *Gateway, session *mcpserver.Session) {
	held := s.held(session, "")
	if len(held) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		return
	}
	g.work.Go(func() {
		ctx, stop := g.within(answerLimit)
		defer stop()
		for _, at := range held {
			g.release(ctx, at, session, "", true)
		}
	})
}

// concerns reports whether a change of one URI concerns a subscriber of another one: a server may announce changes of
// sub-resources (server/resources, "Subscriptions").
func concerns(changed, subscribed string) bool {
	return changed == subscribed || strings.HasPrefix(changed, strings.TrimSuffix(subscribed, "/")+"/")
}

// updated tells the subscribed sessions that a resource has changed.
func (s *subscriptions) updated(at origin) {
	type told struct {
		session   *mcpserver.Session
		uri, that string // the URI of the subscription, and the URI that has changed
	}
	var list []told
	s.mu.Lock()
	for of, sub := range s.of {
		if of.server != at.server || !concerns(at.name, of.name) {
			continue
		}
		for session, uris := range sub.sessions {
			for uri := range uris {
				that := at.name
				if ofAddress, ours := ofAddress(uri); ours {
					that = addressOf(origin{ofAddress.server, at.name})
				}
				list = append(list, told{session, uri, that})
			}
		}
	}
	s.mu.Unlock()
	for _, t := range list {
		t.session.ResourceUpdated(t.uri, append(jsontext.AppendString([]byte(`{"uri":`), t.that), '}'))
	}
}
