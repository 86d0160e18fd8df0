package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// maxStderrLines is how many of a server's last stderr lines are kept for people.
const maxStderrLines = 50

// server is one configured server. Guarded by Hub.mu, but for its hub and name.
type server struct {
	hub       *Hub
	name      string
	conf      config.Server
	entry     *configEntry  // that conf is of; nil for a broken one
	entries   configEntries // of its name: see counting
	keyOfConf string        // conf's launch key, "" until it is asked for: see confKey
	problems  []event.ConfigProblem
	off       *bool // what SetServerEnabled said; nil = the config decides
	place     int   // in Hub.servers, from 1
	costs     *costs
	quiet     quiet

	life       servers.Life  // changed by transition and switched alone
	gone       bool          // the windows have been told that it is no longer configured, and hear nothing more of it
	conn       *connection   // while ready
	attempt    *attempt      // while connecting, or being stopped while connecting
	stopping   chan struct{} // while stopping; closed at the end of that
	stopReason string        // of the latest order to stop it
	successor  *server       // another entry of its name, which waits for its end
	users      int           // requests and listings that use conn
	stale      bool          // windows can show more than conn's session declared: connect anew when idle
	remembered mcp.Era
	transport  event.Transport // as last connected; 0 = never
	tools      []mcp.Tool      // as last listed; nil = not known
	toolsOf    *connection
	toolBytes  int // of tools, on the books of costs.lists
	listing    *listing
	listings   uint64 // counts what makes a listing under way worthless
	lastError  string
	fault      string // lastError without the server's own words
	stderr     []string
	pid        int
	ready      time.Time

	subscriptions []string // URIs of resources, in the order in which they were asked for
	subscribing   int      // that the server was asked for, and has not answered
	auth          *authorization
	paused        pause
	supervised    supervision
	idle          idleness
	launch        launch
}

// server finds a server by name, nil when there is none. h.mu is held.
func (h *Hub) server(name string) *server {
	for _, s := range h.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

func errServerNotFound(name string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonServerNotFound, []string{"server", bounds.Printable(name)},
		"there is no server %q in the config", bounds.Printable(name))
}

// usable tells whether s may be connected. h.mu is held.
func (s *server) usable() *event.Error {
	switch {
	case s.life.Removed():
		return errServerNotFound(s.name)
	case s.life.Broken():
		var texts []string
		for _, p := range s.problems {
			if p.Fatal {
				texts = append(texts, fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message))
			}
		}
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", s.name},
			"the config entry of server %q cannot be used: %s", s.name, strings.Join(texts, "; "))
	case s.disabled():
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerDisabled,
			[]string{"server", s.name, "setting", "disabled"},
			"server %q is switched off; switch it on or remove disabled%s", s.name, s.where())
	}
	return nil
}

func (s *server) disabled() bool {
	if s.off != nil {
		return *s.off
	}
	return s.conf.Disabled
}

// where names the place of the entry, for error texts: " in FILE:LINE", or "". h.mu is held.
func (s *server) where() string { return placeOf(s.conf) }

func placeOf(conf config.Server) string {
	if conf.Origin.File == "" {
		return ""
	}
	return fmt.Sprintf(" in %s:%d", conf.Origin.File, conf.Origin.Line)
}

// settingOf names a setting, and its place, as people know it: by the key that says it in their file, if one does,
// which has the name of its application.
func settingOf(conf config.Server, field string) (key, where string) {
	at, said := conf.Fields[field]
	if !said || at.Key == "" || at.Line <= 0 || conf.Origin.File == "" {
		return field, placeOf(conf)
	}
	return at.Key, fmt.Sprintf(" in %s:%d", conf.Origin.File, at.Line)
}

func (s *server) running() bool { return s.conn != nil || s.attempt != nil }

func (s *server) era() event.Era {
	if s.conn == nil || s.conn.session == nil {
		return event.Era(s.remembered)
	}
	return event.Era(s.conn.session.Era())
}

func (s *server) info() event.ServerInfo {
	i := event.ServerInfo{
		Name: s.name, Incarnation: s.life.Incarnation(), State: s.life.State(), LastError: s.lastError,
		Stderr: append([]string(nil), s.stderr...), ConfigFile: s.conf.Origin.File,
		ConfigLine: s.conf.Origin.Line, Problems: s.problems, Command: s.conf.Command,
		Transport: transportOf(s), URL: s.conf.DisplayURL(), SignIn: s.signInState(),
		Dialect: s.conf.Origin.Dialect, Scope: s.conf.Origin.Scope, Start: startOf(s.conf), MemoryLimit: s.conf.Memory,
		Place:         s.place,
		LaunchConsent: s.consentState(), Muted: s.quiet.muted,
	}
	s.supervised.tell(s, &i)
	waiting := len(s.waiting())
	for n, e := range s.entries {
		o := e.conf.Origin
		switch at := (event.ConfigOrigin{File: o.File, Line: o.Line, Dialect: o.Dialect, Scope: o.Scope}); {
		case n < waiting:
			i.Waiting = append(i.Waiting, at)
		case e != s.entry:
			i.Shadows = append(i.Shadows, at)
		}
	}
	if s.conn != nil {
		session := s.conn.session
		si, stats := session.Info(), session.Stats()
		i.Era, i.Revision, i.PID, i.Ready = event.Era(session.Era()), session.Revision(), s.pid, s.ready
		i.Title, i.Version, i.Instructions, i.Capabilities = si.Title, si.Version, si.Instructions, string(si.Capabilities)
		if i.Title == "" {
			i.Title = si.Name
		}
		i.Counters = event.Counters{
			LateResponses: stats.LateResponses, UnknownResponses: stats.UnknownResponses, BadLines: stats.BadLines +
				stats.OversizeLines,
			UnknownCancels: stats.UnknownCancels, MalformedCancels: stats.MalformedCancels,
			SuppressedResponses: stats.SuppressedResponses, DroppedNotifications: stats.DroppedNotifications,
		}
	}
	return i
}

