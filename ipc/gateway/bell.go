package gateway

import (
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// maxLogs is how many log messages of servers may wait to be forwarded; beyond it the oldest are dropped.
const maxLogs = 256

// maxUpdates is how many resource updates may wait to be forwarded. More updates are dropped; to a client, that looks
// like a server that does not announce them.
const maxUpdates = 4096

// bell is a hub.Sink. It collects the hub's events without blocking, for Gateway.tell to handle.
type bell struct {
	wake chan struct{} // cap 1

	mu   sync.Mutex
	rung rung
}

// rung is what has been collected since it was last taken.
type rung struct {
	changes changes
	tools   bool                // a list of tools has changed
	level   bool                // the lowest log level that clients want has changed
	config  bool                // the config was reloaded
	servers []event.ServerInfo  // the servers that changed, each once, in their latest state
	gone    []string            // the servers that were removed
	again   map[string]struct{} // the servers whose resources or prompts changed
	updated map[origin]struct{} // the resources that changed
	logs    []*event.LogMessage
}

func newBell() *bell { return &bell{wake: make(chan struct{}, 1)} }

func (b *bell) ring(note func(r *rung)) {
	b.mu.Lock()
	note(&b.rung)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// answer takes what was collected, except the log messages.
func (b *bell) answer() rung {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rung
	b.rung = rung{logs: r.logs}
	return r
}

// takeLogs takes the log messages that were collected.
func (b *bell) takeLogs() []*event.LogMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	logs := b.rung.logs
	b.rung.logs = nil
	return logs
}

// Deliver collects one event.
func (b *bell) Deliver(e event.Event) {
	switch e := e.Body.(type) {
	case *event.ServerChanged:
		b.ring(func(r *rung) { r.server(e) })
	case *event.ToolsChanged:
		b.ring(func(r *rung) { r.tools = true })
	case *event.ConfigReloaded:
		b.ring(func(r *rung) { r.config = true })
	case *event.ResourcesChanged:
		b.ring(func(r *rung) { r.look(e.Server) })
	case *event.McpPromptsChanged:
		b.ring(func(r *rung) { r.look(e.Server) })
	case *event.ResourceUpdated:
		b.ring(func(r *rung) {
			if r.updated == nil {
				r.updated = map[origin]struct{}{}
			}
			if len(r.updated) < maxUpdates {
				r.updated[origin{e.Server, e.URI}] = struct{}{}
			}
		})
	case *event.LogMessage:
		if e.Own { // it may name requests of other clients
			return
		}
		b.ring(func(r *rung) {
			if r.logs = append(r.logs, e); len(r.logs) > maxLogs {
				r.logs = r.logs[1:]
			}
		})
	}
}

// Closed is called when the hub ends. It does nothing: the gateway is closed before the hub.
func (b *bell) Closed(*event.Error) {}

func (r *rung) look(server string) {
	if r.again == nil {
		r.again = map[string]struct{}{}
	}
	r.again[server] = struct{}{}
}

func (r *rung) server(e *event.ServerChanged) {
	if e.Removed {
		r.gone = append(r.gone, e.Server.Name)
	}
	for i, s := range r.servers {
		if s.Name == e.Server.Name {
			r.servers = append(r.servers[:i], r.servers[i+1:]...)
			break
		}
	}
	if !e.Removed {
		r.servers = append(r.servers, e.Server)
	}
}

// gather is how long changes are collected before clients and servers are told about them. A config reload or a server
// that starts changes several lists in a row, and a client fetches a list each time it is told. Also, a client may
// change its log level all the time.
const gather = 20 * time.Millisecond

// tell handles the hub's events, and tells the clients about them, until the gateway is closed.
func (g *Gateway) tell() {
	var lists changes // not told yet
	var due <-chan time.Time
	var levels time.Time // when servers were told last
	tellLevels := func() {
		levels, lists.level = time.Now(), false
		g.tellLevels()
	}
	for {
		select {
		case <-g.bell.wake:
		case <-due:
			if lists.level {
				tellLevels()
			}
			g.tellLists(lists)
			lists, due = changes{}, nil
			continue
		case <-g.life.Done():
			return
		}
		r := g.bell.answer()
		for _, name := range r.gone {
			g.shelf.drop(name)
		}
		for _, info := range r.servers {
			if g.shelf.see(g.life, info, false) {
				g.setLevel(info, true)
			}
		}
		for name := range r.again {
			g.shelf.again(g.life, name)
		}
		if r.config {
			g.configured()
		}
		if r.config || r.tools {
			g.shelf.outdated()
		}
		lists.add(r.changes)
		lists.level = lists.level || r.level
		if r.level && time.Since(levels) >= gather { // a client that sets its level usually calls a tool next
			tellLevels()
		}
		if due == nil && lists != (changes{}) {
			due = time.After(gather)
		}
		g.passLogs()
		for at := range r.updated {
			g.subs.updated(at)
		}
	}
}

// configured applies a config reload: the profile, and with it the set of servers, may have changed. A profile that was
// removed stays in force.
func (g *Gateway) configured() {
	if profile, err := g.hub.ModelTools().Profile(g.o.Profile); err == nil {
		g.shelf.choose(profile)
	}
	if g.o.Profile != "" {
		all, _ := g.hub.Servers()
		for _, info := range all {
			if g.shelf.see(g.life, info, false) {
				g.setLevel(info, true)
			}
		}
	}
	g.shelf.refresh()
}

// tellLists notifies the clients of the lists that have changed.
func (g *Gateway) tellLists(lists changes) {
	var methods []string
	news := g.shelf.news(g.life, lists)
	if news.tools {
		methods = append(methods, protocol.MethodToolsChanged)
	}
	if news.resources {
		methods = append(methods, protocol.MethodResourcesChanged)
	}
	if news.prompts {
		methods = append(methods, protocol.MethodPromptsChanged)
	}
	for _, s := range g.server.Sessions() {
		for _, method := range methods {
			s.ListChanged(method)
		}
	}
}
