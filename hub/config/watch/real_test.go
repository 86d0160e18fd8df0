package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

const settle = 20 * time.Millisecond

// real is a Watcher over the system's own file watching. No time is asserted here: a test waits for a change, and where
// none may come, for that of another file which happened later.
type real struct {
	t   *testing.T
	dir string
	w   *Watcher
}

func newReal(t *testing.T) *real {
	r := &real{t: t, dir: t.TempDir(), w: New(Options{Settle: settle})}
	t.Cleanup(r.w.Close)
	return r
}

func (r *real) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *real) next() Change {
	r.t.Helper()
	select {
	case c := <-r.w.Events():
		return c
	case <-time.After(faketime.Long):
		r.t.Fatal("no change was told")
		return Change{}
	}
}

func (r *real) wantFile(name string) {
	r.t.Helper()
	if c := r.next(); !slices.Equal(c.Files, []string{r.path(name)}) {
		r.t.Fatalf("told %v, want %s", c, name)
	}
}

// wantText waits until the file is reported with this content: a save in two steps may be reported twice.
func (r *real) wantText(name, text string) {
	r.t.Helper()
	for {
		r.wantFile(name)
		if got, _ := os.ReadFile(r.path(name)); string(got) == text {
			return
		}
	}
}

func TestRealSaves_real(t *testing.T) {
	tests := []struct {
		name string
		save func(r *real, text string)
	}{
		{"write in place", func(r *real, text string) { write(r.t, r.path("mcp.json"), text) }},
		{"rename away and create, as vim does", func(r *real, text string) {
			must(r.t, os.Rename(r.path("mcp.json"), r.path("mcp.json~")))
			write(r.t, r.path("mcp.json"), text)
			must(r.t, os.Remove(r.path("mcp.json~")))
		}},
		{"rename over", func(r *real, text string) {
			write(r.t, r.path(".mcp.json.tmp"), text)
			must(r.t, os.Rename(r.path(".mcp.json.tmp"), r.path("mcp.json")))
		}},
		{"truncate, then write in two steps", func(r *real, text string) {
			f, err := os.OpenFile(r.path("mcp.json"), os.O_WRONLY|os.O_TRUNC, 0)
			must(r.t, err)
			defer f.Close()
			for _, part := range []string{text[:1], text[1:]} {
				_, err = f.WriteString(part)
				must(r.t, err)
			}
		}},
		{"delete and create", func(r *real, text string) {
			must(r.t, os.Remove(r.path("mcp.json")))
			write(r.t, r.path("mcp.json"), text)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newReal(t)
			write(t, r.path("mcp.json"), "{}")
			r.w.Set([]string{r.path("mcp.json")}, nil)
			for i := range 3 { // again: the new file is watched as the old one was
				text := fmt.Sprintf(`{"n": %d}`, i)
				tt.save(r, text)
				r.wantText("mcp.json", text)
			}
		})
	}
}

func TestRealTouchTellsNothing_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("a.json"), "{}")
	r.w.Set([]string{r.path("a.json"), r.path("b.json")}, nil)
	now := time.Now()
	must(t, os.Chtimes(r.path("a.json"), now, now))
	write(t, r.path("a.json"), "{}")
	write(t, r.path("b.json"), "{}")
	r.wantFile("b.json")
}

func TestRealDeletionAndReturn_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("mcp.json"), "{}")
	r.w.Set([]string{r.path("mcp.json")}, nil)
	must(t, os.Remove(r.path("mcp.json")))
	r.wantFile("mcp.json")
	write(t, r.path("mcp.json"), "{}")
	r.wantFile("mcp.json")
}

func TestRealFolderThatComesLater_real(t *testing.T) {
	r := newReal(t)
	r.w.Set([]string{r.path("a/b/mcp.json")}, nil)
	for i := range 3 {
		write(t, r.path("a/b/mcp.json"), fmt.Sprint(i))
		r.wantFile("a/b/mcp.json")
		must(t, os.RemoveAll(r.path("a")))
		r.wantFile("a/b/mcp.json")
	}
}

// A folder is renamed away and comes back with other content, as by a change of branch.
func TestRealFolderSwap_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("ws/mcp.json"), "one")
	write(t, r.path("other/mcp.json"), "two")
	r.w.Set([]string{r.path("ws/mcp.json")}, nil)
	must(t, os.Rename(r.path("ws"), r.path("old")))
	must(t, os.Rename(r.path("other"), r.path("ws")))
	r.wantText("ws/mcp.json", "two")
	write(t, r.path("ws/mcp.json"), "three")
	r.wantText("ws/mcp.json", "three")
}

func TestRealThousandWritesAreFewChanges_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("mcp.json"), "{}")
	r.w.Set([]string{r.path("mcp.json"), r.path("end.json")}, nil)
	began := time.Now()
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		for i := range 1000 {
			write(t, r.path("mcp.json"), fmt.Sprintf(`{"n": %d}`, i))
		}
		write(t, r.path("end.json"), "{}")
	}()
	changes := 0
	for c := r.next(); ; c = r.next() {
		if slices.Contains(c.Files, r.path("mcp.json")) {
			changes++
		}
		if slices.Contains(c.Files, r.path("end.json")) {
			break
		}
	}
	<-wrote
	// However slowly the machine writes, no two changes are closer together than the time for which a file is quiet.
	if most := int(time.Since(began)/settle) + 1; changes == 0 || changes > most {
		t.Errorf("%d changes for 1000 writes, of %d that may be", changes, most)
	}
}

func TestRealTwoWatchersOfOneFile_real(t *testing.T) {
	one := newReal(t)
	two := &real{t: t, dir: one.dir, w: New(Options{Settle: settle})}
	defer two.w.Close()
	files := []string{one.path("mcp.json")}
	one.w.Set(files, nil)
	two.w.Set(files, nil)
	write(t, one.path("mcp.json"), "{}")
	one.wantFile("mcp.json")
	two.wantFile("mcp.json")
	one.w.Set(nil, nil)
	write(t, one.path("mcp.json"), "[]")
	two.wantFile("mcp.json")
}

func TestRealGlob_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("src/x.ts"), "1")
	r.w.Set(nil, []Glob{{Server: "dev", Folder: r.dir, Patterns: []string{"src/**/*.ts"}}})
	for i, name := range []string{"src/x.ts", "src/new/deep/x.ts", "src/new/deep/x.ts"} {
		write(t, r.path(name), fmt.Sprintf("%*d", i+2, i))
		if c := r.next(); !slices.Equal(c.Servers, []string{"dev"}) {
			t.Fatalf("told %v", c)
		}
	}
	must(t, os.RemoveAll(r.path("src/new")))
	if c := r.next(); !slices.Equal(c.Servers, []string{"dev"}) {
		t.Fatalf("told %v", c)
	}
}

// The hub must work where the system has no file watching left.
func TestNoFileWatchingAtAll(t *testing.T) {
	bubble(t, nil, func(w *world) {
		s := newState(Options{})
		poller := start(Options{}, noSource{os.ErrPermission}, s)
		defer poller.Close()
		poller.Set([]string{w.path("a.json")}, nil)
		w.write("a.json", "1")
		w.w.Close()
		w.w = poller
		w.wantFiles(pollEvery+200*ms, "a.json")
	})
}
