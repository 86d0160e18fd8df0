package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

const ms = time.Millisecond

func TestBurstIsToldOnceAfterTheQuietTime(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "0")
		w.w.Set([]string{w.path("a.json")}, nil)
		for i := range 10 {
			w.save("a.json", fmt.Sprint("text ", i))
			time.Sleep(100 * ms)
		}
		w.wantNothing(99 * ms)
		w.wantFiles(1*ms, "a.json")
		w.wantNothing(time.Hour)
	})
}

func TestEndlessWritesAreToldAfterTenQuietTimes(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "0")
		w.w.Set([]string{w.path("a.json")}, nil)
		begin := time.Now()
		var told []time.Duration
		reading := make(chan struct{})
		go func() {
			defer close(reading)
			for range w.w.Events() {
				told = append(told, time.Since(begin))
			}
		}()
		for i := range 150 { // never at the moment of a look, which might find the file cut short
			w.save("a.json", fmt.Sprint("text ", i))
			time.Sleep(30 * ms)
		}
		time.Sleep(time.Second)
		w.w.Close()
		<-reading
		if want := []time.Duration{2000 * ms, 4010 * ms, 4670 * ms}; !slices.Equal(told, want) {
			t.Errorf("writes up to 4470ms were told after %v, want %v", told, want)
		}
	})
}

func TestSecondWriteOfASaveIsTold(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "whole")
		w.w.Set([]string{w.path("a.json")}, nil)
		w.save("a.json", "{ha")
		w.wantFiles(200*ms, "a.json")
		w.save("a.json", "{half and half}")
		w.wantFiles(200*ms, "a.json")
	})
}

func TestTouchTellsNothing(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "same")
		w.w.Set([]string{w.path("a.json")}, nil)
		must(t, os.Chtimes(w.path("a.json"), time.Now(), time.Now()))
		w.src.emit(w.path("a.json"), fsnotify.Chmod)
		w.save("a.json", "same")
		w.wantNothing(time.Hour)
	})
}

func TestOtherFilesOfTheFolderTellNothing(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "same")
		w.w.Set([]string{w.path("a.json")}, nil)
		w.save("b.json", "new")
		w.wantNothing(time.Hour)
	})
}

func TestFolderThatComesLaterIsFollowed(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.w.Set([]string{w.path("a/b/mcp.json")}, nil)
		if got := w.src.folders(); !slices.Equal(got, []string{w.dir}) {
			t.Fatalf("watched %q, want the nearest folder that is there, %q", got, w.dir)
		}
		must(t, os.Mkdir(w.path("a"), 0o755))
		w.src.emit(w.path("a"), fsnotify.Create)
		w.wantNothing(time.Second)
		if got := w.src.folders(); !slices.Equal(got, []string{w.path("a")}) {
			t.Fatalf("watched %q, want %q", got, w.path("a"))
		}
		must(t, os.Mkdir(w.path("a/b"), 0o755))
		w.src.emit(w.path("a/b"), fsnotify.Create)
		w.wantNothing(time.Second)
		w.save("a/b/mcp.json", "{}")
		w.wantFiles(200*ms, "a/b/mcp.json")
	})
}

func TestFolderThatGoesAwayIsWatchedAnew(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a/mcp.json", "1")
		w.w.Set([]string{w.path("a/mcp.json")}, nil)
		must(t, os.RemoveAll(w.path("a")))
		w.src.emit(w.path("a/mcp.json"), fsnotify.Remove)
		w.src.emit(w.path("a"), fsnotify.Remove)
		w.wantFiles(200*ms, "a/mcp.json")
		must(t, os.Mkdir(w.path("a"), 0o755))
		w.src.emit(w.path("a"), fsnotify.Create)
		w.wantNothing(time.Second)
		w.save("a/mcp.json", "2")
		w.wantFiles(200*ms, "a/mcp.json")
	})
}

// The new folder of the same name is there before the Watcher looks: only the event of the old one shows that its watch
// has ended.
func TestFolderThatWasReplacedIsWatchedAnew(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a/mcp.json", "1")
		w.w.Set([]string{w.path("a/mcp.json")}, nil)
		must(t, os.RemoveAll(w.path("a")))
		w.write("a/mcp.json", "1")
		w.src.emit(w.path("a"), fsnotify.Remove)
		w.wantNothing(time.Second)
		w.save("a/mcp.json", "2")
		w.wantFiles(200*ms, "a/mcp.json")
	})
}

