//go:build unix

package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A file that can no longer be read has changed, and so has one that can be read again. Root may read everything, so
// here the mode decides.
func TestFileThatBecomesReadableIsTold(t *testing.T) {
	byMode := func(s *state) {
		s.read = func(path string) ([]byte, error) {
			if info, err := os.Stat(path); err == nil && info.Mode()&0o400 == 0 {
				return nil, fs.ErrPermission
			}
			return readFile(path)
		}
	}
	bubble(t, byMode, func(w *world) {
		w.write("a.json", "same")
		w.w.Set([]string{w.path("a.json")}, nil)
		for _, mode := range []fs.FileMode{0, 0o600} {
			must(t, os.Chmod(w.path("a.json"), mode))
			w.src.emit(w.path("a.json"), fsnotify.Chmod)
			w.wantFiles(200*ms, "a.json")
		}
	})
}

func TestLinkThatLeadsToItselfIsNoTrap(t *testing.T) {
	bubble(t, nil, func(w *world) {
		must(t, os.Symlink("b.json", w.path("a.json")))
		must(t, os.Symlink("a.json", w.path("b.json")))
		w.w.Set([]string{w.path("a.json")}, nil)
		must(t, os.Remove(w.path("b.json")))
		w.save("b.json", "1")
		w.wantFiles(200*ms, "a.json")
	})
}

func TestGlobThroughALinkIsFollowed(t *testing.T) {
	bubble(t, nil, func(w *world) {
		w.write("one/x.ts", "1")
		w.write("two/x.ts", "other")
		must(t, os.Symlink("one", w.path("src")))
		w.w.Set(nil, []Glob{w.glob("dev", "src/**/*.ts")})
		w.save("one/x.ts", "longer")
		w.wantServers(200*ms, "dev")
		must(t, os.Symlink("two", w.path("new")))
		must(t, os.Rename(w.path("new"), w.path("src")))
		w.src.emit(w.path("src"), fsnotify.Create)
		w.wantServers(200*ms, "dev")
		w.save("two/x.ts", "1")
		w.wantServers(200*ms, "dev")
		w.save("one/x.ts", "1")
		w.wantNothing(time.Hour)
	})
}

// As Kubernetes does it: the file is a link through a link to a folder, and the latter link is swapped.
func TestRealLinkSwap_real(t *testing.T) {
	r := newReal(t)
	write(t, r.path("..v0/mcp.json"), "v0")
	must(t, os.Symlink("..v0", r.path("..data")))
	must(t, os.Symlink(filepath.Join("..data", "mcp.json"), r.path("mcp.json")))
	r.w.Set([]string{r.path("mcp.json")}, nil)
	for i := 1; i <= 3; i++ {
		version := fmt.Sprintf("v%d", i)
		write(t, r.path(".."+version+"/mcp.json"), version)
		must(t, os.Symlink(".."+version, r.path("..tmp")))
		must(t, os.Rename(r.path("..tmp"), r.path("..data")))
		must(t, os.RemoveAll(r.path(fmt.Sprintf("..v%d", i-1))))
		r.wantText("mcp.json", version)
	}
	write(t, r.path("..v3/mcp.json"), "in place")
	r.wantText("mcp.json", "in place")
}

func TestRealChmodIsSeen_real(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything; TestFileThatBecomesReadableIsTold has the rest")
	}
	r := newReal(t)
	write(t, r.path("mcp.json"), "{}")
	must(t, os.Chmod(r.path("mcp.json"), 0))
	r.w.Set([]string{r.path("mcp.json")}, nil)
	must(t, os.Chmod(r.path("mcp.json"), 0o600))
	r.wantFile("mcp.json")
}
