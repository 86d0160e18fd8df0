package hub_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// toldWatcher is a file watcher that reports what the test sends to out, and keeps what it is to watch.
type toldWatcher struct {
	out  chan watch.Change
	hang chan struct{} // Close waits for it; nil: for nothing

	mu     sync.Mutex // guards below
	sets   [][]string
	globs  []watch.Glob
	closed bool
}

func (w *toldWatcher) Set(files []string, globs []watch.Glob) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sets, w.globs = append(w.sets, slices.Clone(files)), slices.Clone(globs)
}

func (w *toldWatcher) Events() <-chan watch.Change { return w.out }

func (w *toldWatcher) Close() {
	if w.hang != nil {
		<-w.hang
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.out)
	}
}

func (w *toldWatcher) watched() (files []string, globs []watch.Glob) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sets) > 0 {
		files = w.sets[len(w.sets)-1]
	}
	return files, w.globs
}

// watchedWorld is a world whose config is a file.
type watchedWorld struct {
	*world
	path    string
	watcher *toldWatcher
	made    int
}

func newWatchedWorld(t *testing.T, servers map[string]*fakeserver.Server) *watchedWorld {
	t.Helper()
	w := &watchedWorld{path: filepath.Join(t.TempDir(), "mcp.json"), watcher: &toldWatcher{out: make(chan watch.Change)}}
	w.world = newWorldWith(t, hub.Options{Watch: func() hub.FileWatcher { w.made++; return w.watcher }}, servers)
	return w
}

func (w *watchedWorld) write(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watchedWorld) read(sources []hub.ConfigSource) {
	w.t.Helper()
	if _, _, _, err := w.hub.LoadConfig(context.Background(), sources); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watchedWorld) changed(change watch.Change) {
	w.watcher.out <- change
	synctest.Wait()
}

// A watched file that changes is read anew, windows are told which it was, and what half a file says counts for
// nothing.
func TestChangedFileIsReadAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, map[string]*fakeserver.Server{"a": hanging(), "b": hanging()})
		v := w.everything()
		w.write(w.config("a:"+allow, "b:"+allow))
		w.hub.WatchConfig(true)
		w.read([]hub.ConfigSource{{Scope: "host", Path: w.path}, {Scope: "host", Path: "inline", JSON: `{"mcpServers":{}}`}})
		if files, _ := w.watcher.watched(); !slices.Equal(files, []string{w.path}) {
			t.Errorf("watched %v", files)
		}
		a, b := w.call(hub.CallRequest{ID: "a", Server: "a", Tool: "hang"}),
			w.call(hub.CallRequest{ID: "b", Server: "b", Tool: "hang"})
		synctest.Wait()

		w.write(w.config("a:"+allow, "b:"+allow)[:20])
		w.changed(watch.Change{Files: []string{w.path}})
		if told := last[*event.ConfigReloaded](v); told.ChangedFile != w.path || len(told.Problems) != 1 ||
			!told.Problems[0].Fatal || a.over() || b.over() {
			t.Errorf("half a file: %+v", told)
		}
		if late := w.everything(); len(late.start.Snapshot.Problems) != 1 || !late.start.Snapshot.Problems[0].Fatal {
			t.Errorf("a window that comes later is told of the problems %+v", late.start.Snapshot.Problems)
		}
		w.write(w.config("a:"+allow, "b:"+allow+`,"args":["-v"]`))
		w.changed(watch.Change{Files: []string{w.path}})
		if told := last[*event.ConfigReloaded](v); len(told.Problems) != 0 || !slices.Equal(told.Stopped, []string{"b"}) ||
			a.over() {
			t.Errorf("a changed server: %+v", told)
		}
		b.want(t, event.CodeCancelled, event.ReasonCancelled)
		if w.starts("a") != 1 || w.starts("b") != 2 {
			t.Errorf("a started %d times, b %d times", w.starts("a"), w.starts("b"))
		}
		if _, err := w.hub.CancelRequest("a", "", "", event.OriginHost); err != nil {
			t.Fatal(err)
		}
	})
}

// Files are watched only while the host wants it: WatchConfig(false) ends what was watched before.
func TestHostWatchesItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, serversOf("a", hanging()))
		w.write(w.config())
		w.read([]hub.ConfigSource{{Scope: "host", Path: w.path}})
		if w.made != 0 {
			t.Error("files are watched that nobody wanted watched")
		}
		w.hub.WatchConfig(true)
		w.read(nil)
		w.hub.WatchConfig(false)
		w.read(nil)
		if files, _ := w.watcher.watched(); w.made != 1 || len(files) != 0 {
			t.Errorf("%d watchers, watched %v", w.made, files)
		}
	})
}

