package watch

import (
	"log/slog"
	"time"
)

// The intervals in addition to Settle.
const (
	pollEvery   = 2 * time.Second  // between two looks at folders that the system does not watch
	patrolEvery = 30 * time.Second // between two looks at everything, which find what events missed
	maxSettles  = 10               // a file that is written all the time is reported after so many times Settle
)

// state is the state of a Watcher. The goroutine of run owns it. Its transitions are set, hear, tick and told; those
// that depend on time have it as a parameter, and next returns when tick is due.
type state struct {
	settle time.Duration
	log    *slog.Logger
	src    source

	files   map[string]*file // by the path given to Set
	globs   map[string]*glob // by globKey
	folders map[string]*folder
	listed  int // the number of folders of all globs, at most maxFolders

	poll, patrol time.Time // the times of the next ones; zero if there is none
	fellBack     bool      // it was logged that the system does not watch some folder

	// changes that were not reported yet
	changedFiles, changedServers map[string]struct{}
	problems                     []Problem

	// replaced in tests
	remote func(folder string) bool
	read   func(path string) ([]byte, error)
}

func newState(o Options) *state {
	s := &state{
		settle: o.Settle, log: o.Logger,
		files: map[string]*file{}, globs: map[string]*glob{}, folders: map[string]*folder{},
		changedFiles: map[string]struct{}{}, changedServers: map[string]struct{}{},
		remote: remote, read: readFile,
	}
	if s.settle <= 0 {
		s.settle = DefaultSettle
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// burst is a series of events on one file or glob that is reported as one change.
type burst struct{ first, due time.Time } // zero: none

func (b *burst) add(now time.Time, settle time.Duration) {
	if b.first.IsZero() {
		b.first = now
	}
	b.due = now.Add(settle)
	if latest := b.first.Add(maxSettles * settle); b.due.After(latest) {
		b.due = latest
	}
}

func (b *burst) pending() bool           { return !b.due.IsZero() }
func (b *burst) over(now time.Time) bool { return b.pending() && !b.due.After(now) }

// set replaces what is watched. Files and globs that were watched before keep their state.
func (s *state) set(files []string, globs []Glob, now time.Time) {
	wantFiles := map[string]bool{}
	for _, path := range files {
		wantFiles[path] = true
		if s.files[path] == nil {
			f := newFile(s, path)
			s.files[path] = f
			f.look() // the state that later looks are compared with
		}
	}
	for path, f := range s.files {
		if !wantFiles[path] {
			s.unfollow(f, f.places)
			delete(s.files, path)
			delete(s.changedFiles, path)
		}
	}

	wantGlobs := map[string]Glob{}
	for _, g := range globs {
		wantGlobs[globKey(g)] = g
	}
	// Globs that are not wanted any more are closed first, so that there is room for new ones.
	for key, g := range s.globs {
		if _, ok := wantGlobs[key]; !ok {
			g.close()
			delete(s.globs, key)
		}
	}
	for key, want := range wantGlobs {
		if s.globs[key] == nil {
			g := newGlob(s, want)
			s.globs[key] = g
			g.look()
		}
	}
	for server := range s.changedServers {
		if !s.hasServer(server) {
			delete(s.changedServers, server)
		}
	}
	if s.patrol.IsZero() {
		s.patrol = now.Add(patrolEvery)
	}
}

func (s *state) hasServer(name string) bool {
	for _, g := range s.globs {
		if g.Server == name {
			return true
		}
	}
	return false
}

// hear processes what the source reported.
func (s *state) hear(b batch, now time.Time) {
	if b.err != nil {
		s.log.Warn("watching files had an error; all of them are looked at", "error", b.err.Error())
	}
	if b.all {
		s.lookAtAll(now, true)
		return
	}
	for name := range b.names {
		s.changed(name, now)
	}
}

// tick does what is due.
func (s *state) tick(now time.Time) {
	if !s.patrol.IsZero() && !s.patrol.After(now) {
		s.patrol = now.Add(patrolEvery)
		s.lookAtAll(now, false)
	}
	if !s.poll.IsZero() && !s.poll.After(now) {
		s.poll = now.Add(pollEvery)
		s.pollFolders(now)
	}
	for path, f := range s.files {
		if f.over(now) && f.look() {
			s.changedFiles[path] = struct{}{}
		}
	}
	for _, g := range s.globs {
		if g.over(now) && g.look() {
			s.changedServers[g.Server] = struct{}{}
		}
	}
}

// next returns when tick is due; in an hour at the latest.
func (s *state) next(now time.Time) time.Time {
	next := now.Add(time.Hour)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	s.poll = s.pollTime(now)
	sooner(s.poll)
	sooner(s.patrol)
	for _, f := range s.files {
		sooner(f.due)
	}
	for _, g := range s.globs {
		sooner(g.due)
	}
	return next
}

// change returns the change to report.
func (s *state) change() Change {
	return Change{Files: sorted(s.changedFiles), Servers: sorted(s.changedServers), Problems: s.problems}
}

// told forgets what change returned. It is called when the receiver has taken the change.
func (s *state) told() {
	clear(s.changedFiles)
	clear(s.changedServers)
	s.problems = nil
}
