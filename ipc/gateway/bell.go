package gateway

import (
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// maxLogs is how many log messages of servers wait to be passed on; beyond it the oldest are lost.
const maxLogs = 256

// maxUpdates is how many changed resources wait to be told; beyond it changes are lost, which a client cannot tell from
// a server that does not tell of them.
const maxUpdates = 4096

// bell takes the events of the hub, which may not wait, and keeps what is to be done about them: a windows.Sink.
type bell struct {
	wake chan struct{} // cap 1

	mu   sync.Mutex
	rung rung
}

// rung is what has happened since somebody looked.
type rung struct {
	changes changes
	tools   bool                // lists of tools changed
	level   bool                // a client has said which logs it wants
	config  bool                // the config was read anew
	servers []event.ServerInfo  // that changed, each once, as it is now
	gone    []string            // servers that were removed
	again   map[string]struct{} // servers whose resources or prompts changed
	updated map[origin]struct{} // resources
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

// answer gives what has happened, but for what was logged.
func (b *bell) answer() rung {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rung
	b.rung = rung{logs: r.logs}
	return r
}

// takeLogs gives what was logged.
func (b *bell) takeLogs() []*event.LogMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	logs := b.rung.logs
	b.rung.logs = nil
	return logs
}

// Deliver takes one event.
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

// Closed is the end of the hub, which closes the gateway as well.
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

// gather is how long changes are gathered before others are told of them: a config that was read anew, or a server that
// comes up, changes several lists, one after the other, and a client asks for a list again each time it is told; and a
// client may want another level of logs all the time.
const gather = 20 * time.Millisecond

// tell passes on what has happened until the gateway's life ends.
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
		if r.level && time.Since(levels) >= gather { // who says what it wants to hear calls next
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

// configured looks at the servers anew: the profile may be another now. One that has gone counts as it was.
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

// tellLists tells the clients that lists are others now.
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
