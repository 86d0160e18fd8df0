package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// server is one configured server, with what the hub keeps of it beside its life. Guarded by the hub's lock, but for
// its hub, name and allowance.
type server struct {
	*servers.Server
	hub       *Hub
	name      string
	allowance *allowance.Allowance
	gone      bool // the windows have been told that it is no longer configured, and hear nothing more of it
	launch    *launch.Launch
}

// server finds a server by name, nil when there is none.
func (st *state) server(name string) *server {
	for _, s := range st.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// noServer is the error of who names a server that does not exist.
func (st *state) noServer(name string) *event.Error {
	var names []string
	for _, s := range st.servers {
		names = append(names, s.name)
	}
	return servers.ErrNotFound(name, names...)
}

// info is how people see s.
func (s *server) info() event.ServerInfo {
	i := s.Info()
	i.Muted = s.allowance.Muted()
	s.launch.Tell(&i)
	return i
}

// changed tells the windows how s is now. That it is gone from the config is the last thing that they hear of it: what
// comes later under its name is of the next entry.
func (st *state) changed(s *server) {
	if s.gone {
		return
	}
	s.gone = s.Life().Removed()
	info := s.info()
	s.SignInTold(info.SignIn)
	s.launch.Told(info.LaunchConsent)
	st.emit(&event.ServerChanged{Server: info, Removed: s.gone})
}

// Servers lists every server in config order, and the problems of no single server.
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

// order finds a server and does what is ordered of it.
func (h *Hub) order(name string, do func(*server) (event.ServerInfo, error)) (event.ServerInfo, error) {
	s, err := h.find(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	return do(s)
}

// StartServer connects a server and waits until it is ready. It is tried at once, however often it failed before.
func (h *Hub) StartServer(ctx context.Context, name string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.Start(ctx) })
}

// StopServer ends the connection and the process; open calls are cancelled with the reason. It starts again on the next
// use.
func (h *Hub) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.stopServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) stopServer(ctx context.Context, name string, by event.Origin, reason string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.Stop(ctx, by, reason) })
}

// RestartServer is StopServer, then StartServer. A StopServer that comes meanwhile wins: the server stays stopped then,
// and the error says so.
func (h *Hub) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.restartServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) restartServer(ctx context.Context, name string, by event.Origin,
	reason string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.Restart(ctx, by, reason) })
}

// SetServerEnabled switches a server off (it is stopped, calls are refused) or on: see servers.Server.SetEnabled.
func (h *Hub) SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error) {
	return h.setServerEnabled(ctx, name, event.OriginHost, enabled)
}

func (h *Hub) setServerEnabled(ctx context.Context, name string, by event.Origin,
	enabled bool) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.SetEnabled(ctx, by, enabled) })
}

// SetLogLevel asks a server to log from this level on.
func (h *Hub) SetLogLevel(ctx context.Context, name, level string) error {
	if err := servers.CheckLogLevel(level); err != nil {
		return err
	}
	s, err := h.find(name)
	if err != nil {
		return err
	}
	return s.SetLogLevel(ctx, level)
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
