package hub

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"reflect"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// LoadConfig reads the config and brings the servers in line with it: new ones appear, missing ones are stopped and go,
// and one whose launch changed is stopped and, if it ran, started anew. A change of approvals, timeouts or the like
// touches no process. nil sources: the same as last time. One reads at a time, so that what was read last is what
// counts.
func (h *Hub) LoadConfig(ctx context.Context, sources []ConfigSource) (servers []event.ServerInfo,
	problems []event.ConfigProblem,
	stopped []string, err error) {
	problems, stopped, waits, err := h.reload(ctx, sources, "")
	if err != nil {
		return nil, nil, nil, err
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

// reload is LoadConfig but for the wait until what had to be stopped has stopped. changed is the file that changed, ""
// when the host asks.
func (h *Hub) reload(ctx context.Context, sources []ConfigSource, changed string) (problems []event.ConfigProblem,
	stopped []string, waits []<-chan struct{}, err error) {
	select {
	case h.loading <- struct{}{}:
		defer func() { <-h.loading }()
	case <-ctx.Done():
		return nil, nil, nil, event.StoppedWaiting(ctx, context.Cause(ctx))
	}
	var draining bool
	var old launch.Entries
	h.update(func() {
		if draining = h.draining; draining {
			return
		}
		if sources == nil {
			sources = h.sources
		}
		h.sources = sources
		h.launches.SetFolders(foldersOf(sources))
		for _, s := range h.servers {
			old = append(old, s.launch.Entries()...)
		}
	})
	if draining {
		return nil, nil, nil, event.ErrDraining()
	}

	h.watchFiles(sources)
	read, missing := readSources(ctx, sources) // outside the lock
	want, found := h.load(read)
	for _, p := range append(missing, found...) {
		problems = append(problems, event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server,
			Key:     p.Key,
			Message: h.redactor.Text(p.Message), Fatal: p.Fatal})
	}

	problems = append(problems, grants.LookAlikes(want)...)

	// What takes time that a stranger chooses is done here, without the lock. The folders are other ones, perhaps, also
	// for what stays as it was.
	r := reading{keep: h.launches.Anew(old)}
	for _, c := range want {
		r.entries = append(r.entries, h.launches.Entries(c))
	}
	problems, stopped, waits, err = h.apply(r, problems, sources, changed)
	h.watchGlobs(sources)
	return problems, stopped, waits, err
}

// reading is what was read of the config.
type reading struct {
	entries []launch.Entries
	keep    func() // what the entries of before are now: a server that this reading says nothing of keeps its entry
}

// apply brings the servers in line with what was read.
func (h *Hub) apply(r reading, problems []event.ConfigProblem, sources []ConfigSource,
	changed string) (_ []event.ConfigProblem,
	stopped []string, waits []<-chan struct{}, err error) {
	defer h.lock().unlock()
	if h.draining {
		return nil, nil, nil, event.ErrDraining()
	}
	r.keep()
	want := h.wantedOf(r.entries)
	steps := reconcile(want, problems, h.servers)
	at := place(steps, h.servers, sources, confs(want))
	for _, a := range steps {
		if done := h.carryOut(a); done != nil {
			stopped = append(stopped, a.have.name)
			waits = append(waits, done)
		}
	}
	h.arrange(at)
	problems = append(problems, h.watchProblems()...)
	h.problems = slices.DeleteFunc(slices.Clone(problems), func(p event.ConfigProblem) bool { return p.Server != "" })
	h.emit(&event.ConfigReloaded{Problems: h.problems, Stopped: stopped, ChangedFile: changed})
	return problems, stopped, waits, nil
}

// wantedOf tells of each name which entry counts. h.mu is held.
func (h *Hub) wantedOf(all []launch.Entries) (want []wanted) {
	have := map[string]*launch.Launch{}
	for _, s := range h.servers {
		have[s.name] = s.launch
	}
	for _, entries := range all {
		want = append(want, wanted{h.launches.Counting(have[entries[0].Conf.Name], entries), entries})
	}
	return want
}

func foldersOf(sources []ConfigSource) (folders []string) {
	for _, s := range sources {
		if s.Folder != "" {
			folders = append(folders, s.Folder)
		}
	}
	return folders
}

// readSources reads the files. One that is not there brings no servers: it may come later, and who deletes it means it.
// One that cannot be read is left to config.Load, which says why; its servers stay.
func readSources(ctx context.Context, sources []ConfigSource) (read []config.Source, missing []config.Problem) {
	for _, s := range sources {
		src := config.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder, Trusted: s.Trusted}
		if s.JSON != "" {
			src.JSON = []byte(s.JSON)
		} else if text, err := readFile(ctx, s.Path, s.Scope); err == nil {
			src.JSON = append([]byte{}, text...) // never nil: that would mean the file
		} else if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, config.Problem{File: s.Path, Message: "there is no such file; it brings no servers"})
			continue
		}
		read = append(read, src)
	}
	return read, missing
}

