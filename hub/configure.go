package hub

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
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
	st.servers = slices.DeleteFunc(st.servers, func(s *server) bool { return s.Life().Removed() })
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
	s.EndConnection(&event.CancelCause{Origin: event.OriginHost, Reason: why}, servers.Again)
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
	st.changed(s)
	if s.Eager() && s.Usable() == nil {
		s.StartEagerly()
	}
}

// newServer makes a server that is not in the hub's list yet, and is not announced.
func (st *state) newServer(e servers.Entry) *server {
	st.made++
	s := &server{hub: st.hub, number: st.made, name: e.Conf.Name, allowance: st.budgets.Of(e.Conf.Name)}
	s.Server = st.table.Add(e, servers.Accounts{Lists: s.allowance.Lists, Results: s.allowance.Results}, owner{s})
	s.launch = st.launches.New(s.Server, owner{s})
	return s
}

func (st *state) removeServer(s *server, why string) <-chan struct{} {
	st.table.Remove(s.Server)
	done := s.EndConnection(&event.CancelCause{Origin: event.OriginHost, Reason: why}, servers.Stop)
	s.EndSignIn()
	s.allowance.Close()
	st.apply(core.ServerRemoved{Server: s.number})
	st.changed(s)
	return done
}

func (st *state) changeServer(s *server, a sources.Step) <-chan struct{} {
	was, old, told := s.Disabled(), *s.Conf(), s.info()
	s.launch.Take(a.Entry, a.Entries, a.Relaunch)
	s.launch.TakeBeside(a.Beside)
	s.launch.Move(a.Place)
	s.Reconfigure(a.Life())
	owner{s}.Outdated()
	var done <-chan struct{}
	switch {
	case a.Relaunch:
		by := servers.End
		if s.Up() {
			by = servers.Again
		}
		done = s.EndConnection(&event.CancelCause{Origin: event.OriginHost,
			Reason: cmp.Or(a.Why, "the server's config changed")}, by)
		s.Relaunch()
	case s.Disabled() && !was:
		done = s.EndConnection(&event.CancelCause{Origin: event.OriginHost, Reason: "the server was switched off"},
			servers.Stop)
	}
	s.Reconsider(&old, was, a.Relaunch)
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
