package hub

import (
	"cmp"
	"context"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// server is one configured server: its life, its launch, and its allowance. All fields but hub, name and allowance are
// guarded by the hub's lock.
type server struct {
	*servers.Server
	hub       *Hub
	number    core.ServerNumber
	name      string
	allowance *allowance.Allowance
	gone      bool // the windows were told of its removal, and are sent nothing more about it
	launch    *launch.Launch
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
	if s != nil && !s.Conf().Origin.OfWorkspace() {
		return s
	}
	if of, scope, ok := config.SplitAddress(name); ok {
		for _, other := range st.servers {
			if other.configName() == of && other.Conf().Origin.Holder() == scope && !other.Broken() {
				return other
			}
		}
	}
	return s
}

// canonical returns the name of the server that name means. A name that no server has is returned as it is.
func (st *state) canonical(name string) string {
	if s := st.server(name); name != "" && s != nil {
		return s.name
	}
	return name
}

// configName returns the name that the server has in the config.
func (s *server) configName() string { return cmp.Or(s.launch.Of(), s.name) }

// besides returns the servers that are listed beside s: see launch.Maker.Beside.
func (st *state) besides(s *server) (list []*server) {
	for _, other := range st.servers {
		if other.launch.Of() == s.name {
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
	return servers.ErrNotFound(name, names...)
}

// info returns s in the form that windows show.
func (s *server) info() event.ServerInfo { return s.complete(s.Info()) }

// complete adds to i what package servers does not know.
func (s *server) complete(i event.ServerInfo) event.ServerInfo {
	i.Muted = s.allowance.Muted()
	s.launch.Tell(&i)
	return i
}

// changed tells the windows that something has changed of s besides its state.
func (st *state) changed(s *server) { st.apply(core.InfoChanged{Server: s.number}) }

// shown sends the windows s in a state. After the removal of s they are sent nothing more about it: a later entry of
// the same name is another server.
func (st *state) shown(s *server, e core.ServerShown) {
	if s.gone {
		return
	}
	s.gone = e.Removed
	info := s.complete(s.InfoIn(e))
	s.SignInTold(info.SignIn)
	s.launch.Told(info.LaunchConsent)
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
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.Start(ctx) })
}

// StopServer ends the connection and the process. Open calls are cancelled with the reason. The server starts again on
// the next use.
func (h *Hub) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return h.stopServer(ctx, name, event.OriginHost, reason)
}

func (h *Hub) stopServer(ctx context.Context, name string, by event.Origin, reason string) (event.ServerInfo, error) {
	return h.order(name, func(s *server) (event.ServerInfo, error) { return s.Stop(ctx, by, reason) })
}

// RestartServer is StopServer followed by StartServer. If another StopServer comes meanwhile, the server stays stopped,
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
