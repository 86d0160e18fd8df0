package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// server is what the hub keeps of a configured server besides its state, which is in the core: its sessions, its
// launch, its texts. The first block never changes; all else is guarded by the hub's lock.
type server struct {
	hub       *Hub
	number    core.ServerNumber
	name      string // in the config, or an address
	allowance *allowance

	conf     config.Server
	key      string // launch key of conf; "" until launchKey is called
	problems []event.ConfigProblem
	launch   launch
	gone     bool // the windows were told of its removal, and are sent nothing more about it

	lastShown event.ServerInfo // to the windows

	conn      *connection     // while ready
	leaving   *connection     // while the requests end whose session is to be closed
	attempt   *startAttempt   // while connecting, or being stopped while connecting
	stopped   chan struct{}   // closed when nothing runs any more; nil if nobody waits for that
	timer     *time.Timer     // set by the core
	lastEra   mcp.Era         // of the last connection
	reached   event.Transport // by the last connection to a URL
	startErr  *event.Error    // of the last start that failed
	lastError string
	cause     error  // of lastError
	how       string // how it failed last, without exit status and stderr
	stderr    []string
	pid       int
	exit      func() string // returns how the present process ended, once it has ended; nil if there is no process
	lastExit  string

	tools         knownTools
	subscriptions subscriptions
	paused        questionPause
	auth          *authorization // made when it is first needed
}

// named returns the server with that own name, nil if there is none.
func (st *state) named(name string) *server {
	for _, s := range st.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// server returns the server that name means: by its name, or by the address of its entry (config.Address); nil if there
// is none. An address takes precedence over the name of a workspace's server, so that a workspace cannot take the
// address of another entry. Broken entries have no address.
func (st *state) server(name string) *server {
	s := st.named(name)
	if s != nil && !s.conf.Origin.OfWorkspace() {
		return s
	}
	if of, scope, ok := config.SplitAddress(name); ok {
		for _, other := range st.servers {
			if other.configName() == of && other.conf.Origin.Holder() == scope && !other.broken() {
				return other
			}
		}
	}
	return s
}

// listed returns the servers in config order. It leaves out the servers that are listed beside another one of their
// name, which have to be named to be used.
func (st *state) listed() (all []*server) {
	for _, s := range st.servers {
		if s.launch.of() == "" {
			all = append(all, s)
		}
	}
	return all
}

// canonical returns the name of the server that name means. A name that no server has is returned as it is.
func (st *state) canonical(name string) string {
	if s := st.server(name); name != "" && s != nil {
		return s.name
	}
	return name
}

// configName returns the name that the server has in the config.
func (s *server) configName() string { return cmp.Or(s.launch.of(), s.name) }

// besides returns the servers that are listed beside s: see grants.Resolver.Beside.
func (st *state) besides(s *server) (list []*server) {
	for _, other := range st.servers {
		if other.launch.of() == s.name {
			list = append(list, other)
		}
	}
	return list
}

// noServer returns the error for a server name that does not exist.
func (st *state) noServer(name string) *event.Error {
	var names []string
	for _, s := range st.servers {
		names = append(names, s.name)
	}
	return errServerNotFound(name, names...)
}

// info returns s in the form that windows show.
func (s *server) info() event.ServerInfo {
	now := s.now()
	return s.complete(s.infoIn(core.ServerShown{State: now.State, Failures: now.Failures, NextStart: now.NextStart,
		Consent: s.hub.held().core.Launch(s.number).Consent, Refusal: now.Refusal}))
}

// complete adds to i what follows from its entries and its allowance.
func (s *server) complete(i event.ServerInfo) event.ServerInfo {
	i.Muted = s.allowance.muted()
	s.launch.tell(&i)
	return i
}

// shown sends the windows s in a state. After the removal of s they are sent nothing more about it: a later entry of
// the same name is another server.
func (st *state) shown(s *server, e core.ServerShown) {
	if e.State != event.ServerStopping {
		s.wakeStopped()
	}
	if s.gone {
		return
	}
	s.gone = e.Removed
	info := s.complete(s.infoIn(e))
	s.signInTold(info.SignIn)
	s.lastShown = info
	st.emit(&event.ServerChanged{Server: info, Removed: s.gone})
}

// Servers returns all servers in config order, and the problems of the config that belong to no single server.
func (h *Hub) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	st := h.lock()
	defer st.unlock()
	return st.serverInfos(), h.config.Problems()
}

func (st *state) serverInfos() []event.ServerInfo {
	var list []event.ServerInfo
	for _, s := range st.servers {
		list = append(list, s.info())
	}
	return list
}

