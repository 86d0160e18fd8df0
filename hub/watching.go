package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// FileWatcher tells which files changed. *watch.Watcher is one.
type FileWatcher interface {
	Set(files []string, globs []watch.Glob)
	Events() <-chan watch.Change
	Close()
}

// watching is the hub's watch over the files of its config, and over those that its servers want to be restarted for.
// Guarded by Hub.mu.
type watching struct {
	on       bool
	watcher  FileWatcher // nil until there is something to watch
	globs    []watch.Glob
	troubles []watchTrouble
}

// watchTrouble is what cannot be watched of what a server wanted then.
type watchTrouble struct {
	watch.Problem
	patterns []string
}

// WatchConfig says whether the hub watches the files of its config from the next LoadConfig on. It does not unless it
// is told to. What servers want to be restarted for (dev.watch, watchPaths) is watched all the same: no host can do
// that in its place.
func (h *Hub) WatchConfig(on bool) {
	defer h.lock().unlock()
	h.watching.on = on
}

// watchFiles watches the files of these sources. It is called before they are read, so that no change falls between the
// reading and the watching.
func (h *Hub) watchFiles(sources []ConfigSource) {
	var files []string
	for _, s := range sources {
		if s.JSON == "" {
			files = append(files, s.Path)
		}
	}
	var watcher FileWatcher
	var globs []watch.Glob
	h.update(func() {
		if !h.watching.on {
			files = nil
		}
		globs = h.watching.globs
		if h.watching.watcher == nil && len(files)+len(globs) > 0 && !h.draining {
			h.beginWatching()
		}
		watcher = h.watching.watcher
	})
	if watcher != nil {
		watcher.Set(files, globs)
	}
}

// watchGlobs watches, besides the files of these sources, what the servers of now want to be restarted for. It is
// called once the servers are known.
func (h *Hub) watchGlobs(sources []ConfigSource) {
	var same bool
	h.update(func() {
		var globs []watch.Glob
		for _, s := range h.servers {
			if len(s.Conf().Watch) > 0 && !s.Life().Broken() && !s.Disabled() && h.mayLook(s) {
				globs = append(globs, watch.Glob{Server: s.name, Folder: s.launch.Entry().Watch, Patterns: s.Conf().Watch})
			}
		}
		same = slices.EqualFunc(globs, h.watching.globs, func(a, b watch.Glob) bool {
			return a.Server == b.Server && a.Folder == b.Folder && slices.Equal(a.Patterns, b.Patterns)
		})
		h.watching.globs = globs
	})
	if !same {
		h.watchFiles(sources)
	}
}

// mayLook tells whether the patterns of a server may be looked for: what a workspace brings says where, so the user has
// to have agreed to it, or it runs, which comes to the same. h.mu is held.
func (h *Hub) mayLook(s *server) bool {
	return s.Up() || !s.launch.MustAsk()
}

// watchStarted watches what a server wants to be restarted for that the user has agreed to only now. h.mu is held.
func (h *Hub) watchStarted(s *server) {
	if len(s.Conf().Watch) == 0 || !s.Conf().Origin.NeedsConsent() {
		return
	}
	h.work.Go(func() {
		h.loading <- struct{}{} // a reload sets what is watched, too
		defer func() { <-h.loading }()
		var sources []ConfigSource
		var draining bool
		h.update(func() { sources, draining = h.sources, h.draining })
		if !draining {
			h.watchGlobs(sources)
		}
	})
}

// beginWatching starts the watcher and what listens to it; shut ends both. h.mu is held.
func (h *Hub) beginWatching() {
	w := h.newWatcher()
	h.watching.watcher = w
	h.work.Go(func() {
		for change := range w.Events() {
			h.filesChanged(change)
		}
	})
}

// filesChanged brings the servers in line with what changed on the disk.
func (h *Hub) filesChanged(change watch.Change) {
	if len(change.Problems) > 0 {
		h.update(func() {
			for _, p := range change.Problems {
				h.noteTrouble(p)
			}
		})
	}
	if len(change.Files) > 0 || len(change.Problems) > 0 {
		changed := ""
		if len(change.Files) > 0 {
			changed = change.Files[0]
		}
		if _, stopped, _, err := h.reload(context.Background(), nil, changed); err == nil {
			h.log.Info("config read anew", "file", changed, "stopped", len(stopped))
		}
	}
	for _, name := range change.Servers {
		h.restartChanged(name)
	}
}

// noteTrouble keeps what cannot be watched of a server, unless it is known. h.mu is held.
func (h *Hub) noteTrouble(p watch.Problem) {
	s := h.server(p.Server)
	if s == nil || slices.ContainsFunc(h.watching.troubles, func(t watchTrouble) bool { return t.Problem == p }) {
		return
	}
	h.log.Warn("not everything can be watched", "problem", p.Text)
	h.watching.troubles = append(h.watching.troubles, watchTrouble{p, s.Conf().Watch})
}

// watchProblems gives what cannot be watched of what the servers want now. What is mended, or of a server that is gone,
// is forgotten. h.mu is held.
func (h *Hub) watchProblems() (list []event.ConfigProblem) {
	h.watching.troubles = slices.DeleteFunc(h.watching.troubles, func(t watchTrouble) bool {
		s := h.server(t.Server)
		return s == nil || s.Life().Removed() || !slices.Equal(s.Conf().Watch, t.patterns)
	})
	for _, t := range h.watching.troubles {
		list = append(list, event.ConfigProblem{Message: t.Text})
	}
	return list
}

// restartChanged starts a server anew whose own files changed. One that does not run is left alone.
func (h *Hub) restartChanged(name string) {
	defer h.lock().unlock()
	s := h.server(name)
	if s == nil || !s.Up() || h.draining {
		return
	}
	h.log.Info("server is started anew: files that it watches changed", "server", name)
	key := "watch"
	if p, ok := s.Conf().Fields["watch"]; ok {
		key = strings.SplitN(p.Key, "[", 2)[0]
	}
	h.beginStop(s,
		&event.CancelCause{Origin: event.OriginHost, Reason: fmt.Sprintf("files that the server is built from changed (%s)",
			key)}, servers.Again)
}
