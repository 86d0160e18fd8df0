package hub

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// ConfigSource is one config file or its text.
type ConfigSource = sources.Source

// FileWatcher reports which files changed.
type FileWatcher = sources.FileWatcher

// LoadConfig reads the config and brings the servers in line with it, as sources.Config.Load does. It waits until
// everything that had to be stopped has stopped.
func (h *Hub) LoadConfig(ctx context.Context, from []ConfigSource) (servers []event.ServerInfo,
	problems []event.ConfigProblem, stopped []string, err error) {
	problems, stopped, waits, err := h.config.Load(ctx, from, "")
	if err != nil {
		return nil, nil, nil, event.StoppedWaiting(ctx, err)
	}
	for _, w := range waits {
		select {
		case <-w:
		case <-ctx.Done():
			return nil, nil, nil, event.Fail(event.CodeDeadlineExceeded, event.ReasonServerStopped, nil,
				"the config was read; servers are still being stopped")
		}
	}
	list, _ := h.Servers()
	return list, problems, stopped, nil
}

// WatchConfig says whether the hub watches the files of its config from the next LoadConfig on: see
// sources.Config.Watch.
func (h *Hub) WatchConfig(on bool) { h.config.Watch(on) }

// Launches returns the launches of the servers, in config order.
func (o house) Launches() (list []*launch.Launch) {
	for _, s := range o.h.held().servers {
		list = append(list, s.launch)
	}
	return list
}

// Arrange sorts the servers in config order. It announces those whose place has changed and that no step has announced.
func (o house) Arrange(at map[string]int) {
	st := o.h.held()
	st.servers = slices.DeleteFunc(st.servers, func(s *server) bool { return s.Removed() })
	slices.SortFunc(st.servers, func(a, b *server) int { return cmp.Compare(at[a.name], at[b.name]) })
	for _, s := range st.servers {
		if s.launch.Place() != at[s.name] {
			s.launch.Move(at[s.name])
			st.changed(s)
		}
	}
}

// Reloaded announces a reload to the windows.
func (o house) Reloaded(e *event.ConfigReloaded) { o.h.held().emit(e) }

// Restart ends the connection of s, and starts it again.
func (o house) Restart(s *servers.Server, why string) {
	s.Outdated(&event.CancelCause{Origin: event.OriginHost, Reason: why})
}

// CarryOut carries out one step of a reload. The channel, if not nil, is closed when what the step stops has ended.
func (o house) CarryOut(a sources.Step) <-chan struct{} {
	st := o.h.held()
	if a.Have == nil {
		st.addServer(a)
		return nil
	}
	s := st.named(a.Have.Server().Name())
	switch {
	case s == nil: // it was listed beside a server that a step before this one has switched to another entry
		return nil
	case a.Remove:
		return st.removeServer(s, "the server was removed from the config")
	}
	return st.changeServer(s, a)
}

func (st *state) addServer(a sources.Step) {
	s := st.newServer(a.Life())
	s.launch.Take(a.Entry, a.Entries, false)
	s.launch.TakeBeside(a.Beside)
	s.launch.Move(a.Place)
	st.servers = append(st.servers, s)
	st.table.Add(s.Server, a.Broken)
}

// newServer makes a server that is not in the table yet, and is not announced.
func (st *state) newServer(e servers.Entry) *server {
	s := &server{hub: st.hub, name: e.Conf.Name, allowance: st.budgets.Of(e.Conf.Name)}
	s.Server = st.table.New(e, servers.Accounts{Lists: s.allowance.Lists, Results: s.allowance.Results}, owner{s})
	s.number = s.Number()
	s.launch = st.launches.New(s.Server, owner{s})
	return s
}

func (st *state) removeServer(s *server, why string) <-chan struct{} {
	done := st.table.Remove(s.Server, &event.CancelCause{Origin: event.OriginHost, Reason: why})
	s.EndSignIn()
	s.allowance.Close()
	return done
}

func (st *state) changeServer(s *server, a sources.Step) <-chan struct{} {
	old, told := *s.Conf(), s.info()
	s.launch.Take(a.Entry, a.Entries, a.Relaunch)
	s.launch.TakeBeside(a.Beside)
	s.launch.Move(a.Place)
	s.Reconfigure(a.Life())
	owner{s}.Outdated()
	done := s.Reconsider(a.Broken, &old, a.Relaunch, cmp.Or(a.Why, "the server's config changed"))
	if !reflect.DeepEqual(told, s.info()) { // a reload of many servers announces only those that changed
		st.changed(s)
	}
	st.policyChanged(s)
	return done
}

// Config returns what reads and writes the config files.
func (h *Hub) Config() *sources.Config { return h.config }

// Catalog returns the places where servers are found that could be added.
func (h *Hub) Catalog() *catalog.Catalog { return h.catalog }

// Profiles returns the profiles of the config, sorted by name. The caller must not change them.
func (h *Hub) Profiles() []config.Profile {
	st := h.lock()
	defer st.unlock()
	return st.config.Profiles()
}