// order runs do on the server that name means. It fails if there is none.
func (h *Hub) order(name string, do func(*server) (event.ServerInfo, error)) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	return do(s)
}

// StartServer connects a server and waits until it is ready. It tries at once, however often the server failed before.
func (h *Hub) StartServer(ctx context.Context, name string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.start(ctx, 0) })
}

// StopServer ends the connection and the process. Open calls are cancelled with the reason. The server starts again on
// the next use.
func (h *Hub) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.stopServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) stopServer(ctx context.Context, name string, by event.Origin, reason string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.stopBy(ctx, by, reason) })
}

// RestartServer is StopServer followed by StartServer. If another StopServer comes meanwhile, the server stays stopped,
// and the error says so.
func (h *Hub) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.restartServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) restartServer(ctx context.Context, name string, by event.Origin,
	reason string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.restart(ctx, by, reason) })
}

// SetServerEnabled switches a server off (it is stopped, calls are refused) or on: see server.setEnabled.
func (h *Hub) SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error) {
	return h.setServerEnabled(ctx, name, event.OriginHost, enabled)
}

func (h *Hub) setServerEnabled(ctx context.Context, name string, by event.Origin,
	enabled bool) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.setEnabled(ctx, by, enabled) })
}

// SetLogLevel asks a server to log from this level on.
func (h *Hub) SetLogLevel(ctx context.Context, name, level string) error {
	if err := checkLogLevel(level); err != nil {
		return err
	}
	s, err := h.find(name)
	if err != nil {
		return err
	}
	return s.setLogLevel(ctx, level)
}

func (h *Hub) find(name string) (*server, error) {
	st := h.lock()
	defer st.unlock()
	if s := st.server(name); s != nil {
		return s, nil
	}
	return nil, st.noServer(name)
}

func (h *Hub) infoOf(s *server) event.ServerInfo {
	defer h.lock().unlock()
	return s.info()
}

// now returns what the core knows of s.
func (s *server) now() core.Server { return s.hub.held().core.Server(s.number, time.Now()) }

// removed reports whether the entry is no longer in the config.
func (s *server) removed() bool { return s.now().Removed }

// broken reports whether the entry is unusable.
func (s *server) broken() bool { return s.now().Broken }

// launchKey returns the launch key of the present entry.
func (s *server) launchKey() string {
	if s.key == "" {
		s.key = s.conf.LaunchKey()
	}
	return s.key
}

// session returns the session of the connection, or nil if there is none.
func (s *server) session() *mcp.Session {
	if s.conn == nil {
		return nil
	}
	return s.conn.session
}

// up reports whether there is a connection.
func (s *server) up() bool { return s.conn != nil }

// running reports whether there is a connection or a start of one.
func (s *server) running() bool { return s.conn != nil || s.attempt != nil }

// unwanted reports whether nobody waits for what is under way: a start, or what a connection does in the background.
func (s *server) unwanted() bool {
	if s.attempt != nil {
		return !s.now().Wanted
	}
	return s.conn != nil && !s.hub.held().core.InUse(s.number)
}

// disabled reports whether the server is switched off, by the config or by setEnabled.
func (s *server) disabled() bool { return s.now().Off }

// usable returns the error for a server that cannot be connected because of its entry, or nil if it can.
func (s *server) usable() *event.Error {
	switch now := s.now(); {
	case now.Removed:
		return errServerNotFound(s.name)
	case now.Broken:
		var texts []string
		for _, p := range s.problems {
			if p.Fatal {
				texts = append(texts, fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message))
			}
		}
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", s.name},
			"the config entry of server %q cannot be used: %s", s.name, strings.Join(texts, "; "))
	case now.Refusal != nil:
		return now.Refusal.Error(s.name)
	case now.Off:
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerDisabled,
			[]string{"server", s.name, "setting", "disabled"},
			"server %q is switched off; switch it on or remove disabled%s", s.name, s.where())
	}
	return nil
}

// where returns the place of the entry for error texts, " in FILE:LINE", or "".
func (s *server) where() string { return placeOf(&s.conf) }

// placeOf is like Where, for a config.Server.
func placeOf(conf *config.Server) string {
	if conf.Origin.File == "" {
		return ""
	}
	return fmt.Sprintf(" in %s:%d", conf.Origin.File, conf.Origin.Line)
}

// settingOf returns the key by which the user's file sets field, and its place. Without such a key it returns field
// itself and the place of the entry.
func settingOf(conf *config.Server, field string) (key, where string) {
	at, said := conf.Fields[field]
	if !said || at.Key == "" || at.Line <= 0 || conf.Origin.File == "" {
		return field, placeOf(conf)
	}
	return at.Key, fmt.Sprintf(" in %s:%d", conf.Origin.File, at.Line)
}

