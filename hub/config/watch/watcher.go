package watch

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// DefaultSettle is how long a file has to be quiet before its change is reported.
const DefaultSettle = 200 * time.Millisecond

// Options are the options of a [Watcher]. The zero value is ready for use.
type Options struct {
	Logger *slog.Logger // nil discards the records
	// quiet time before a change is reported; 0 means DefaultSettle. After ten times that, a change is reported in any
	// case
	Settle time.Duration
}

// Glob names the files that a server is built from. After a change of one of them, the server should be restarted.
type Glob struct {
	Server string
	Folder string // absolute; relative patterns are relative to it
	// Patterns are separated by slashes: *, ?, [a-z], {a,b} and ** as in VS Code. A pattern without any of these is a
	// file, or a folder with everything below it. A leading ! excludes what the others match. Links to folders are not
	// followed, and .git and node_modules are not looked into.
	Patterns []string
}

// Problem says which files of a server cannot be watched. It ends when other patterns or another folder are set for the
// server.
type Problem struct {
	Server string
	Text   string // for people
}

// Change is what has changed since the last Change.
type Change struct {
	Files    []string  // as they were given to Set, sorted: their content has changed, or whether they can be read
	Servers  []string  // of the globs that match a change, sorted
	Problems []Problem // what cannot be watched; each is reported once
}

func (c Change) empty() bool { return len(c.Files) == 0 && len(c.Servers) == 0 && len(c.Problems) == 0 }

// Watcher watches config files and globs. Its methods are safe for concurrent use.
type Watcher struct {
	out  chan Change
	sets chan setting
	stop chan struct{}
	done chan struct{} // closed by run, when everything else has ended
	once sync.Once
}

// setting is the arguments of one call of Set on their way to run.
type setting struct {
	files []string
	globs []Glob
	taken chan struct{}
}

// New starts a Watcher that watches nothing yet. It cannot fail: if the system has no resources left to watch (its
// limits are often low), the Watcher looks at the files itself. The caller must call Close.
func New(o Options) *Watcher {
	return start(o, openSource(), newState(o))
}

func start(o Options, src source, s *state) *Watcher {
	w := &Watcher{out: make(chan Change), sets: make(chan setting), stop: make(chan struct{}), done: make(chan struct{})}
	s.src = src
	go w.run(s)
	return w
}

// Set replaces what is watched. Every change after Set has returned is reported, so a file should be read after Set,
// not before. What was watched before keeps its state and costs little. After Close, Set does nothing.
func (w *Watcher) Set(files []string, globs []Glob) {
	req := setting{files: slices.Clone(files), globs: slices.Clone(globs), taken: make(chan struct{})}
	select {
	case w.sets <- req:
	case <-w.done:
		return
	}
	select {
	case <-req.taken:
	case <-w.done:
	}
}

// Events returns the channel of changes. A slow reader blocks nothing: later changes are added to the one that waits.
// Close closes the channel.
func (w *Watcher) Events() <-chan Change { return w.out }

// Close stops watching, and waits for the goroutines. It may be called more than once.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// run owns the state. No other goroutine uses it, so it needs no lock.
func (w *Watcher) run(s *state) {
	batches := make(chan batch)
	var pumping sync.WaitGroup
	pumping.Go(func() { pump(s.src, batches, w.stop) })
	timer := time.NewTimer(time.Hour)
	defer func() {
		timer.Stop()
		pumping.Wait()
		if err := s.src.Close(); err != nil {
			s.log.Debug("the system's file watching did not end well", "error", err.Error())
		}
		close(w.out)
		close(w.done)
	}()
	for {
		timer.Reset(time.Until(s.next(time.Now())))
		var out chan<- Change
		change := s.change()
		if !change.empty() {
			out = w.out
		}
		select {
		case b := <-batches:
			s.hear(b, time.Now())
		case req := <-w.sets:
			s.set(req.files, req.globs, time.Now())
			close(req.taken)
		case <-timer.C:
			s.tick(time.Now())
		case out <- change:
			s.told()
		case <-w.stop:
			return
		}
	}
}

// sorted returns the elements of a set in order.
func sorted(set map[string]struct{}) []string {
	return slices.Sorted(maps.Keys(set))
}
