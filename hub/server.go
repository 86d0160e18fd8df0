package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// server is one configured server, with what the hub keeps of it beside its life. Guarded by Hub.mu, but for its hub,
// name and allowance.
type server struct {
	*servers.Server
	hub       *Hub
	name      string
	allowance *allowance.Allowance
	gone      bool // the windows have been told that it is no longer configured, and hear nothing more of it
	launch    *launch.Launch
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

// info is how people see s.
func (s *server) info() event.ServerInfo {
	i := s.Info()
	i.Muted = s.allowance.Muted()
	s.launch.Tell(&i)
	return i
}

// changed tells the windows how s is now. That it is gone from the config is the last thing that they hear of it: what
// comes later under its name is of the next entry. h.mu is held.
func (h *Hub) changed(s *server) {
	if s.gone {
		return
	}
	s.gone = s.Life().Removed()
	info := s.info()
	s.SignInTold(info.SignIn)
	s.launch.Told(info.LaunchConsent)
	h.emit(&event.ServerChanged{Server: info, Removed: s.gone})
}

// Servers lists every server in config order, and the problems of no single server.
func (h *Hub) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	defer h.lock().unlock()
	return h.serverInfos(), h.config.Problems()
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
		s.Forgive()
		h.mute(s, false, "")
		s.launch.AskAgain()
	})
	var first servers.Found
	h.update(func() { first = s.Seek(ctx, nil, stops) })
	windows.TookEffect(ctx)
	if _, err := s.Await(ctx, nil, first); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
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
		stops = s.Life().Stops()
	})
	windows.TookEffect(ctx)
	if err := s.AwaitStop(ctx, done); err != nil {
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
		was := s.Disabled()
		s.SetEnabled(enabled)
		if s.Life().State().Rests() {
			h.changed(s)
		}
		if enabled {
			h.mute(s, false, "")
		}
		if enabled && was && s.Eager() {
			s.StartEagerly()
		}
		if !enabled { // in the same step: nothing starts that is switched off, and nobody waits for it
			done = h.beginStop(s, &event.CancelCause{Origin: by, Reason: "the server was switched off"}, servers.Stop)
		}
	})
	windows.TookEffect(ctx)
	if err := s.AwaitStop(ctx, done); err != nil {
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
	session, err := s.Acquire(ctx, nil)
	if err != nil {
		return event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
	if session.Era() == mcp.Legacy && !session.Info().Logging {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonNoLogging, []string{"server", s.name},
			"server %q does not offer logging",
			s.name)
	}
	if err := session.SetLogLevel(ctx, level); err != nil {
		if ctx.Err() != nil {
			return event.StoppedWaiting(ctx, err)
		}
		return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name},
			"server %q did not set its log level: %s", s.name, s.Quote(err.Error()))
	}
	return nil
}

func (h *Hub) find(name string) (*server, error) {
	defer h.lock().unlock()
	if s := h.server(name); s != nil {
		return s, nil
	}
	return nil, servers.ErrNotFound(name)
}

func (h *Hub) infoOf(s *server) event.ServerInfo {
	defer h.lock().unlock()
	return s.info()
}