// changed tells the windows that something has changed of s besides its state.
func (s *server) changed() { s.hub.held().apply(core.InfoChanged{Server: s.number}) }

// maxStderrLines is how many of a server's last stderr lines are kept for people.
const maxStderrLines = 50

// infoIn is Info for a state that windows are told of.
func (s *server) infoIn(e core.ServerShown) event.ServerInfo {
	i := event.ServerInfo{
		Name: s.name, Incarnation: uint64(s.number), State: e.State, LastError: s.lastError, LastExit: s.lastExit,
		Failures: e.Failures, NextStart: e.NextStart,
		Stderr: append([]string(nil), s.stderr...), ConfigFile: s.conf.Origin.File,
		ConfigLine: s.conf.Origin.Line, Problems: s.problems, Command: s.conf.Command,
		Transport: s.transport(), URL: s.conf.DisplayURL(), SignIn: s.signInState(),
		Dialect: s.conf.Origin.Dialect, Scope: s.conf.Origin.Scope, Start: event.StartLazy, LaunchConsent: e.Consent,
	}
	if s.conf.Start == config.StartEager {
		i.Start = event.StartEager
	}
	if e.Refusal != nil {
		i.LastError = e.Refusal.Error(s.name).Message
		i.Problems = append(slices.Clone(i.Problems), event.ConfigProblem{File: s.conf.Origin.File, Line: s.conf.Origin.Line,
			Server: s.name, Message: "is not started: " + e.Refusal.Text() + "; ask your administrator", Fatal: true})
	}
	if s.conn == nil {
		return i
	}
	session := s.conn.session
	si, stats := session.Info(), session.Stats()
	i.Era, i.Revision, i.PID, i.Ready = event.Era(session.Era()), session.Revision(), s.pid, s.readySince()
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
	return i
}

// era returns the era of the connection, or of the previous one; 0 when there was none.
func (s *server) era() event.Era {
	if s.conn == nil {
		return event.Era(s.lastEra)
	}
	return event.Era(s.conn.session.Era())
}

// transport returns how s is reached. It is 0 when that is unknown: for a broken entry, or for a URL without a type
// before its first connection.
func (s *server) transport() event.Transport {
	switch {
	case s.conf.URL == "" && s.conf.Command == "":
		return 0 // a broken entry
	case s.conf.URL == "":
		return event.TransportStdio
	case s.reached != 0:
		return s.reached
	case s.conf.Transport == config.TransportHTTP:
		return event.TransportHTTP
	case s.conf.Transport == config.TransportSSE:
		return event.TransportSSE
	}
	return 0
}

// keepStderr keeps the last lines of stderr, to show why a server ended. Each is cut short, because windows are sent
// all of them with every change of the server.
func (s *server) keepStderr(line string) {
	line = strings.Clone(bounds.Cut(line, bounds.KeptLineBytes))
	if len(s.stderr) >= maxStderrLines {
		s.stderr = append(s.stderr[:0], s.stderr[1:]...)
	}
	s.stderr = append(s.stderr, line)
}

// inconsistent describes what contradicts the state that the core says s has; "" means that nothing does. The hub's
// tests call it after each critical section.
func (s *server) inconsistent() string {
	now := s.now()
	switch {
	case now.Removed:
		return fmt.Sprintf("server %s is no longer configured, and is in the list", s.name)
	case (s.conn != nil) != (now.State == event.ServerReady), s.conn != nil && s.conn.number != now.Connection:
		return fmt.Sprintf("server %s is %s, connected: %v", s.name, now.State, s.conn != nil)
	case (s.attempt != nil) != now.Starting, now.State == event.ServerConnecting && !now.Starting:
		return fmt.Sprintf("server %s is %s, and a start is under way: %v", s.name, now.State, s.attempt != nil)
	case s.stopped != nil && now.State != event.ServerStopping:
		return fmt.Sprintf("server %s is %s, and somebody waits for its end", s.name, now.State)
	}
	return ""
}

// leftovers counts, by kind, what s still holds although no call is open. It is for the hub's tests.
func (s *server) leftovers() map[string]int {
	now := s.now()
	left := map[string]int{"users": now.Users, "waiters": now.Waiters, "pauses": s.paused.open}
	if s.tools.listing != nil {
		left["listings"] = 1
	}
	if now.Planned {
		left["starts to come"] = 1
	}
	if s.conn != nil {
		left["wire requests"], left["open calls"] = len(s.conn.session.Pending()), s.conn.session.InFlight()
	}
	return left
}
