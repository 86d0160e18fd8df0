package watch

import (
	"path/filepath"
	"slices"
	"time"
)

// user is something that depends on a folder: a config file on entries of it, a glob on all of it.
type user interface {
	// touched is called when something in folder may have changed. If sure is false, no event was received, and it is only
	// time to look.
	touched(folder string, sure bool, now time.Time)
}

// folder is a folder whose entries are watched. Its path has no links, so that no folder is watched twice.
type folder struct {
	path    string
	watched bool // the source watches it
	polled  bool // it is looked at every pollEvery, because the source does not watch it
	entries map[string]map[user]struct{}
	whole   map[user]struct{}
}

// use makes sure that the folder at path is watched or polled. fresh reports whether it was not before.
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
		f.polled = true // changes by other computers cause no events here
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
	_ = s.src.Remove(f.path) // fails if it is not watched, for example because it was deleted
}

// follow makes u depend on the entries that trail returns, instead of had, and returns them.
func (s *state) follow(u user, path string, isDir bool, had []place) []place {
	// The links on the way may change between the look and the watch; then another round is needed. If they change all the
	// time, the events to come cause further looks.
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
		s.unfollow(u, slices.DeleteFunc(slices.Clone(had), func(p place) bool { return slices.Contains(places, p) }))
		had = places
		if same {
			break
		}
	}
	return had
}

// unfollow removes the dependencies that follow added.
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

// changed processes an event, which is about an entry of a folder or about a watched folder itself. In the latter case
// the watch may have ended.
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
		f.watched = false // it does no harm to watch it again if it is still watched
		f.touch(true, now)
	}
}

// touch calls touched for everything that depends on the folder.
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

// lookAtAll makes everything be looked at soon, and tries to watch every folder again, also the polled ones.
func (s *state) lookAtAll(now time.Time, sure bool) {
	for path, f := range s.folders {
		f.watched, f.polled = false, false
		s.use(path)
		f.touch(sure, now)
	}
}

// pollFolders touches the folders that the source does not watch.
func (s *state) pollFolders(now time.Time) {
	for _, f := range s.folders {
		if f.polled {
			f.touch(false, now)
		}
	}
}

// pollTime returns the time of the next poll, or the zero time if nothing has to be polled.
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
