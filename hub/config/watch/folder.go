package watch

import (
	"path/filepath"
	"time"
)

// user is what depends on a folder: a config file on entries of it, a glob on all of it.
type user interface {
	// touched says that something in folder may have changed. With sure unset nothing happened that is known of: it is
	// time to look.
	touched(folder string, sure bool, now time.Time)
}

// folder is one whose entries matter. Its path holds no links, so that one folder is watched once.
type folder struct {
	path    string
	watched bool // by the source
	polled  bool // looked at every pollEvery, because it is not watched
	entries map[string]map[user]struct{}
	whole   map[user]struct{}
}

// use makes the folder at path one that is watched or polled, and says whether that is new.
func (s *state) use(path string) (f *folder, fresh bool) {
	f = s.folders[path]
	if f == nil {
		f = &folder{path: path, entries: map[string]map[user]struct{}{}, whole: map[user]struct{}{}}
		s.folders[path] = f
	}
	if f.watched || f.polled {
		return f, false
	}
	if s.remote(path) {
		f.polled = true // the changes of other computers cause no events here
		return f, true
	}
	if err := s.src.Add(path); err != nil {
		f.polled = true
		if !absent(err) && !s.fellBack {
			s.fellBack = true
			s.log.Warn("a folder cannot be watched; it is looked at every few seconds instead, and so may be others",
				"folder", path, "error", err.Error())
		}
		return f, true
	}
	f.watched = true
	return f, true
}

// unused stops watching a folder that nothing depends on any more.
func (s *state) unused(f *folder) {
	if len(f.entries) > 0 || len(f.whole) > 0 {
		return
	}
	delete(s.folders, f.path)
	_ = s.src.Remove(f.path) // fails when it is not watched, as when it is gone
}

// follow makes u depend on what trail says and returns that.
func (s *state) follow(u user, path string, isDir bool, had []place) []place {
	// Between the look and the watch the way may have changed: then another round is needed. The way of somebody who
	// changes it all the time is followed by the events to come.
	for range 8 {
		places := trail(path, isDir)
		same := len(places) == len(had)
		for i, p := range places {
			f, fresh := s.use(p.folder)
			same = same && !fresh && had[i] == p
			if f.entries[p.name] == nil {
				f.entries[p.name] = map[user]struct{}{}
			}
			f.entries[p.name][u] = struct{}{}
		}
		old := had
		had = places
		s.unfollow(u, minus(old, places))
		if same {
			break
		}
	}
	return had
}

// unfollow ends what follow began.
func (s *state) unfollow(u user, places []place) {
	for _, p := range places {
		f := s.folders[p.folder]
		if f == nil {
			continue
		}
		if delete(f.entries[p.name], u); len(f.entries[p.name]) == 0 {
			delete(f.entries, p.name)
		}
		s.unused(f)
	}
}

func minus(from, what []place) []place {
	keep := map[place]bool{}
	for _, p := range what {
		keep[p] = true
	}
	var left []place
	for _, p := range from {
		if !keep[p] {
			left = append(left, p)
		}
	}
	return left
}

// changed takes one event: an entry of a folder, or a folder itself, whose watch may have ended with it.
func (s *state) changed(name string, now time.Time) {
	name = filepath.Clean(name)
	if f := s.folders[filepath.Dir(name)]; f != nil {
		for u := range f.entries[filepath.Base(name)] {
			u.touched(f.path, true, now)
		}
		for u := range f.whole {
			u.touched(f.path, true, now)
		}
	}
	if f := s.folders[name]; f != nil {
		f.watched = false // watching it again does no harm when it still is
		f.touch(true, now)
	}
}

// touch tells everything that depends on the folder.
func (f *folder) touch(sure bool, now time.Time) {
	for _, users := range f.entries {
		for u := range users {
			u.touched(f.path, sure, now)
		}
	}
	for u := range f.whole {
		u.touched(f.path, sure, now)
	}
}

// lookAtAll looks at everything soon, and tries to watch every folder anew, polled ones too.
func (s *state) lookAtAll(now time.Time, sure bool) {
	for path, f := range s.folders {
		f.watched, f.polled = false, false
		s.use(path)
		f.touch(sure, now)
	}
}

// pollFolders looks at what the source does not watch.
func (s *state) pollFolders(now time.Time) {
	for _, f := range s.folders {
		if f.polled {
			f.touch(false, now)
		}
	}
}

// pollTime keeps the time of the next poll, as long as there is something to poll.
func (s *state) pollTime(now time.Time) time.Time {
	for _, f := range s.folders {
		if f.polled {
			if s.poll.IsZero() {
				return now.Add(pollEvery)
			}
			return s.poll
		}
	}
	return time.Time{}
}