func TestRefusedWatchIsPolledAndLoggedOnce(t *testing.T) {
	for _, refusal := range []error{syscall.ENOSPC, syscall.EMFILE} {
		t.Run(refusal.Error(), func(t *testing.T) {
			bubble(t, nil, func(w *world) {
				w.src.setRefuse(refusal)
				w.write("a/1.json", "1")
				w.write("b/2.json", "1")
				w.w.Set([]string{w.path("a/1.json"), w.path("b/2.json")}, nil)
				w.write("a/1.json", "2")
				w.wantFiles(pollEvery+200*ms, "a/1.json")
				w.write("b/2.json", "2")
				w.wantFiles(pollEvery+200*ms, "b/2.json")
				w.wantNothing(time.Hour)

				// The system has watches again: the next patrol takes them, and the polling ends.
				w.src.setRefuse(nil)
				w.wantNothing(patrolEvery)
				adds := w.src.addCount()
				w.save("a/1.json", "3")
				w.wantFiles(200*ms, "a/1.json")
				synctest.Wait()
				if w.src.addCount() != adds || !w.s.poll.IsZero() {
					t.Errorf("still polling at %v", w.s.poll)
				}
				w.wantLogged("cannot be watched", 1)
			})
		})
	}
}

func TestRemoteFolderIsPolled(t *testing.T) {
	far := func(s *state) { s.remote = func(string) bool { return true } }
	bubble(t, far, func(w *world) {
		w.write("a.json", "1")
		w.w.Set([]string{w.path("a.json")}, nil)
		if got := w.src.folders(); len(got) != 0 {
			t.Errorf("watched %q, of which no event would come", got)
		}
		for i := range 5 {
			w.write("a.json", fmt.Sprint("text ", i))
			w.wantFiles(pollEvery+200*ms, "a.json")
		}
		must(t, os.Remove(w.path("a.json")))
		w.wantFiles(pollEvery+200*ms, "a.json")
	})
}

// Polling only calls stat, once a file is old enough for its time to be trusted.
func TestPollingReadsOnlyWhatDiffers(t *testing.T) {
	var reads atomic.Int32
	far := func(s *state) {
		s.remote = func(string) bool { return true }
		s.read = func(path string) ([]byte, error) { reads.Add(1); return readFile(path) }
	}
	bubble(t, far, func(w *world) {
		w.write("a.json", "1")
		old := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(w.path("a.json"), old, old))
		w.w.Set([]string{w.path("a.json")}, nil)
		w.wantNothing(time.Minute)
		if n := reads.Load(); n != 1 {
			t.Errorf("read %d times, want once", n)
		}
		// Same size, and a time that a coarse clock could have given the old content, too.
		w.write("a.json", "2")
		now := time.Now()
		must(t, os.Chtimes(w.path("a.json"), now, now))
		w.wantFiles(pollEvery+200*ms, "a.json")
		w.write("a.json", "3")
		must(t, os.Chtimes(w.path("a.json"), now, now))
		w.wantFiles(pollEvery+200*ms, "a.json")
	})
}

func TestLostEventsLookAtEverything(t *testing.T) {
	for _, err := range []error{fsnotify.ErrEventOverflow, errors.New("short read")} {
		t.Run(err.Error(), func(t *testing.T) {
			bubble(t, nil, func(w *world) {
				w.write("a.json", "1")
				w.write("src/x.ts", "1")
				w.w.Set([]string{w.path("a.json")}, []Glob{{Server: "dev", Folder: w.dir, Patterns: []string{"src/**"}},
					{Server: "quiet", Folder: w.dir, Patterns: []string{"lib/**"}}})
				w.write("a.json", "2")
				w.write("src/x.ts", "longer")
				w.wantNothing(time.Second)
				w.src.errs <- err
				c, _ := w.within(200*ms + 1)
				if !slices.Equal(c.Files, paths(w, []string{"a.json"})) || !slices.Equal(c.Servers, []string{"dev"}) {
					t.Errorf("told %v", c)
				}
			})
		})
	}
}

// A watch can end without an event, and a folder can be remote without being recognized as such.
func TestPatrolFindsWhatNoEventTold(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "1")
		w.w.Set([]string{w.path("a.json")}, nil)
		must(t, w.src.Remove(w.dir))
		w.write("a.json", "2")
		w.wantFiles(patrolEvery+200*ms, "a.json")
		w.save("a.json", "3")
		w.wantFiles(200*ms, "a.json") // it is watched again
	})
}

func TestFolderInPlaceOfAFileIsAChange(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("a.json", "1")
		w.w.Set([]string{w.path("a.json")}, nil)
		must(t, os.Remove(w.path("a.json")))
		must(t, os.Mkdir(w.path("a.json"), 0o755))
		w.src.emit(w.path("a.json"), fsnotify.Create)
		w.wantFiles(200*ms, "a.json")
		must(t, os.Remove(w.path("a.json")))
		w.save("a.json", "1")
		w.wantFiles(200*ms, "a.json")
	})
}
