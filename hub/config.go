package hub

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// ConfigSource is one config file or its text.
type ConfigSource = sources.Source

// LoadConfig reads the config and brings the servers in line with it, as Config.Load does. It waits until
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
// Config.Watch.
func (h *Hub) WatchConfig(on bool) { h.config.Watch(on) }

// arrange sorts the servers in config order. It announces those whose place has changed and that no step has announced.
func (st *state) arrange(at map[string]int) {
	st.servers = slices.DeleteFunc(st.servers, func(s *server) bool { return s.removed() })
	slices.SortFunc(st.servers, func(a, b *server) int { return cmp.Compare(at[a.name], at[b.name]) })
	for _, s := range st.servers {
		if s.launch.place != at[s.name] {
			s.launch.place = at[s.name]
			s.changed()
		}
	}
}

// carryOutStep carries out one step of a reload. The channel, if not nil, is closed when what the step stops has ended.
func (st *state) carryOutStep(a configStep) <-chan struct{} {
	s := a.have
	switch {
	case s == nil:
		st.addServer(a)
		return nil
	case s.removed(): // it was listed beside a server that a step before this one has switched to another entry
		return nil
	case a.remove:
		return st.removeServer(s, "the server was removed from the config")
	}
	return st.changeServer(s, a)
}

func (st *state) addServer(a configStep) {
	s := st.newServer(a)
	st.servers = append(st.servers, s)
	st.live[s.number] = s
	// if a removed server of the same name has not ended yet, s waits for that: two processes of one name never run at
	// once
	st.apply(core.ServerAdded{Server: s.number, Name: s.name, Entry: s.entry(a.broken),
		Launch: st.hub.launchEntries(a.entries), Counts: s.launch.counts()})
}

// newServer makes a server that is not in the table yet, and is not announced.
func (st *state) newServer(a configStep) *server {
	st.made++
	s := &server{hub: st.hub, number: st.made, name: a.conf.Name, allowance: st.budgets.of(a.conf.Name)}
	s.launch.server = s
	s.takeEntry(a)
	return s
}

func (st *state) removeServer(s *server, why string) <-chan struct{} {
	s.forgetTools()
	done := s.ends(core.ServerRemoved{Server: s.number, Cause: &event.CancelCause{Origin: event.OriginHost, Reason: why}})
	s.endSignIn()
	s.allowance.close()
	return done
}

func (st *state) changeServer(s *server, a configStep) <-chan struct{} {
	old := s.conf
	s.lastShown = s.info()
	s.takeEntry(a)
	s.supersedeInputs()
	done := s.reconsider(a.broken, &old, a.relaunch, cmp.Or(a.why, "the server's config changed"))
	if !reflect.DeepEqual(s.lastShown, s.info()) { // a reload of many servers announces only those that changed, and once
		s.changed()
	}
	st.policyChanged(s)
	return done
}

// Config returns what reads and writes the config files.
func (h *Hub) Config() *Config { return h.config }

// Catalog returns the places where servers are found that could be added.
func (h *Hub) Catalog() *catalog.Catalog { return h.catalog }

// Profiles returns the profiles of the config, sorted by name. The caller must not change them.
func (h *Hub) Profiles() []config.Profile {
	st := h.lock()
	defer st.unlock()
	return st.config.Profiles()
}

// Config is the config of a hub: its sources, what was read from them, and the watch over them.
type Config struct {
	hub        *Hub
	newWatcher func() FileWatcher                    // makes the watcher of files
	parse      func([]config.Source) config.Contents // config.Read; tests change its result
	loading    chan struct{}                         // holds one token while the config is being read
	files      *sources.Files

	policyFile  string // of the system's managed policy
	hostPolicy  atomic.Pointer[config.PolicyText]
	policyTexts atomic.Pointer[policyTexts] // as read last
	policies    atomic.Pointer[[]event.LaunchPolicy]

	// guarded by the hub's lock
	sources  []sources.Source
	problems []event.ConfigProblem // those that concern no single server
	profiles []config.Profile      // a list is not changed once it is stored here
	watching watching
}

