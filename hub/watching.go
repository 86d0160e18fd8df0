package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/sources"
)

// FileWatcher reports which files changed. *watch.Watcher implements it.
type FileWatcher interface {
	Set(files []string, globs []watch.Glob)
	Events() <-chan watch.Change
	Close()
}

// watching is the watch over the files of a config, and over the files whose changes restart servers. It is guarded by
// the hub's lock.
type watching struct {
	on       bool
	watcher  FileWatcher // nil until there is something to watch
	globs    []watch.Glob
	troubles []watchTrouble
}

// watchTrouble is a problem with watching the files of a server. patterns are those of the server at that time.
type watchTrouble struct {
	watch.Problem
	patterns []string
}

// Watch sets whether the files of the config are watched from the next Load on; the default is that they are not. The
// files whose changes restart a server (dev.watch, watchPaths) are watched in any case, since no host can do that
// instead.
func (c *Config) Watch(on bool) { c.hub.within(func() { c.watching.on = on }) }

// Close ends the watch without waiting for that. It is called with the lock, once the hub is draining.
func (c *Config) Close() {
	if w := c.watching.watcher; w != nil {
		// Closing the hub waits for it together with everything else: a file system that hangs must not keep the hub from
		// killing the processes that are left.
		c.hub.work.Go(w.Close)
	}
}

// watchFiles watches the files of these sources. It is called before they are read, so that no change falls between the
// reading and the watching.
func (c *Config) watchFiles(from []sources.Source) {
	var files []string
	for _, s := range from {
		if s.JSON == "" {
			files = append(files, s.Path)
		}
	}
	var watcher FileWatcher
	var globs []watch.Glob
	c.hub.update(func(st *state) {
		if !c.watching.on {
			files = nil
		}
		globs = c.watching.globs
		if c.watching.watcher == nil && len(files)+len(globs) > 0 && !st.core.Draining() {
			c.beginWatching()
		}
		watcher = c.watching.watcher
	})
	if watcher != nil {
		watcher.Set(files, globs)
	}
}

// watchGlobs watches the files of these sources and the files whose changes restart one of the present servers. It is
// called once the servers are known. The workspace decides where the patterns of its server lead. So they are watched
// only if the user has agreed to that server, or if it runs, which implies the same.
func (c *Config) watchGlobs(from []sources.Source) {
	var same bool
	c.hub.update(func(st *state) {
		var globs []watch.Glob
		for _, s := range st.servers {
			if patterns := s.conf.Watch; len(patterns) > 0 && !s.broken() && !s.disabled() &&
				(s.up() || !st.core.Launch(s.number).MustAsk) {
				globs = append(globs, watch.Glob{Server: s.name, Folder: s.launch.entry.Watch, Patterns: patterns})
			}
		}
		same = slices.EqualFunc(globs, c.watching.globs, func(a, b watch.Glob) bool {
			return a.Server == b.Server && a.Folder == b.Folder && slices.Equal(a.Patterns, b.Patterns)
		})
		c.watching.globs = globs
	})
	if !same {
		c.watchFiles(from)
	}
}

// Started watches the files whose changes restart s, if the user has agreed to s only now. It is called with the lock.
func (c *Config) Started(s *server) {
	if len(s.conf.Watch) == 0 || !s.conf.Origin.NeedsConsent() {
		return
	}
	c.hub.work.Go(func() {
		c.loading <- struct{}{} // a reload sets what is watched, too
		defer func() { <-c.loading }()
		var from []sources.Source
		var draining bool
		c.hub.update(func(st *state) { from, draining = c.sources, st.core.Draining() })
		if !draining {
			c.watchGlobs(from)
		}
	})
}

// beginWatching starts the watcher and the goroutine that reads its events. Close ends both. It is called with the
// lock.
func (c *Config) beginWatching() {
	w := c.newWatcher()
	c.watching.watcher = w
	c.hub.work.Go(func() {
		for change := range w.Events() {
			c.filesChanged(change)
		}
	})
}

// filesChanged brings the servers in line with a change on the disk.
func (c *Config) filesChanged(change watch.Change) {
	if len(change.Problems) > 0 {
		c.hub.within(func() {
			for _, p := range change.Problems {
				c.noteTrouble(p)
			}
		})
	}
	if len(change.Files) > 0 || len(change.Problems) > 0 {
		changed := ""
		if len(change.Files) > 0 {
			changed = change.Files[0]
		}
		if _, stopped, _, err := c.Load(context.Background(), nil, changed); err == nil {
			c.hub.log.Info("config read anew", "file", changed, "stopped", len(stopped))
		}
	}
	for _, name := range change.Servers {
		c.restartChanged(name)
	}
}

// noteTrouble records what cannot be watched of a server, unless that is recorded already. It is called with the lock.
func (c *Config) noteTrouble(p watch.Problem) {
	s := c.hub.held().named(p.Server)
	if s == nil || slices.ContainsFunc(c.watching.troubles, func(t watchTrouble) bool { return t.Problem == p }) {
		return
	}
	c.hub.log.Warn("not everything can be watched", "problem", p.Text)
	c.watching.troubles = append(c.watching.troubles, watchTrouble{p, s.conf.Watch})
}

// watchProblems returns what cannot be watched of what the servers want now. It forgets what concerns a server that is
// gone or that wants something else now. It is called with the lock.
func (c *Config) watchProblems() (list []event.ConfigProblem) {
	c.watching.troubles = slices.DeleteFunc(c.watching.troubles, func(t watchTrouble) bool {
		s := c.hub.held().named(t.Server)
		return s == nil || s.removed() || !slices.Equal(s.conf.Watch, t.patterns)
	})
	for _, t := range c.watching.troubles {
		list = append(list, event.ConfigProblem{Message: t.Text})
	}
	return list
}

// restartChanged restarts a server whose own files changed, if it runs.
func (c *Config) restartChanged(name string) {
	c.hub.update(func(st *state) {
		s := st.named(name)
		if s == nil || !s.up() || st.core.Draining() {
			return
		}
		c.hub.log.Info("server is started anew: files that it watches changed", "server", name)
		key := "watch"
		if p, ok := s.conf.Fields["watch"]; ok {
			key = strings.SplitN(p.Key, "[", 2)[0]
		}
		s.outdated(&event.CancelCause{Origin: event.OriginHost,
			Reason: fmt.Sprintf("files that the server is built from changed (%s)", key)})
	})
}
