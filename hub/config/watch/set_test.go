package watch

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestSetWithoutAChangeCostsNothing(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "1")
		w.write("src/x.ts", "1")
		files, globs := []string{w.path("a.json")}, []Glob{{Server: "dev", Folder: w.path("src"),
			Patterns: []string{"**/*.ts"}}}
		w.w.Set(files, globs)
		adds, folders := w.src.addCount(), w.src.folders()
		w.w.Set(files, globs)
		if w.src.addCount() != adds || !slices.Equal(w.src.folders(), folders) {
			t.Errorf("%d more folders were watched; %q became %q", w.src.addCount()-adds, folders, w.src.folders())
		}
	})
}

// A change in its quiet time is reported although Set is called meanwhile, if its file is still watched.
func TestSetKeepsWhatStays(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "1")
		w.write("b.json", "1")
		w.w.Set([]string{w.path("a.json"), w.path("b.json")}, nil)
		w.save("a.json", "2")
		w.save("b.json", "2")
		time.Sleep(100 * ms)
		w.w.Set([]string{w.path("a.json")}, nil)
		w.wantFiles(100*ms, "a.json")
		w.wantNothing(time.Hour)
	})
}

func TestSetForgetsWhatIsNotWatchedAnyMore(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "1")
		w.write("src/sub/x.ts", "1")
		w.w.Set([]string{w.path("a.json"), w.path("gone/b.json")},
			[]Glob{{Server: "dev", Folder: w.dir, Patterns: []string{"src/**", "!src/no/**"}}})
		w.save("a.json", "2")
		w.save("src/sub/x.ts", "longer")
		time.Sleep(time.Second)
		synctest.Wait() // both are reported now, but nobody has received that
		w.w.Set(nil, nil)
		if got := w.src.folders(); len(got) != 0 {
			t.Errorf("still watched: %q", got)
		}
		w.wantNothing(time.Hour)
		if n := len(w.s.folders) + len(w.s.files) + len(w.s.globs) + w.s.listed; n != 0 {
			t.Errorf("%d things are left in the state", n)
		}
	})
}

func TestSlowReaderGetsOneChange(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.w.Set(paths(w, []string{"a.json", "b.json"}), nil)
		for i := range 10 {
			w.save("a.json", fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		w.save("b.json", "1")
		time.Sleep(time.Second)
		w.wantFiles(0, "a.json", "b.json")
		w.wantNothing(time.Hour)
	})
}

func TestCloseEndsEverything(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.w.Set(paths(w, []string{"a.json"}), nil)
		w.save("a.json", "1")
		w.w.Close()
		w.w.Close()
		w.w.Set(paths(w, []string{"b.json"}), nil) // returns
		if c, ok := <-w.w.Events(); ok {
			t.Errorf("told %v after Close", c)
		}
		if !w.src.closed {
			t.Error("the system's watching is still open")
		}
	})
}

// The source must never wait for the state, which may take long on a slow disk.
func TestPumpTakesEverythingAndBoundsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{events: make(chan fsnotify.Event), errs: make(chan error)}
		out, stop, done := make(chan batch), make(chan struct{}), make(chan struct{})
		go func() { defer close(done); pump(src, out, stop) }()
		for i := range maxBatch + 1 { // nobody reads out
			src.events <- fsnotify.Event{Name: fmt.Sprint("/f", i)}
			src.events <- fsnotify.Event{Name: fmt.Sprint("/f", i/2)}
		}
		if b := <-out; len(b.names) != maxBatch || !b.all {
			t.Errorf("%d names, all %t", len(b.names), b.all)
		}
		src.events <- fsnotify.Event{Name: "/x"}
		if b := <-out; len(b.names) != 1 || b.all {
			t.Errorf("the next batch holds %v", b)
		}
		close(src.events) // pump must not spin when the source ends by itself
		close(src.errs)
		synctest.Wait()
		close(stop)
		<-done
	})
}