// newConfig returns a Config without sources. stateDir is where the last write is kept for an undo; "" = memory.
func newConfig(h *Hub, stateDir string, newWatcher func() FileWatcher,
	parse func([]config.Source) config.Contents) *Config {
	c := &Config{hub: h, newWatcher: newWatcher, parse: parse, loading: make(chan struct{}, 1)}
	c.policies.Store(&[]event.LaunchPolicy{})
	c.files = sources.NewFiles(sources.FilesOptions{StateDir: stateDir, Redactor: h.redactor, Logger: h.log,
		Sources: func() (list []sources.Source) {
			h.within(func() { list = c.sources })
			return list
		}, Outdated: c.outdated, Note: c.note})
	return c
}

// Problems returns the problems that concern no single server. It is called with the lock.
func (c *Config) Problems() []event.ConfigProblem { return c.problems }

// Profiles returns the profiles of the config, sorted by name. It is called with the lock.
func (c *Config) Profiles() []config.Profile { return c.profiles }

// Load reads the config and brings the servers in line with it: it adds new servers, stops and removes missing ones,
// and stops a server whose launch changed, which is started again if it ran. A change of approvals, timeouts and the
// like affects no process. A nil sources means the same sources as last time. Calls run one after the other, so that
// what was read last counts.
//
// changed is the file that changed, "" if the host asks. stopped names the servers that had to be stopped, and waits
// are closed when they have stopped. The error is the cause of ctx, or says that the hub is draining.
func (c *Config) Load(ctx context.Context, from []sources.Source, changed string) (problems []event.ConfigProblem,
	stopped []string, waits []<-chan struct{}, err error) {
	select {
	case c.loading <- struct{}{}:
		defer func() { <-c.loading }()
	case <-ctx.Done():
		return nil, nil, nil, context.Cause(ctx)
	}
	from = sources.Absolute(from)
	c.loadPolicies()
	var draining bool
	var old grants.Entries
	c.hub.update(func(st *state) {
		if draining = st.core.Draining(); draining {
			return
		}
		if from == nil {
			from = c.sources
		}
		c.sources = from
		c.hub.launches.SetFolders(foldersOf(from))
		for _, l := range st.servers {
			old = append(old, l.launch.all()...)
		}
	})
	if draining {
		return nil, nil, nil, event.ErrDraining()
	}

	c.watchFiles(from)
	read, missing := sources.ReadAll(ctx, from) // outside the lock
	found := c.parse(read)
	want := found.Servers
	writers := c.hub.grants.Writers() // after the files: an entry is recorded before it is written to a file
	for i := range want {
		want[i].Origin.Writer = writers(want[i])
		for n := range want[i].Behind {
			want[i].Behind[n].Origin.Writer = writers(want[i].Behind[n])
		}
	}
	for _, p := range append(missing, found.Problems...) {
		problems = append(problems, event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server,
			Key: p.Key, Message: c.hub.redactor.Text(p.Message), Fatal: p.Fatal})
	}
	problems = append(problems, grants.LookAlikes(want)...)

	// Work that may take as long as a stranger chooses is done here, without the lock. It includes the entries that stay
	// as they were, since the folders may have changed.
	keep := c.hub.launches.Anew(old)
	var all []namedEntries
	taken := map[string]bool{}
	for _, conf := range want {
		taken[conf.Name] = true
	}
	for _, conf := range want {
		all = append(all, namedEntries{c.hub.launches.Entries(conf),
			c.hub.launches.Beside(conf, func(name string) bool { return taken[name] })})
	}
	c.hub.update(func(st *state) {
		if draining = st.core.Draining(); !draining {
			keep()
			c.profiles = found.Profiles
			problems, stopped, waits = c.apply(all, problems, from, changed)
		}
	})
	c.watchGlobs(from)
	if draining {
		return nil, nil, nil, event.ErrDraining()
	}
	return problems, stopped, waits, nil
}

