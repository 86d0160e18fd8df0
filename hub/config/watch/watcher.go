package watch

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// DefaultSettle is how long a file has to be quiet before its change is told.
const DefaultSettle = 200 * time.Millisecond

// Options of a [Watcher]. The zero value is useful.
type Options struct {
	Logger *slog.Logger // nil = none
	// quiet time before a change is told; 0 = DefaultSettle. An endless stream of writes is told after ten of it
	Settle time.Duration
}

// Glob names the files that a server is built from: after a change of one of them, the server is worth a restart.
type Glob struct {
	Server string
	Folder string // absolute; relative patterns start here
	// Patterns are slash separated: *, ?, [a-z], {a,b} and ** as in VS Code. A pattern without any of these is a file, or
	// a folder with all that is below it. A leading ! excludes what the others match. Links to folders are not followed,
	// and .git and node_modules are not looked into.
	Patterns []string
}

// Problem is what cannot be watched of what a server wants. It is over when other patterns or another folder are set
// for the server.
type Problem struct {
	Server string
	Text   string // for people
}

// Change is what became different since the last one.
type Change struct {
	Files    []string  // as they were given to Set, sorted: their content changed, or whether they can be read
	Servers  []string  // of the globs that a change matched, sorted
	Problems []Problem // what cannot be watched; each is told once
}

func (c Change) empty() bool { return len(c.Files) == 0 && len(c.Servers) == 0 && len(c.Problems) == 0 }

// Watcher watches config files and globs. Its methods are safe for concurrent use.
type Watcher struct {
	out  chan Change
	sets chan setting
	stop chan struct{}
	done chan struct{} // closed by run, after everything else ended
	once sync.Once
}

// setting is one call of Set on its way to run.
type setting struct {
	files []string
	globs []Glob
	taken chan struct{}
}

// New starts a Watcher that watches nothing yet. It cannot fail: where the system has no means left to watch (its
// limits are often low), the Watcher looks for itself. Close ends it.
func New(o Options) *Watcher {
	return start(o, openSource(), newState(o))
}

func start(o Options, src source, s *state) *Watcher {
	w := &Watcher{out: make(chan Change), sets: make(chan setting), stop: make(chan struct{}), done: make(chan struct{})}
	s.src = src
	go w.run(s)
	return w
}

// Set replaces what is watched. When it returns, every later change is told; a file is best read after Set, not before.
// What was watched before stays as it was and costs little. After Close, Set does nothing.
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

// Events returns the channel of changes. A slow reader holds up nothing: what happens meanwhile joins the change that
// waits. The channel is closed by Close.
func (w *Watcher) Events() <-chan Change { return w.out }

// Close ends the watching and waits for the goroutines. It can be called again.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

// run owns the state: nobody else touches it, so it needs no lock.
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

// sorted lists a set.
func sorted(set map[string]struct{}) []string {
	return slices.Sorted(maps.Keys(set))
}
