package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Gateway serves the servers of a hub to any number of clients. All methods are safe for concurrent use.
type Gateway struct {
	hub    *hub.Hub
	o      Options
	log    *slog.Logger
	way    *hub.Gateway
	window *hub.Window // has no prompt kinds: it receives events, but is never asked
	server *mcpserver.Server
	shelf  *shelf
	subs   *subscriptions
	bell   *bell

	life context.Context // ends in Close
	end  context.CancelCauseFunc
	work sync.WaitGroup

	mu      sync.Mutex
	clients map[*mcpserver.Session]*client
	logging map[string]*logging        // by server
	logged  map[*mcpserver.Call]string // the servers of calls of 2026-07-28 that want logs

	passing sync.Mutex // held while log messages are passed on, by one goroutine at a time
}

// New opens a gateway to h. It must be closed before h. Errors: UNAVAILABLE DRAINING, NOT_FOUND PROFILE_NOT_FOUND.
func New(h *hub.Hub, o Options) (*Gateway, error) {
	profile, err := h.ModelTools().Profile(o.Profile)
	if err != nil {
		return nil, err
	}
	o = o.filled(profile)
	g := &Gateway{hub: h, o: o, log: o.Logger, clients: map[*mcpserver.Session]*client{},
		logging: map[string]*logging{}, logged: map[*mcpserver.Call]string{}, bell: newBell()}
	g.life, g.end = context.WithCancelCause(context.Background())
	g.shelf = newShelf(h, &o, profile, func(c changes) { g.bell.ring(func(r *rung) { r.changes.add(c) }) })
	g.subs = newSubscriptions()
	way, err := h.OpenGateway()
	if err != nil {
		return nil, err
	}
	g.way = way
	window, start, err := h.Attach(hub.Hello{Title: o.Title}, g.bell)
	if err != nil {
		way.Close()
		return nil, err
	}
	g.window = window
	info, _ := json.Marshal(map[string]string{"name": "McpHub", "title": "McpHub", "version": h.Version()})
	g.server = mcpserver.New(mcpserver.Options{
		Info: info, Capabilities: capabilities, Handler: handler{g}, Logger: o.Logger, Bounds: o.Bounds,
	})
	var all []event.ServerInfo
	if start.Snapshot != nil {
		all = start.Snapshot.Servers
	}
	g.shelf.present = func() bool { return g.Clients() > 0 }
	g.shelf.start(g.life, all)
	g.work.Go(g.tell)
	return g, nil
}

// capabilities are the same for every client, since servers come and go.
var capabilities = json.RawMessage(`{"completions":{},"logging":{},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}`)

// Serve serves one client over one connection until the connection or ctx ends, or the gateway is closed. It owns conn.
func (g *Gateway) Serve(ctx context.Context, conn jsonrpc.Conn) error {
	return g.server.Serve(ctx, conn)
}

// HTTP returns a handler that serves clients over Streamable HTTP, if the guard admits them.
func (g *Gateway) HTTP(guard mcpserver.Guard) http.Handler { return g.server.HTTP(guard) }

// Options returns the options of New, completed from the profile at that time and with the defaults.
func (g *Gateway) Options() Options { return g.o }

// Clients returns the number of connected clients: sessions, and running calls of 2026-07-28 over HTTP.
func (g *Gateway) Clients() int { return len(g.server.Sessions()) }

// ErrClosed is the cause with which requests of clients end when the gateway closes.
var ErrClosed = errors.New("the gateway was closed")

// Close ends every session with the cause (nil means ErrClosed), waits for the requests of clients, and removes the
// gateway's subscriptions. It is idempotent.
func (g *Gateway) Close(cause error) {
	if cause == nil {
		cause = ErrClosed
	}
	g.server.Close(cause)
	g.mu.Lock()
	g.end(cause) // after this, a holder of the lock starts nothing new
	g.mu.Unlock()
	g.work.Wait()
	g.shelf.close()
	ctx, stop := context.WithTimeoutCause(context.Background(), closeLimit, errTooLong)
	g.way.UnsubscribeAll(ctx)
	stop()
	g.window.Detach(true)
	g.way.Close()
}

// handler implements the handler interface of the engine.
type handler struct{ g *Gateway }

// Request answers one request of a client.
func (h handler) Request(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	g := h.g
	switch c.Method {
	case protocol.MethodCallTool:
		return g.callTool(ctx, c)
	case protocol.MethodListTools:
		return g.listTools(ctx)
	case protocol.MethodListResources:
		return g.listResources(ctx)
	case protocol.MethodListResourceTemplates:
		return g.listTemplates(ctx)
	case protocol.MethodReadResource:
		return g.readResource(ctx, c)
	case protocol.MethodSubscribe:
		return g.subscribe(ctx, c)
	case protocol.MethodUnsubscribe:
		return g.unsubscribe(ctx, c)
	case protocol.MethodListPrompts:
		return g.listPrompts(ctx)
	case protocol.MethodGetPrompt:
		return g.getPrompt(ctx, c)
	case protocol.MethodComplete:
		return g.complete(ctx, c)
	case protocol.MethodSetLevel:
		g.levelChanged(c.Session, c.Params)
		return json.RawMessage("{}"), nil
	}
	return nil, mcpserver.ErrUnknownMethod
}

// Notified asks a client for its roots when it is initialized or its roots have changed.
func (h handler) Notified(s *mcpserver.Session, method string, _ json.RawMessage) {
	if method == protocol.MethodInitialized || method == protocol.MethodRootsChanged {
		h.g.askRoots(s)
	}
}

// Ended forgets a client.
func (h handler) Ended(s *mcpserver.Session, _ error) { h.g.forget(s) }
