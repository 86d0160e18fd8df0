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
	"github.com/mcphub-go/mcphub/hub/windows"
)

// Gateway serves the servers of a hub to any number of clients. All methods are safe for concurrent use.
type Gateway struct {
	hub    *hub.Hub
	o      Options
	log    *slog.Logger
	way    *hub.Gateway
	window *hub.Window // without kinds: it hears events, and nobody is asked on it
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

	passing sync.Mutex // held while log messages are passed on, one after the other
}

// New opens a gateway to h. It must be closed, before h is. Errors: UNAVAILABLE DRAINING, NOT_FOUND PROFILE_NOT_FOUND.
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
	window, start, err := h.Attach(windows.Hello{Title: o.Title}, g.bell)
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
	g.shelf.start(g.life, all)
	g.work.Go(g.tell)
	return g, nil
}

// capabilities are the same for every client: servers come and go.
var capabilities = json.RawMessage(`{"completions":{},"logging":{},"prompts":{"listChanged":true},` +
	`"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}`)

// Serve serves one client over one stream of bytes until its end, that of ctx, or Close. It owns conn.
func (g *Gateway) Serve(ctx context.Context, conn jsonrpc.Conn) error {
	return g.server.Serve(ctx, conn)
}

// HTTP serves clients over Streamable HTTP, those that the guard admits.
func (g *Gateway) HTTP(guard mcpserver.Guard) http.Handler { return g.server.HTTP(guard) }

// Options are those of New, with what the profile said then and the defaults.
func (g *Gateway) Options() Options { return g.o }

// Clients is how many clients are connected: sessions, and calls of 2026-07-28 over HTTP that run now.
func (g *Gateway) Clients() int { return len(g.server.Sessions()) }

// ErrClosed is the cause with which requests of clients end when the gateway closes.
var ErrClosed = errors.New("the gateway was closed")

// Close ends every session with the cause, nil for ErrClosed, waits for what runs for clients, and takes the gateway's
// subscriptions back. Idempotent.
func (g *Gateway) Close(cause error) {
	if cause == nil {
		cause = ErrClosed
	}
	g.server.Close(cause)
	g.mu.Lock()
	g.end(cause) // whoever holds the lock begins nothing any more
	g.mu.Unlock()
	g.work.Wait()
	g.shelf.close()
	ctx, stop := context.WithTimeoutCause(context.Background(), closeLimit, errTooLong)
	g.way.UnsubscribeAll(ctx)
	stop()
	g.window.Detach(true)
	g.way.Close()
}

// handler is the gateway as the engine sees it.
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

// Notified hears of a client's roots, and that it is there.
func (h handler) Notified(s *mcpserver.Session, method string, _ json.RawMessage) {
	if method == protocol.MethodInitialized || method == protocol.MethodRootsChanged {
		h.g.askRoots(s)
	}
}

// Ended forgets a client.
func (h handler) Ended(s *mcpserver.Session, _ error) { h.g.forget(s) }
