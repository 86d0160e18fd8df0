package watch

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/fsnotify/fsnotify"
)

// source is the system's file watching, as much of it as is used here: names of entries that changed in folders.
type source interface {
	// of a folder that is watched already: watches it all the same, also when it is a new one of that name
	Add(folder string) error
	Remove(folder string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// maxKqueueEntries bounds the folders that are watched by kqueue, which opens every file in them.
const maxKqueueEntries = 1000

type notifySource struct{ w *fsnotify.Watcher }

// openSource opens the system's file watching, or one that refuses every folder when the system has none left.
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

// maxBatch is how many names wait for the state; past it everything may have changed.
const maxBatch = 8192

// batch is what the source told since the last one. The kind of a change is left out: the state looks for itself.
type batch struct {
	names map[string]struct{}
	all   bool  // events were lost: everything may have changed
	err   error // the last one, besides lost events
}

func (b *batch) empty() bool { return len(b.names) == 0 && !b.all && b.err == nil }

// pump takes the source's events as they come. It keeps them away from the state's time on the disk: a source that
// waits for its reader lets the system's queue overflow, and fsnotify does so with a lock held that its Add needs, too.
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
			case e.Name == "": // what fsnotify makes of an event of a watch that is gone
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
