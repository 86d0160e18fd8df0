package sources

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/launch"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Source is one config file or its text. Scope is "user", "workspace" or "host". The servers of a workspace file start
// only after the user has agreed to each, unless the host vouches for the file (Trusted). Dialect may be empty. Folder
// is the workspace folder that the file belongs to.
type Source struct {
	Path, JSON, Scope string
	Trusted           bool
	Dialect, Folder   string
	MayBeMissing      bool // a missing file is no problem: servers can be added there
}

// Owner is what a Config needs of its hub. All methods are called with the lock.
type Owner interface {
	// Launches returns the launches of the servers, in config order.
	Launches() []*launch.Launch
	// CarryOut carries out one step. If the step stops a server, the channel is closed when that stop is over; otherwise
	// the channel is nil.
	CarryOut(s Step) <-chan struct{}
	// Arrange sets the order of the servers, by their places, which count from 1. It is called after all steps.
	Arrange(at map[string]int)
	// Reloaded sends e to the windows.
	Reloaded(e *event.ConfigReloaded)
	// Restart restarts a running server. why is the reason, in words for people.
	Restart(s *servers.Server, why string)
}

// Options are the options of a Config. All are required, but StateDir may be "".
type Options struct {
	House      servers.House
	Owner      Owner
	Launches   *launch.Maker
	Redactor   *redact.Redactor
	Logger     *slog.Logger
	NewWatcher func() FileWatcher                    // makes the watcher of files
	Parse      func([]config.Source) config.Contents // config.Read; tests change its result
	StateDir   string                                // where the last write is kept for an undo; "" = memory
}

// Config is the config of a hub: its sources, what was read from them, and the watch over them. New makes it.
type Config struct {
	Options
	loading chan struct{} // holds one token while the config is being read
	files   *Files

	// guarded by the lock of the house
	sources  []Source
	problems []event.ConfigProblem // those that concern no single server
	profiles []config.Profile      // a list is not changed once it is stored here
	watching watching
}

// New returns a Config without sources.
func New(o Options) *Config {
	c := &Config{Options: o, loading: make(chan struct{}, 1)}
	c.files = NewFiles(FilesOptions{StateDir: o.StateDir, Redactor: o.Redactor, Logger: o.Logger,
		Sources: func() (list []Source) {
			c.House.Update(func() { list = c.sources })
			return list
		}})
	c.files.outdated, c.files.note = c.outdated, c.note
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
func (c *Config) Load(ctx context.Context, sources []Source, changed string) (problems []event.ConfigProblem,
	stopped []string, waits []<-chan struct{}, err error) {
	select {
	case c.loading <- struct{}{}:
		defer func() { <-c.loading }()
	case <-ctx.Done():
		return nil, nil, nil, context.Cause(ctx)
	}
	sources = Absolute(sources)
	var draining bool
	var old launch.Entries
	c.House.Update(func() {
		if draining = c.House.Draining(); draining {
			return
		}
		if sources == nil {
			sources = c.sources
		}
		c.sources = sources
		c.Launches.SetFolders(foldersOf(sources))
		for _, l := range c.Owner.Launches() {
			old = append(old, l.All()...)
		}
	})
	if draining {
		return nil, nil, nil, event.ErrDraining()
	}

	c.watchFiles(sources)
	read, missing := readSources(ctx, sources) // outside the lock
	found := c.Parse(read)
	want := found.Servers
	writers := c.Launches.Grants.Writers() // after the files: an entry is recorded before it is written to a file
	for i := range want {
		want[i].Origin.Writer = writers(want[i])
		for n := range want[i].Behind {
			want[i].Behind[n].Origin.Writer = writers(want[i].Behind[n])
		}
	}
	for _, p := range append(missing, found.Problems...) {
		problems = append(problems, event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server,
			Key: p.Key, Message: c.Redactor.Text(p.Message), Fatal: p.Fatal})
	}
	problems = append(problems, grants.LookAlikes(want)...)

	// Work that may take as long as a stranger chooses is done here, without the lock. It includes the entries that stay
	// as they were, since the folders may have changed.
	keep := c.Launches.Anew(old)
	var all []named
	taken := map[string]bool{}
	for _, conf := range want {
		taken[conf.Name] = true
	}
	for _, conf := range want {
		all = append(all, named{c.Launches.Entries(conf),
			c.Launches.Beside(conf, func(name string) bool { return taken[name] })})
	}
	c.House.Update(func() {
		if draining = c.House.Draining(); !draining {
			keep()
			c.profiles = found.Profiles
			problems, stopped, waits = c.apply(all, problems, sources, changed)
		}
	})
	c.watchGlobs(sources)
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
	var old launch.Entries
	c.House.Update(func() {
		for _, l := range c.Owner.Launches() {
			old = append(old, l.All()...)
		}
	})
	keep := c.Launches.Anew(old)
	c.House.Update(keep)
}