// readFile reads a file once nobody is in the middle of writing it, as far as its writers tell: Cline and its relatives
// hold a lock beside it.
func readFile(ctx context.Context, path, scope string) ([]byte, error) {
	// a lock that stays says nothing; half a text is found out
	_ = statefile.AwaitForeignLock(ctx, path)
	return config.ReadFile(path, scope)
}

// carryOut does one step. The channel, if any, closes when a stop that it began is over. h.mu is held.
func (h *Hub) carryOut(a step) <-chan struct{} {
	switch s := a.have; {
	case s == nil:
		h.addServer(a)
		return nil
	case a.remove:
		return h.removeServer(s)
	default:
		return h.changeServer(s, a)
	}
}

// life is the entry of the step as the room of servers takes it up.
func (a step) life() servers.Entry {
	return servers.Entry{Conf: a.conf, Key: a.key(), Problems: a.problems, Broken: a.broken}
}

// addServer: h.mu is held.
func (h *Hub) addServer(a step) {
	s := h.newServer(a.life())
	s.launch.Take(a.entry, a.entries, false)
	s.launch.Move(a.place)
	h.servers = append(h.servers, s)
	h.changed(s)
	if s.Eager() && s.Usable() == nil {
		s.StartEagerly()
	}
}

// newServer makes a server that is in no list of the hub yet, and nobody has been told of. h.mu is held.
func (h *Hub) newServer(e servers.Entry) *server {
	s := &server{hub: h, name: e.Conf.Name, allowance: h.budgets.Of(e.Conf.Name)}
	s.Server = h.table.Add(e, servers.Accounts{Lists: s.allowance.Lists, Results: s.allowance.Results}, owner{s})
	s.launch = h.launches.New(s.Server, owner{s})
	return s
}

// removeServer: h.mu is held.
func (h *Hub) removeServer(s *server) <-chan struct{} {
	h.table.Remove(s.Server)
	done := h.beginStop(s, &event.CancelCause{Origin: event.OriginHost,
		Reason: "the server was removed from the config"}, servers.Stop)
	s.EndSignIn()
	s.allowance.Close()
	h.changed(s)
	return done
}

// changeServer: h.mu is held.
func (h *Hub) changeServer(s *server, a step) <-chan struct{} {
	was, old, told := s.Disabled(), *s.Conf(), s.info()
	s.launch.Take(a.entry, a.entries, a.relaunch)
	s.launch.Move(a.place)
	s.Reconfigure(a.life())
	owner{s}.Outdated()
	var done <-chan struct{}
	switch {
	case a.relaunch:
		by := servers.End
		if s.Up() {
			by = servers.Again
		}
		done = h.beginStop(s, &event.CancelCause{Origin: event.OriginHost,
			Reason: cmp.Or(a.why, "the server's config changed")}, by)
		s.Relaunch()
	case s.Disabled() && !was:
		done = h.beginStop(s, &event.CancelCause{Origin: event.OriginHost, Reason: "the server was switched off"},
			servers.Stop)
	}
	s.Reconsider(&old, was, a.relaunch)
	if !reflect.DeepEqual(told, s.info()) { // a reload of many servers tells of those that changed
		h.changed(s)
	}
	h.policyChanged(s)
	return done
}