// ExamineAgain examines the present entries again, because what they find on this machine has changed. If the config is
// being read, it waits for that, within ctx.
func (c *Config) ExamineAgain(ctx context.Context) {
	select {
	case c.loading <- struct{}{}:
		defer func() { <-c.loading }()
	case <-ctx.Done():
		return
	}
	keep := c.hub.launches.Anew(c.presentEntries())
	c.hub.within(keep)
}

// apply brings the servers in line with what was read. It is called with the lock.
func (c *Config) apply(all []namedEntries, problems []event.ConfigProblem, from []sources.Source,
	changed string) (_ []event.ConfigProblem, stopped []string, waits []<-chan struct{}) {
	have := c.hub.held().servers
	want := c.wantedOf(all, have)
	steps := reconcile(want, problems, have)
	at := place(steps, have, from, want)
	for _, s := range steps {
		if done := c.hub.held().carryOutStep(s); done != nil {
			stopped = append(stopped, s.have.name)
			waits = append(waits, done)
		}
	}
	c.hub.held().arrange(at)
	problems = append(append(problems, c.watchProblems()...), c.policyProblems()...)
	c.problems = slices.DeleteFunc(slices.Clone(problems), func(p event.ConfigProblem) bool { return p.Server != "" })
	c.hub.held().emit(&event.ConfigReloaded{Problems: c.problems, Stopped: stopped, ChangedFile: changed})
	return problems, stopped, waits
}

// namedEntries holds the entries of one name, and those of each scope if there are several (grants.Resolver.Beside).
type namedEntries struct {
	entries grants.Entries
	beside  []grants.Entries
}

// wantedOf returns the entry that counts for each name, and the entries beside it.
func (c *Config) wantedOf(all []namedEntries, have []*server) (want []wantedEntry) {
	of := map[string]core.ServerNumber{}
	for _, l := range have {
		of[l.name] = l.number
	}
	for _, n := range all {
		counts := c.hub.held().entryThatCounts(of[n.entries[0].Conf.Name], n.entries)
		want = append(want, wantedEntry{counts, n.entries, n.beside})
		for _, entries := range grants.Besides(counts, n.beside) {
			want = append(want, wantedEntry{c.hub.held().entryThatCounts(of[entries[0].Conf.Name], entries), entries, nil})
		}
	}
	return want
}

func foldersOf(from []sources.Source) (folders []string) {
	for _, s := range from {
		if s.Folder != "" {
			folders = append(folders, s.Folder)
		}
	}
	return folders
}

// ConfigFiles returns the sources in their order. It reads their files.
func (c *Config) ConfigFiles(ctx context.Context) []sources.File { return c.files.List(ctx) }

// ServerEntry returns the entry that to names, as its file has it now, and that file.
func (c *Config) ServerEntry(ctx context.Context, to sources.Target) (edit.Found, sources.File, error) {
	return c.files.Entry(ctx, to)
}

// ReadText returns the servers that a text holds, and the problems of the text.
func (c *Config) ReadText(text, dialect string) ([]edit.Found, []event.ConfigProblem) {
	found, problems := edit.Read(text, dialect)
	return found, c.files.Problems(problems)
}

// Shown converts a problem of an entry to the form that people see.
func (c *Config) Shown(p config.Problem) event.ConfigProblem { return c.files.Problem(p) }

// AddServer adds an entry to a file and waits until the change is applied, for at most applyWait. UpdateServer,
// RemoveServer and Undo wait likewise.
func (c *Config) AddServer(ctx context.Context, to sources.Target, f edit.Form,
	set edit.Settings) (sources.Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Add(ctx, to, f, set))
}

// UpdateServer changes an entry.
func (c *Config) UpdateServer(ctx context.Context, to sources.Target, u edit.Update) (sources.Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Update(ctx, to, u))
}

// RemoveServer takes an entry out of its file.
func (c *Config) RemoveServer(ctx context.Context, to sources.Target) (sources.Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Remove(ctx, to))
}

