package hub

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Gateway admits clients that speak MCP. While one is open, servers are told from their start on that every kind of
// question can be answered: it is not known then which clients will come, and what they answer.
type Gateway struct {
	h     *Hub
	name  string            // identifies the gateway as a subscriber to resources
	roots map[string][]Root // by client; guarded by the hub's lock
	order []string          // the clients, in the order in which they came
}

// OpenGateway opens a gateway. It must be closed. Error: UNAVAILABLE DRAINING.
func (h *Hub) OpenGateway() (*Gateway, error) {
	g := &Gateway{h: h, name: rand.Text(), roots: map[string][]Root{}}
	st := h.lock()
	defer st.unlock()
	if st.core.Draining() {
		return nil, event.ErrDraining()
	}
	st.gateways = append(st.gateways, g)
	st.offer()
	return g, nil
}

// SetRoots replaces the roots of one client. Without roots, the client is forgotten. A server that asks for roots
// outside of any call gets those of all clients and windows. Roots of clients open no workspace: what was allowed for a
// workspace does not hold for them.
func (g *Gateway) SetRoots(client string, roots []Root) {
	g.h.changeRoots(func(*state) {
		_, known := g.roots[client]
		switch {
		case len(roots) == 0 && known:
			delete(g.roots, client)
			g.order = slices.DeleteFunc(g.order, func(c string) bool { return c == client })
		case len(roots) > 0:
			if !known {
				g.order = append(g.order, client)
			}
			g.roots[client] = roots
		}
	})
}

// ClientGone says that a client, as Caller.Client names it, has gone for good, and that all of its requests have ended.
// Who is gone has no calls: when a server must have read their cancels, its question cannot be of one of them.
func (g *Gateway) ClientGone(client string) {
	g.h.update(func(st *state) { st.apply(core.ClientGone{Client: client}) })
}

// Subscribe is Hub.SubscribeResource for the clients of the gateway. The server gets one request for the host and all
// gateways, and is told when the last of them has unsubscribed.
func (g *Gateway) Subscribe(ctx context.Context, server, uri string) error {
	return g.h.SubscribeFor(ctx, g.name, server, uri, 0) // the gateway bounds each client
}

// Unsubscribe reverses Subscribe. Without a subscription it does nothing.
func (g *Gateway) Unsubscribe(ctx context.Context, server, uri string) error {
	return g.h.UnsubscribeFor(ctx, g.name, server, uri)
}

// UnsubscribeAll ends all subscriptions of the gateway. Servers are told until ctx ends.
func (g *Gateway) UnsubscribeAll(ctx context.Context) { g.h.UnsubscribeAll(ctx, g.name) }

// Close closes the gateway. Requests of its clients go on. It is idempotent.
func (g *Gateway) Close() {
	g.h.changeRoots(func(st *state) {
		st.gateways = slices.DeleteFunc(st.gateways, func(other *Gateway) bool { return other == g })
	})
}

// maxClientRoots limits how many roots of clients servers are told, because the list is made with the lock held.
const maxClientRoots = 1024

// allRoots returns the roots of all windows and of the clients of all gateways, each URI once.
func (st *state) allRoots() []Root {
	roots := st.windows.allRoots()
	if len(st.gateways) == 0 {
		return roots
	}
	most := len(roots) + maxClientRoots
	seen := make(map[string]bool, len(roots))
	for _, root := range roots {
		seen[root.URI] = true
	}
	for _, g := range st.gateways {
		for _, client := range g.order {
			for _, root := range g.roots[client] {
				if len(roots) == most {
					return roots
				}
				if !seen[root.URI] {
					seen[root.URI] = true
					roots = append(roots, root)
				}
			}
		}
	}
	return roots
}

// mayBeAsked returns the client capabilities that are declared to servers.
func (st *state) mayBeAsked() mcp.Capabilities {
	c := st.windows.capabilities()
	if len(st.gateways) > 0 {
		c.Sampling, c.SamplingTools, c.ElicitationForm, c.ElicitationURL = true, true, true, true
	}
	return c
}
