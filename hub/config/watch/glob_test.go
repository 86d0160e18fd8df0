package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestPatternsMeanWhatTheySay(t *testing.T) {
	drive := "" // of absolute paths
	if runtime.GOOS == "windows" {
		drive = "C:"
	}
	folder := filepath.FromSlash(drive + "/ws/a[1]")
	tests := []struct {
		patterns string // blank separated
		yes, no  string // absolute, or below folder
	}{
		{"**/*.ts", "x.ts src/x.ts src/deep/x.ts", "x.js src/x.tsx"},
		{"src/**", "src/x src/a/b", "x srcx/y"},
		{"src/*.{ts,js}", "src/x.ts src/x.js", "src/a/x.ts src/x.md"},
		{"{src,lib/deep}/x.ts", "src/x.ts lib/deep/x.ts", "lib/x.ts"},
		{"build/index.js", "build/index.js", "build/index.jsx build/other.js index.js"},
		{"build/", "build/index.js build/a/b.js", "buildx/y"},
		{".", "x a/b", "/ws/x"},
		{"**/*.ts !**/*.d.ts", "x.ts", "x.d.ts a/x.d.ts"},
		{"!dist/** **/*.js", "x.js", "dist/x.js dist/a/x.js"},
		{"** !dist", "x", "dist/x dist/a/b"},
		{drive + "/lib/**/*.py", "/lib/x.py /lib/a/x.py", "x.py"},
		{"../shared/*.json", "/ws/shared/x.json", "shared/x.json"},
		{"[", "", "["},
	}
	abs := func(name string) string {
		if strings.HasPrefix(name, "/") {
			return filepath.FromSlash(drive + name)
		}
		return filepath.Join(folder, filepath.FromSlash(name))
	}
	for _, tt := range tests {
		ps, _ := newPatterns(Glob{Folder: folder, Patterns: strings.Fields(tt.patterns)})
		for _, name := range strings.Fields(tt.yes) {
			if !ps.match(abs(name)) {
				t.Errorf("%s does not mean %s", tt.patterns, name)
			}
			for dir := filepath.Dir(abs(name)); dir != folder && within(dir, folder); dir = filepath.Dir(dir) {
				if !ps.descends(dir) {
					t.Errorf("%s means %s but does not look into %s", tt.patterns, name, dir)
				}
			}
		}
		for _, name := range strings.Fields(tt.no) {
			if ps.match(abs(name)) {
				t.Errorf("%s means %s", tt.patterns, name)
			}
		}
	}
	for _, tt := range []struct{ patterns, not string }{
		{"src/**", "lib"}, {"*.ts", "src"}, {"src/*/x.ts", "src/a/b"}, {"** !dist/**", "dist"}, {"** !dist", "dist/a"},
		{"/lib/**", "src"},
	} {
		ps, _ := newPatterns(Glob{Folder: folder, Patterns: strings.Fields(tt.patterns)})
		if ps.descends(abs(tt.not)) {
			t.Errorf("%s descends into %s", tt.patterns, tt.not)
		}
	}
}

func (w *world) glob(server string, patterns ...string) Glob {
	return Glob{Server: server, Folder: w.dir, Patterns: patterns}
}

func TestGlobTellsItsServer(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("src/a/x.ts", "1")
		w.write("src/a/x.d.ts", "1")
		w.write("src/a/x.md", "1")
		w.w.Set(nil, []Glob{w.glob("dev", "src/**/*.ts", "!**/*.d.ts"), w.glob("docs", "src/**/*.md")})
		w.save("src/a/x.ts", "longer")
		w.wantServers(200*ms, "dev")
		w.save("src/a/x.md", "longer")
		w.wantServers(200*ms, "docs")
		w.save("src/a/x.d.ts", "longer")
		w.save("src/a/new.txt", "1")
		w.wantNothing(time.Hour)
		w.save("src/a/new.ts", "1")
		w.wantServers(200*ms, "dev")
		must(t, os.Remove(w.path("src/a/new.ts")))
		w.src.emit(w.path("src/a/new.ts"), fsnotify.Remove)
		w.wantServers(200*ms, "dev")
	})
}

func TestGlobBurstIsToldOnce(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("src/x.ts", "")
		w.w.Set(nil, []Glob{w.glob("dev", "src/**")})
		for i := range 10 {
			w.save(fmt.Sprintf("src/%d.ts", i), "1")
			time.Sleep(100 * ms)
		}
		w.wantServers(100*ms, "dev")
		w.wantNothing(time.Hour)
	})
}