// apply brings the servers in line with what was read. It is called with the lock.
func (c *Config) apply(all []named, problems []event.ConfigProblem, sources []Source,
	changed string) (_ []event.ConfigProblem, stopped []string, waits []<-chan struct{}) {
	have := c.Owner.Launches()
	want := c.wantedOf(all, have)
	steps := reconcile(want, problems, have)
	at := place(steps, have, sources, want)
	for _, s := range steps {
		if done := c.Owner.CarryOut(s); done != nil {
			stopped = append(stopped, s.Have.Server().Name())
			waits = append(waits, done)
		}
	}
	c.Owner.Arrange(at)
	problems = append(problems, c.watchProblems()...)
	c.problems = slices.DeleteFunc(slices.Clone(problems), func(p event.ConfigProblem) bool { return p.Server != "" })
	c.Owner.Reloaded(&event.ConfigReloaded{Problems: c.problems, Stopped: stopped, ChangedFile: changed})
	return problems, stopped, waits
}

// named holds the entries of one name, and those of each scope if there are several (launch.Maker.Beside).
type named struct {
	entries launch.Entries
	beside  []launch.Entries
}

// wantedOf returns the entry that counts for each name, and the entries beside it.
func (c *Config) wantedOf(all []named, have []*launch.Launch) (want []wanted) {
	of := map[string]*launch.Launch{}
	for _, l := range have {
		of[l.Server().Name()] = l
	}
	for _, n := range all {
		counts := c.Launches.Counting(of[n.entries[0].Conf.Name], n.entries)
		want = append(want, wanted{counts, n.entries, n.beside})
		for _, entries := range launch.Besides(counts, n.beside) {
			want = append(want, wanted{c.Launches.Counting(of[entries[0].Conf.Name], entries), entries, nil})
		}
	}
	return want
}

// Absolute returns sources with absolute paths for those that are files. Relative paths begin at the working directory
// of the hub. The paths have to be absolute because a server runs beside its file, and because the answers of people
// about a file apply to that file alone. The Path of a source that is a text stays as it is.
func Absolute(sources []Source) []Source {
	sources = slices.Clone(sources) // nil stays nil
	for i := range sources {
		if s := &sources[i]; s.JSON == "" && s.Path != "" {
			if path, err := filepath.Abs(s.Path); err == nil { // else reading it fails as well
				s.Path = path
			}
		}
	}
	return sources
}

func foldersOf(sources []Source) (folders []string) {
	for _, s := range sources {
		if s.Folder != "" {
			folders = append(folders, s.Folder)
		}
	}
	return folders
}

// readSources reads the files. A missing file brings no servers: it may appear later, and whoever deleted it wants its
// servers to go. A file that cannot be read is left to config.Read, which says why; its servers stay.
func readSources(ctx context.Context, sources []Source) (read []config.Source, missing []config.Problem) {
	for _, s := range sources {
		src := config.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder, Trusted: s.Trusted}
		if s.JSON != "" {
			src.JSON = []byte(s.JSON)
		} else if text, err := readFile(ctx, s.Path, s.Scope); err == nil {
			src.JSON = append([]byte{}, text...) // never nil, since config.Read would then read the file
		} else if errors.Is(err, fs.ErrNotExist) && s.MayBeMissing {
			continue
		} else if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, config.Problem{File: s.Path, Message: "there is no such file; it brings no servers"})
			continue
		}
		read = append(read, src)
	}
	return read, missing
}

// readFile reads a file when no other program is writing it, as far as its writers show that: Cline and its relatives
// hold a lock beside the file.
func readFile(ctx context.Context, path, scope string) ([]byte, error) {
	// a lock that stays is ignored; config.Read detects a text that is only half written
	_ = statefile.AwaitForeignLock(ctx, path)
	return config.ReadFile(path, scope)
}