func startOf(conf config.Server) event.ServerStart {
	if conf.Start == config.StartEager {
		return event.StartEager
	}
	return event.StartLazy
}

// changed tells the windows how s is now. That it is gone from the config is the last thing that they hear of it: what
// comes later under its name is of the next entry. h.mu is held.
func (h *Hub) changed(s *server) {
	if s.gone {
		return
	}
	s.gone = s.life.Removed()
	info := s.info()
	if s.auth != nil {
		s.auth.told = info.SignIn
	}
	s.launch.told = info.LaunchConsent
	h.emit(&event.ServerChanged{Server: info, Removed: s.gone})
}

// Servers lists every server in config order, and the problems of no single server.
func (h *Hub) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	defer h.lock().unlock()
	return h.serverInfos(), h.problems
}

func (h *Hub) serverInfos() []event.ServerInfo {
	var list []event.ServerInfo
	for _, s := range h.servers {
		list = append(list, s.info())
	}
	return list
}

// StartServer connects a server and waits until it is ready. It is tried at once, however often it failed before.
func (h *Hub) StartServer(ctx context.Context, name string) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	return h.startServer(ctx, s, nil)
}

// startServer is StartServer. stops, if any, is how often the server had been stopped when the start was ordered.
func (h *Hub) startServer(ctx context.Context, s *server, stops *uint64) (event.ServerInfo, error) {
	h.update(func() {
		h.forgive(s)
		h.mute(s, false, "")
	})
	h.askLaunchAgain(s)
	first := h.sessionOrWait(ctx, s, nil, stops)
	tookEffect(ctx)
	if _, err := h.acquireFrom(ctx, s, nil, first); err != nil {
		return event.ServerInfo{}, contextError(ctx, err)
	}
	defer h.unlease(s)
	return h.infoOf(s), nil
}

// StopServer ends the connection and the process; open calls are cancelled with the reason. It starts again on the next
// use.
func (h *Hub) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.stopServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) stopServer(ctx context.Context, name string, by event.Origin, reason string) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	if reason == "" {
		reason = "the server was stopped"
	}
	if err := h.stop(ctx, s, &event.CancelCause{Origin: by, Reason: bounds.Reason(reason)}); err != nil {
		return event.ServerInfo{}, err
	}
	return h.infoOf(s), nil
}

// RestartServer is StopServer, then StartServer. A StopServer that comes meanwhile wins: the server stays stopped then,
// and the error says so.
func (h *Hub) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.restartServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) restartServer(ctx context.Context, name string, by event.Origin,
	reason string) (event.ServerInfo, error) {
	if reason == "" {
		reason = "the server was restarted"
	}
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	var done <-chan struct{}
	var stops uint64
	h.update(func() {
		done = h.beginStop(s, &event.CancelCause{Origin: by, Reason: bounds.Printable(reason)}, servers.Stop)
		stops = s.life.Stops()
	})
	tookEffect(ctx)
	if err := s.await(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return h.startServer(ctx, s, &stops)
}

// SetServerEnabled switches a server off (it is stopped, calls are refused) or on. This holds, also when the entry is
// edited, until a reload changes what the config itself says of it (disabled), or the entry is removed.
func (h *Hub) SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error) {
	return h.setServerEnabled(ctx, name, event.OriginHost, enabled)
}

func (h *Hub) setServerEnabled(ctx context.Context, name string, by event.Origin,
	enabled bool) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	var done <-chan struct{}
	h.update(func() {
		off, was := !enabled, s.disabled()
		s.off = &off
		if was != off {
			s.supervised.failures = 0
			s.life.Apply(servers.Forgive)
			s.life.Apply(servers.Abandon)
		}
		s.switched()
		if s.life.State().Rests() {
			h.changed(s)
		}
		if enabled {
			h.mute(s, false, "")
		}
		if enabled && was && s.eager() {
			h.startEagerly(s)
		}
		if !enabled { // in the same step: nothing starts that is switched off, and nobody waits for it
			done = h.beginStop(s, &event.CancelCause{Origin: by, Reason: "the server was switched off"}, servers.Stop)
		}
	})
	tookEffect(ctx)
	if err := s.await(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return h.infoOf(s), nil
}

// SetLogLevel asks a server to log from this level on.
func (h *Hub) SetLogLevel(ctx context.Context, name, level string) error {
	switch level {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
	default:
		return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
			"%q is no log level of MCP; use debug, info, notice, warning, error, critical, alert or emergency",
			bounds.Printable(level))
	}
	s, err := h.find(name)
	if err != nil {
		return err
	}
	session, err := h.acquire(ctx, s, nil)
	if err != nil {
		return contextError(ctx, err)
	}
	defer h.unlease(s)
	if session.Era() == mcp.Legacy && !session.Info().Logging {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonNoLogging, []string{"server", s.name},
			"server %q does not offer logging",
			s.name)
	}
	if err := session.SetLogLevel(ctx, level); err != nil {
		if ctx.Err() != nil {
			return contextError(ctx, err)
		}
		return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name},
			"server %q did not set its log level: %s", s.name, s.quote(err.Error()))
	}
	return nil
}

func (h *Hub) find(name string) (*server, error) {
	defer h.lock().unlock()
	if s := h.server(name); s != nil {
		return s, nil
	}
	return nil, errServerNotFound(name)
}

func (h *Hub) infoOf(s *server) event.ServerInfo {
	defer h.lock().unlock()
	return s.info()
}