func TestGlobFollowsNewAndLostFolders(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.w.Set(nil, []Glob{w.glob("dev", "src/**/*.ts")})
		w.write("src/a/b/x.ts", "1") // all of it comes before the Watcher looks; only the first folder has an event
		w.src.emit(w.path("src"), fsnotify.Create)
		w.wantServers(200*ms, "dev")
		w.save("src/a/b/x.ts", "longer")
		w.wantServers(200*ms, "dev")
		must(t, os.RemoveAll(w.path("src/a")))
		w.src.emit(w.path("src/a"), fsnotify.Remove)
		w.wantServers(200*ms, "dev")
		must(t, os.MkdirAll(w.path("src/a/b"), 0o755))
		w.src.emit(w.path("src/a"), fsnotify.Create)
		w.wantNothing(time.Second)
		w.save("src/a/b/x.ts", "1")
		w.wantServers(200*ms, "dev")
		must(t, os.RemoveAll(w.path("src")))
		w.src.emit(w.path("src"), fsnotify.Remove)
		w.wantServers(200*ms, "dev")
		if got := w.src.folders(); !slices.Equal(got, []string{w.dir}) {
			t.Errorf("watched %q", got)
		}
	})
}

func TestGlobSkipsWhatHoldsNoSource(t *testing.T) {
	bubble(t, nil, func(w *world) {
		for _, name := range []string{"x.ts", "a/x.ts", ".git/x.ts", "node_modules/p/x.ts", "a/node_modules/x.ts",
			"dist/a/x.ts"} {
			w.write(name, "1")
		}
		must(t, os.MkdirAll(w.path("a/own"), 0o755))
		elsewhere := t.TempDir()
		must(t, os.Symlink(elsewhere, w.path("a/link")))
		w.w.Set(nil, []Glob{w.glob("dev", "**/*.ts", "!dist/**")})
		if got, want := w.src.folders(), paths(w, []string{"", "a", "a/own"}); !slices.Equal(got, want) {
			t.Errorf("watched %q, want %q", got, want)
		}
	})
}

func TestGlobsOfTooManyFoldersAreAProblem(t *testing.T) {
	bubble(t, nil, func(w *world) {
		for i := range maxFolders + 10 {
			must(t, os.Mkdir(w.path(fmt.Sprintf("d%04d", i)), 0o755))
		}
		w.write("z/x.ts", "1")
		w.w.Set([]string{w.path("z/mcp.json")}, []Glob{w.glob("wide", "**/*.ts")})
		c, _ := w.within(200 * ms)
		if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Text, `"wide"`) ||
			!strings.Contains(c.Problems[0].Text, fmt.Sprint(maxFolders)) {
			t.Fatalf("told %v, want one problem", c)
		}
		// What is within the bound is still watched, config files too, and the problem is reported once.
		w.save("d0001/x.ts", "1")
		w.wantServers(200*ms, "wide")
		w.save("z/mcp.json", "1")
		w.wantFiles(200*ms, "z/mcp.json")
		w.wantNothing(time.Minute)
		if n := len(w.src.folders()); n > maxFolders+1 {
			t.Errorf("%d folders are watched", n)
		}
		// Globs that are removed make room.
		w.w.Set(nil, []Glob{w.glob("narrow", "z/*.ts")})
		w.save("z/x.ts", "longer")
		w.wantServers(200*ms, "narrow")
	})
}

func TestBadPatternIsAProblemOfItsServer(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.w.Set(nil, []Glob{w.glob("dev", "src/[", "*.ts")})
		c, _ := w.within(200 * ms)
		if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Text, `"dev": "src/["`) {
			t.Errorf("told %v", c)
		}
		w.save("x.ts", "1")
		w.wantServers(200*ms, "dev")
	})
}

func TestGlobThatCannotBeWatchedIsPolled(t *testing.T) {
	bubble(t, func(s *state) { s.remote = func(string) bool { return true } }, func(w *world) {
		w.write("src/a/x.ts", "1")
		w.w.Set(nil, []Glob{w.glob("dev", "src/**")})
		w.wantNothing(time.Hour)
		w.write("src/a/x.ts", "longer")
		w.wantServers(pollEvery+200*ms, "dev")
		w.write("src/b/c/x.ts", "1")
		w.wantServers(pollEvery+200*ms, "dev")
		w.write("src/b/c/x.ts", "longer")
		w.wantServers(pollEvery+200*ms, "dev")
		w.wantNothing(time.Hour)
	})
}
