package watch

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/fsnotify/fsnotify"
)

// source is the file watching of the system, as far as it is used here: it returns the names of changed entries of
// folders.
type source interface {
	// Add watches a folder. If a folder of that name is watched already, it is watched again, since it may be a new one.
	Add(folder string) error
	Remove(folder string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// maxKqueueEntries bounds the number of entries of a folder that is watched with kqueue, which opens every file in it.
const maxKqueueEntries = 1000

type notifySource struct{ w *fsnotify.Watcher }

// openSource opens the file watching of the system. If the system has no resources left, it returns a source that
// refuses every folder.
func openSource() source {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return noSource{err}
	}
	return notifySource{w}
}

func (n notifySource) Add(folder string) error {
	switch runtime.GOOS {
	case "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
		entries, err := os.ReadDir(folder)
		if err == nil && len(entries) > maxKqueueEntries {
			return fmt.Errorf("%d entries are too many to watch", len(entries))
		}
	}
	return n.w.Add(folder)
}

func (n notifySource) Remove(folder string) error    { return n.w.Remove(folder) }
func (n notifySource) Events() <-chan fsnotify.Event { return n.w.Events }
func (n notifySource) Errors() <-chan error          { return n.w.Errors }
func (n notifySource) Close() error                  { return n.w.Close() }

type noSource struct{ err error }

func (n noSource) Add(string) error            { return n.err }
func (noSource) Remove(string) error           { return nil }
func (noSource) Events() <-chan fsnotify.Event { return nil }
func (noSource) Errors() <-chan error          { return nil }
func (noSource) Close() error                  { return nil }

// maxBatch is how many names are kept for the state. If there are more, everything counts as changed.
const maxBatch = 8192

// batch is what the source reported since the last batch. It does not have the kinds of changes, because the state
// looks for itself.
type batch struct {
	names map[string]struct{}
	all   bool  // events were lost, so everything may have changed
	err   error // the last error, except lost events
}

func (b *batch) empty() bool { return len(b.names) == 0 && !b.all && b.err == nil }

// pump receives the source's events as they come, and passes them to out in batches. So the source need not wait while
// the state uses the disk: otherwise the queue of the system would overflow, and fsnotify waits with a lock held that
// its Add needs, too.
func pump(src source, out chan<- batch, stop <-chan struct{}) {
	events, errs := src.Events(), src.Errors()
	var b batch
	for {
		var to chan<- batch
		if !b.empty() {
			to = out
		}
		select {
		case e, ok := <-events:
			switch {
			case !ok:
				events = nil
			case e.Name == "": // fsnotify makes this from an event of a watch that was removed
			case len(b.names) >= maxBatch:
				b.all = true
			default:
				if b.names == nil {
					b.names = map[string]struct{}{}
				}
				b.names[e.Name] = struct{}{}
			}
		case err, ok := <-errs:
			switch {
			case !ok:
				errs = nil
			case errors.Is(err, fsnotify.ErrEventOverflow):
				b.all = true
			default:
				b.all, b.err = true, err
			}
		case to <- b:
			b = batch{}
		case <-stop:
			return
		}
	}
}
