package gateway

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// levelChanged records the log level that a client has set, and passes the lowest level of all clients on to the
// servers. The engine filters what each client gets.
func (g *Gateway) levelChanged(s *mcpserver.Session, params json.RawMessage) {
	g.levels(func() {
		if c := g.of(s); c != nil {
			c.level = jsontext.String(jsontext.Get(params, "level"))
		}
	})
}

// levels runs change with the lock held. If the lowest level has changed, the servers are told.
func (g *Gateway) levels(change func()) {
	g.mu.Lock()
	before := g.levelLocked()
	change()
	differs := g.levelLocked() != before
	g.mu.Unlock()
	if differs {
		g.bell.ring(func(r *rung) { r.level = true })
	}
}

// hearsLogs forwards what server logs to a call of 2026-07-28 while the call runs. stop must be called before the call
// is answered: it forwards what the server logged before its answer.
func (g *Gateway) hearsLogs(c *mcpserver.Call, server string) (stop func()) {
	note := func(change func()) {
		g.mu.Lock()
		change()
		g.mu.Unlock()
		g.bell.ring(func(r *rung) { r.changes.level = true })
	}
	note(func() { g.logged[c] = server })
	return func() {
		g.passLogs()
		note(func() { delete(g.logged, c) })
	}
}

// passLogs forwards the log messages of servers: to the legacy clients that want them, and to the calls of hearsLogs.
func (g *Gateway) passLogs() {
	g.passing.Lock() // a goroutine that has waited for it knows that all earlier messages were passed on
	defer g.passing.Unlock()
	logs := g.bell.takeLogs()
	if len(logs) == 0 {
		return
	}
	g.mu.Lock()
	calls := maps.Clone(g.logged)
	g.mu.Unlock()
	sessions, profile := g.server.Sessions(), g.shelf.profileNow()
	for _, m := range logs {
		if !profile.HasServer(m.Server) {
			continue
		}
		params := logParams(m)
		for _, s := range sessions {
			s.Log(m.Level, params)
		}
		for c, server := range calls {
			if server == m.Server {
				c.Log(m.Level, params)
			}
		}
	}
}

// tellLevels tells the servers the lowest level that clients want. When no client wants logs any more, servers keep
// their level.
func (g *Gateway) tellLevels() {
	servers, _ := g.hub.Servers()
	for _, info := range servers {
		g.setLevel(info, false)
	}
}

// logging is the log level of one server: the level that it should have, and the one that it was told. It is guarded by
// Gateway.mu.
type logging struct {
	want, told string
	busy       bool // tellLevel's goroutine runs
}

// setLevel tells a connected server that offers logging the level that clients want, if any client wants logs. anew
// means that the connection is new, so the server was told no level yet.
func (g *Gateway) setLevel(info event.ServerInfo, anew bool) {
	if info.State != event.ServerReady || jsontext.Get([]byte(info.Capabilities), "logging") == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	level := g.levelLocked()
	if info.Era == event.EraLegacy { // modern servers get the level with each request
		for c, server := range g.logged {
			if server == info.Name {
				level = moreTalkative(level, c.LogLevel())
			}
		}
	}
	if level == "" || g.life.Err() != nil {
		return
	}
	l := g.logging[info.Name]
	if l == nil {
		l = &logging{}
		g.logging[info.Name] = l
	}
	if l.want = level; anew {
		l.told = ""
	}
	if l.busy {
		return
	}
	l.busy = true
	g.work.Go(func() { g.tellLevel(info.Name, l) })
}

// tellLevel tells a server its level, and repeats that until it is the wanted one.
func (g *Gateway) tellLevel(server string, l *logging) {
	for {
		g.mu.Lock()
		level := l.want
		if l.busy = l.told != level && g.life.Err() == nil; !l.busy {
			g.mu.Unlock()
			return
		}
		l.told = level
		g.mu.Unlock()
		ctx, stop := g.within(answerLimit)
		if err := g.hub.SetLogLevel(ctx, server, level); err != nil {
			g.log.Info("a server was not asked for another log level", "server", server, "error", err.Error())
		}
		stop()
		rest(g.life)
	}
}

// talkative lists the levels of RFC 5424, the lowest (most talkative) first.
var talkative = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// moreTalkative returns the lower of two levels, ignoring an empty one.
func moreTalkative(a, b string) string {
	i, j := slices.Index(talkative, a), slices.Index(talkative, b)
	if i < 0 || j >= 0 && j < i {
		return b
	}
	return a
}

// levelLocked returns the lowest level that a client has set, or "" if none has. The lock is held.
func (g *Gateway) levelLocked() (level string) {
	for _, c := range g.clients {
		level = moreTalkative(level, c.level)
	}
	return level
}

// logParams returns the params of notifications/message. The logger begins with the name of the server.
func logParams(m *event.LogMessage) json.RawMessage {
	logger := m.Server
	if m.Logger != "" {
		logger += "/" + m.Logger
	}
	data := m.Data
	if data == "" {
		data = "null"
	}
	b := jsontext.AppendString([]byte(`{"level":`), m.Level)
	b = append(jsontext.AppendString(append(b, `,"logger":`...), logger), `,"data":`...)
	return append(append(b, data...), '}')
}