// Undo restores the text that a file had before the last write, as Files.Undo does.
func (c *Config) Undo(ctx context.Context, id string, by config.Writer) (sources.Written, error) {
	return c.afterWrite(ctx, false)(c.files.Undo(ctx, id, by))
}

// applyWait bounds how long a write waits for the servers that its reload stops.
const applyWait = 10 * time.Second

// afterWrite returns a function that applies the result of a write. If the write was refused because the entry was
// outdated, that function also reads the config again, so that people see the entry as it is. A preview has written
// nothing.
func (c *Config) afterWrite(ctx context.Context, preview bool) func(sources.Written, error) (sources.Written, error) {
	return func(w sources.Written, err error) (sources.Written, error) {
		if err != nil {
			if e, ok := errors.AsType[*event.Error](err); ok && e.Reason == event.ReasonConfigChanged {
				_ = c.applied(ctx, e.Meta["file"])
			}
			return sources.Written{}, err
		}
		if preview {
			return w, nil
		}
		return w, c.applied(ctx, w.File)
	}
}

// applied reads the config again and waits, for at most applyWait, until the servers that have to stop have stopped.
func (c *Config) applied(ctx context.Context, changed string) error {
	_, _, waits, err := c.Load(ctx, nil, changed)
	if err != nil {
		return err
	}
	late := time.NewTimer(applyWait)
	defer late.Stop()
	for _, w := range waits {
		select {
		case <-w:
		case <-late.C:
			return nil // the state of the server says that it is being stopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// outdated reports whether an entry differs from what the hub has read last, which is what people have seen.
func (c *Config) outdated(src sources.Source, now *config.Server, name string) bool {
	var known *config.Server
	c.hub.update(func(st *state) {
		for _, l := range st.servers {
			for _, e := range l.launch.entries {
				if e.Conf.Name == name && e.Conf.Origin.File == src.Path && e.Conf.Origin.Folder == src.Folder {
					conf := e.Conf
					known = &conf
				}
			}
		}
	})
	if known == nil || now == nil { // of an entry that cannot be used, people see only the problems
		return false
	}
	return known.LaunchKey() != now.LaunchKey() || known.Disabled != now.Disabled ||
		!maps.Equal(known.Approvals, now.Approvals) || !reflect.DeepEqual(known.Tools, now.Tools) ||
		!reflect.DeepEqual(known.Timeouts, now.Timeouts)
}

// note records that a program writes an entry, before the entry is written. It records nothing if the entry stays the
// user's own, as it was before. For a preview it only returns what it would record.
func (c *Config) note(src config.Source, before *config.Server, edited edit.Edited,
	to sources.Target) (n sources.Noted, err error) {
	if before != nil {
		n.Before = c.hub.grants.Writers()(*before) != config.Writer{}
	}
	after := edited.Server
	if after == nil {
		return n, nil
	}
	n.Now = n.Before || before == nil || before.LaunchKey() != after.LaunchKey() || allowsMore(*before, *after)
	if n.Now = n.Now && !edited.AsBefore; !n.Now || to.Preview {
		return n, nil
	}
	src.JSON = edited.Text
	err = c.hub.grants.NoteWritten(src.Path, *after, to.By, config.LayoutOf(src).Servers)
	if err != nil && !after.Origin.NeedsConsent() {
		return n, &sources.UnnotedError{Err: err}
	}
	return n, nil
}

// allowsMore reports whether a change allows more: whether a tool may be called without a question, or at all, that
// could not be before.
func allowsMore(before, after config.Server) bool {
	if !after.Tools.Within(before.Tools) {
		return true
	}
	for pattern, p := range after.Approvals {
		if p == config.Allow && before.Approvals[pattern] != config.Allow {
			return true
		}
	}
	for pattern, p := range before.Approvals {
		now, said := after.Approvals[pattern]
		if p != config.Allow && (!said || now == config.Ask && p == config.Deny) {
			return true
		}
	}
	return false
}