// A change of the files that a server is built from (dev.watch) restarts it, after its calls were told; one that does
// not run is not started.
func TestWatchedFilesRestartTheirServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, map[string]*fakeserver.Server{"a": hanging(), "b": hanging()})
		folder := filepath.Dir(w.path)
		w.write(`{"servers":{"a":{"command":"a","dev":{"watch":["src/**","!src/x"]},` + allow + `},"b":{"command":"b",` +
			allow + `}}}`)
		w.read([]hub.ConfigSource{{Scope: "host", Path: w.path, Folder: folder}})
		if _, globs := w.watcher.watched(); len(globs) != 1 || globs[0].Server != "a" || globs[0].Folder != folder ||
			!slices.Equal(globs[0].Patterns, []string{"src/**", "!src/x"}) {
			t.Fatalf("watched %+v", globs)
		}
		w.changed(watch.Change{Servers: []string{"a", "gone"}})
		if w.starts("a") != 0 {
			t.Error("a server that did not run was started")
		}
		a, b := w.call(hub.CallRequest{ID: "a", Server: "a", Tool: "hang"}),
			w.call(hub.CallRequest{ID: "b", Server: "b", Tool: "hang"})
		synctest.Wait()
		w.changed(watch.Change{Servers: []string{"a"}})
		if e := a.want(t, event.CodeCancelled, event.ReasonCancelled); !strings.Contains(e.Meta["cancel_reason"],
			"dev.watch") {
			t.Errorf("the call was told %v", e.Meta)
		}
		if w.starts("a") != 2 || w.starts("b") != 1 || b.over() {
			t.Errorf("a started %d times, b %d times", w.starts("a"), w.starts("b"))
		}
		if len(cancels(w.servers["a"])) != 1 {
			t.Error("the server was not told of the cancel")
		}
		if _, err := w.hub.CancelRequest("b", "", "", event.OriginHost); err != nil {
			t.Fatal(err)
		}
	})
}

// What cannot be watched is shown with the config's problems.
func TestWhatCannotBeWatchedIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, serversOf("a", hanging()))
		w.write(w.config())
		w.hub.WatchConfig(true)
		w.read([]hub.ConfigSource{{Scope: "host", Path: w.path}})
		v := w.everything()
		w.changed(watch.Change{Problems: []watch.Problem{{Server: "a", Text: "too many folders"}}})
		if told := last[*event.ConfigReloaded](v); len(told.Problems) != 1 ||
			told.Problems[0].Message != "too many folders" ||
			told.Problems[0].Fatal {
			t.Errorf("%+v", told)
		}
	})
}

// What cannot be watched is told once, for as long as the server wants it, and no longer. Finding B14.
func TestWhatCannotBeWatchedIsMended(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWatchedWorld(t, serversOf("a", hanging()))
		load := func(patterns string) []event.ConfigProblem {
			w.hub.EditConfig(func(s *config.Server) { s.Watch = []string{patterns} })
			w.write(w.config())
			w.read([]hub.ConfigSource{{Path: w.path, Scope: "user"}})
			_, problems := w.hub.Servers()
			return problems
		}
		load("src/[bad")
		bad := watch.Problem{Server: "a", Text: "it is no pattern"}
		w.changed(watch.Change{Problems: []watch.Problem{bad}})
		w.changed(watch.Change{Problems: []watch.Problem{bad}})
		if problems := load("src/[bad"); len(problems) != 1 {
			t.Errorf("while the pattern is bad: %v", problems)
		}
		if problems := load("src/**"); len(problems) != 0 {
			t.Errorf("the pattern is mended, and it is told: %v", problems)
		}
	})
}

// A watcher that never ends does not hold up the hub's Close beyond its context, nor keep it from killing what is left
// of the servers, and is told in its error. Finding B15.
func TestCloseDoesNotWaitForTheWatcher(t *testing.T) {
	bubble(t, func(t *testing.T) {
		free := make(chan struct{})
		w := newWatchedWorld(t, serversOf("a", hanging()))
		w.watcher.hang = free
		w.write(w.config("a:" + allow))
		w.hub.WatchConfig(true)
		w.read([]hub.ConfigSource{{Path: w.path, Scope: "user"}})
		w.fall("a", &ill{slow: time.Minute}) // its process takes longer to end than Close has time
		w.call(hub.CallRequest{Server: "a", Tool: "echo"}).ok(t)
		ctx, stop := context.WithTimeoutCause(context.Background(), 2*time.Second,
			errors.New("the end of the test's patience"))
		defer stop()
		start := time.Now()
		if err := w.hub.Close(ctx); err == nil {
			t.Error("nothing was told of what did not end")
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("Close took %v", took)
		}
		w.mu.Lock()
		if why := w.killed["a"]; why != "the hub's time to shut down is over" {
			t.Errorf("the process that was left was killed with the reason %q", why)
		}
		w.mu.Unlock()
		close(free)
	})
}
