package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// client is what the gateway keeps of a legacy client. A client of 2026-07-28 repeats everything in each request.
type client struct {
	level  string // the log level that it has set, "" = none
	asking bool   // it is being asked for its roots
	again  bool   // its roots have changed meanwhile: ask once more
}

const (
	// answerLimit is how long a client or a server may take to answer a request of the gateway itself.
	answerLimit = 30 * time.Second
	// closeLimit is how long servers may take to answer the unsubscribes when the gateway closes.
	closeLimit = 2 * time.Second
	// maxRoots limits the roots of one client.
	maxRoots = 256
)

// pace is the shortest interval at which one client or server can make the gateway ask it, or others, for something. A
// peer that announces changes all the time must not cost others anything.
const pace = time.Second

// rest waits for pace, or until ctx ends.
func rest(ctx context.Context) {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

var errTooLong = errors.New("it took too long")

// within returns a context for a request of the gateway itself.
func (g *Gateway) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(g.life, limit, errTooLong)
}

// of returns the record of a client, or nil if the gateway or the session is closing. The lock is held.
func (g *Gateway) of(s *mcpserver.Session) *client {
	if g.life.Err() != nil || s.Err() != nil {
		return nil
	}
	c := g.clients[s]
	if c == nil {
		c = &client{}
		g.clients[s] = c
	}
	return c
}

// forget is called at the end of a session, after the end of all its requests.
func (g *Gateway) forget(s *mcpserver.Session) {
	var c *client
	g.levels(func() {
		c = g.clients[s]
		delete(g.clients, s)
	})
	g.subs.forget(g, s)
	if c != nil {
		g.way.SetRoots(s.ID(), nil)
	}
	if s.Lasting() { // a call of 2026-07-28 over HTTP says nothing of its client
		g.way.ClientGone(s.ID())
	}
}

// askRoots asks a client for its roots, if it has declared any. Servers that ask for roots outside a call get these.
func (g *Gateway) askRoots(s *mcpserver.Session) {
	if !s.Client().Declares(protocol.MethodRoots) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.of(s)
	if c == nil || c.asking {
		if c != nil {
			c.again = true
		}
		return
	}
	c.asking = true
	g.work.Go(func() {
		for more := true; more; {
			ctx, stop := g.within(answerLimit)
			result, err := s.Ask(ctx, protocol.MethodRoots, nil)
			stop()
			if err == nil {
				g.way.SetRoots(s.ID(), rootsIn(result))
			}
			rest(g.life)
			g.mu.Lock()
			more = c.again && g.life.Err() == nil && s.Err() == nil
			c.again, c.asking = false, more
			g.mu.Unlock()
		}
		if s.Err() != nil { // forget may have been called meanwhile
			g.way.SetRoots(s.ID(), nil)
		}
	})
}

func rootsIn(result json.RawMessage) (roots []hub.Root) {
	jsontext.Elements(jsontext.Get(result, "roots"), func(root json.RawMessage) bool {
		uri := jsontext.String(jsontext.Get(root, "uri"))
		if uri != "" && len(uri) <= bounds.URIBytes {
			roots = append(roots, hub.Root{URI: uri,
				Name: bounds.Cut(jsontext.String(jsontext.Get(root, "name")), bounds.NameBytes)})
		}
		return len(roots) < maxRoots
	})
	return roots
}
