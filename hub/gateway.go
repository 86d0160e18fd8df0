package hub

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// Gateway is a way in for clients that speak MCP. While one is open, every kind of question is offered to the servers
// from their start on: nobody knows by then which clients will come and what they answer.
type Gateway struct {
	h     *Hub
	name  string                    // among those who are subscribed to resources
	roots map[string][]windows.Root // by client; guarded by the hub's lock
	order []string                  // the clients, in the order in which they came
}

// OpenGateway opens a way in. It must be closed. Error: UNAVAILABLE DRAINING.
func (h *Hub) OpenGateway() (*Gateway, error) {
	g := &Gateway{h: h, name: rand.Text(), roots: map[string][]windows.Root{}}
	st := h.lock()
	defer st.unlock()
	if st.draining {
		return nil, event.ErrDraining()
	}
	st.gateways = append(st.gateways, g)
	h.table.Offer()
	return g, nil
}

// SetRoots replaces the roots of one client; none forgets the client. A server that asks in the course of nobody's call
// is told those of all clients and windows. They open no workspace: what was allowed for one does not hold for them.
func (g *Gateway) SetRoots(client string, roots []windows.Root) {
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

// Subscribe is Hub.SubscribeResource for the clients of the gateway: the server is asked once for what the host and
// several gateways want, and told when the last of them has gone.
func (g *Gateway) Subscribe(ctx context.Context, server, uri string) error {
	return g.h.SubscribeFor(ctx, g.name, server, uri, 0) // the gateway bounds each client
}

// Unsubscribe takes it back; without a subscription there is nothing to do.
func (g *Gateway) Unsubscribe(ctx context.Context, server, uri string) error {
	return g.h.UnsubscribeFor(ctx, g.name, server, uri)
}

// UnsubscribeAll takes back what the gateway is subscribed to. At the end of ctx servers are told no more.
func (g *Gateway) UnsubscribeAll(ctx context.Context) { g.h.UnsubscribeAll(ctx, g.name) }

// Close forgets the way in. Requests of its clients are not touched. Idempotent.
func (g *Gateway) Close() {
	g.h.changeRoots(func(st *state) {
		st.gateways = slices.DeleteFunc(st.gateways, func(other *Gateway) bool { return other == g })
	})
}

// maxClientRoots is how many roots of clients are told beside those of windows: it is looked through with the lock.
const maxClientRoots = 1024

// allRoots gives the roots of all windows and of the clients of all gateways, each URI once.
func (st *state) allRoots() []windows.Root {
	roots := st.windows.Roots()
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

// mayBeAsked is what servers are told that they may ask for.
func (st *state) mayBeAsked() mcp.Capabilities {
	c := st.windows.Capabilities()
	if len(st.gateways) > 0 {
		c.Sampling, c.SamplingTools, c.ElicitationForm, c.ElicitationURL = true, true, true, true
	}
	return c
}
