package watch

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fakeSource behaves like the system's file watching, but its events come from the test, whatever the disk does
// meanwhile. An event of a folder that is not watched is lost, as in the system.
type fakeSource struct {
	events chan fsnotify.Event
	errs   chan error

	mu      sync.Mutex // guards what follows
	watched map[string]bool
	adds    int
	refuse  error // of Add
	closed  bool
}

func (f *fakeSource) Add(folder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.adds++
	if f.refuse != nil {
		return f.refuse
	}
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	f.watched[folder] = true
	return nil
}

func (f *fakeSource) Remove(folder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.watched[folder] {
		return fsnotify.ErrNonExistentWatch
	}
	delete(f.watched, folder)
	return nil
}

func (f *fakeSource) Events() <-chan fsnotify.Event { return f.events }
func (f *fakeSource) Errors() <-chan error          { return f.errs }

func (f *fakeSource) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *fakeSource) setRefuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = err
}

func (f *fakeSource) folders() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for path := range f.watched {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

func (f *fakeSource) addCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.adds
}

// emit sends an event of path, if it or its folder is watched. The watch of a folder that goes away ends.
func (f *fakeSource) emit(path string, op fsnotify.Op) {
	f.mu.Lock()
	told := f.watched[filepath.Dir(path)] || f.watched[path]
	if op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename) {
		delete(f.watched, path)
	}
	f.mu.Unlock()
	if told {
		f.events <- fsnotify.Event{Name: path, Op: op}
	}
}

// world is a Watcher over a fake source and real files, in a bubble.
type world struct {
	t   *testing.T
	dir string // real path
	src *fakeSource
	s   *state
	w   *Watcher
	log *bytes.Buffer
}

// bubble runs f with fake time. Seams are set by prepare, before the Watcher starts.
func bubble(t *testing.T, prepare func(*state), f func(w *world)) {
	dir, err := filepath.EvalSymlinks(t.TempDir()) // outside: its removal is no part of the bubble
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, log: &bytes.Buffer{},
			src: &fakeSource{events: make(chan fsnotify.Event), errs: make(chan error), watched: map[string]bool{}}}
		o := Options{Logger: slog.New(slog.NewTextHandler(w.log, nil))}
		w.s = newState(o)
		w.s.remote = func(string) bool { return false }
		if prepare != nil {
			prepare(w.s)
		}
		w.w = start(o, w.src, w.s)
		defer w.w.Close() // a goroutine that stays fails the bubble
		f(w)
	})
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// write writes the file in place, and makes its folders.
func (w *world) write(name, text string) {
	w.t.Helper()
	write(w.t, w.path(name), text)
}

// save writes the file and emits what the system would.
func (w *world) save(name, text string) {
	w.t.Helper()
	w.write(name, text)
	w.src.emit(w.path(name), fsnotify.Write)
}

// within waits for a change for at most d of fake time; ok is false when none came.
func (w *world) within(d time.Duration) (c Change, ok bool) {
	select {
	case c = <-w.w.Events():
		return c, true
	case <-time.After(d):
		return Change{}, false
	}
}

func (w *world) wantFiles(d time.Duration, names ...string) {
	w.t.Helper()
	c, ok := w.within(d + 1) // what is due at that very moment counts
	if want := paths(w, names); !ok || !slices.Equal(c.Files, want) {
		w.t.Fatalf("within %s: told %v (%t), want the files %q", d, c, ok, want)
	}
}

func (w *world) wantServers(d time.Duration, names ...string) {
	w.t.Helper()
	if c, ok := w.within(d + 1); !ok || !slices.Equal(c.Servers, names) {
		w.t.Fatalf("within %s: told %v (%t), want the servers %q", d, c, ok, names)
	}
}

func (w *world) wantNothing(d time.Duration) {
	w.t.Helper()
	if c, ok := w.within(d); ok {
		w.t.Fatalf("within %s: told %v, want nothing", d, c)
	}
}

func (w *world) wantLogged(text string, times int) {
	w.t.Helper()
	w.w.Close() // its goroutine writes the log
	if got := strings.Count(w.log.String(), text); got != times {
		w.t.Errorf("%q was logged %d times, want %d:\n%s", text, got, times, w.log)
	}
}

func paths(w *world, names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, w.path(name))
	}
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
