package statefile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func rewriteError(t *testing.T, err error, text string) {
	t.Helper()
	if e, ok := errors.AsType[*RewriteError](err); !ok || !strings.Contains(e.Error(), text) {
		t.Fatalf("%v, want a RewriteError with %q", err, text)
	}
}

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{}, add("a")), "is not there")
	must(t, Rewrite(t.Context(), path, Rewriting{Make: true}, add("a")))
	must(t, os.Chmod(path, 0o640))
	must(t, Rewrite(t.Context(), path, Rewriting{}, add("b")))
	wantOnDisk(t, path, `["a","b"]`)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	mine := errors.New("mine")
	if err := Rewrite(t.Context(), path, Rewriting{}, func([]byte) ([]byte, error) { return nil, mine }); err != mine {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("%q is left", got)
	}
	deep := filepath.Join(dir, "x", "y", "config.json")
	must(t, Rewrite(t.Context(), deep, Rewriting{Make: true, Within: dir}, add("a")))
	wantOnDisk(t, deep, `["a"]`)
}

func TestRewriteRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	rewriteError(t, Rewrite(t.Context(), dir, Rewriting{}, add("a")), "no plain file")
	path := filepath.Join(dir, "config.json")
	must(t, os.WriteFile(path, []byte(`["a"]`), 0o400))
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{}, add("b")), "read-only")
	wantOnDisk(t, path, `["a"]`)
	large := filepath.Join(dir, "large.json")
	file, err := os.Create(large)
	must(t, err)
	must(t, file.Truncate(maxText+1))
	must(t, file.Close())
	rewriteError(t, Rewrite(t.Context(), large, Rewriting{}, add("b")), "too large")
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("%q is left", got)
	}
}

// Whichever step fails, the file has its old text, an error says so, and nothing is left behind that the next writer
// would not take away.
func TestRewriteWithFailingSteps(t *testing.T) {
	failed := map[string]bool{}
	for step := 1; ; step++ {
		if step > 50 {
			t.Fatal("the writer never comes to an end")
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "config.json")
		must(t, os.WriteFile(path, []byte(`["old"]`), 0o600))
		name := ""
		d := &trace{at: func(n int, what string) error {
			if n != step {
				return nil
			}
			name = what
			return noSpace()
		}}
		err := Rewrite(t.Context(), path, Rewriting{at: d.step}, add("new"))
		if name == "" {
			must(t, err)
			break
		}
		failed[name] = true
		text := `["old","new"]`
		if again := d.count("read") > 2; err != nil {
			text = `["old"]`
			rewriteError(t, err, path)
		} else if name != "syncDir" && name != "remove" && !again {
			t.Errorf("%s failed, and nobody was told", name)
		}
		wantOnDisk(t, path, text)
		must(t, Rewrite(t.Context(), path, Rewriting{}, add("newer")))
		if got := names(t, dir); !slices.Equal(got, []string{"config.json"}) {
			t.Errorf("after %s: %q", name, got)
		}
	}
	for _, name := range []string{"lockFolder", "read", "create", "chmod", "write", "sync", "close", "rename"} {
		if !failed[name] {
			t.Errorf("%s never failed", name)
		}
	}
}

// A hub that is killed before each of its steps in turn leaves the old text or the new one, and locks nobody out.
func TestKilledRewriterLeavesTheOldTextOrTheNew_real(t *testing.T) {
	seen := map[string]bool{}
	for step := 1; ; step++ {
		if step > 50 {
			t.Fatal("the writer never comes to an end")
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "config.json")
		must(t, os.WriteFile(path, []byte(`["old"]`), 0o600))
		cmd := otherProcess(t, "rewrite", path, step)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		name, err := bufio.NewReader(out).ReadString('\n')
		must(t, err)
		if name == "done\n" {
			must(t, cmd.Wait())
			break
		}
		seen[strings.TrimSpace(name)] = true
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if list := entries(t, path); !slices.Equal(list, []string{"old"}) && !slices.Equal(list, []string{"old", "new"}) {
			t.Errorf("killed before %s: %q", name, list)
		}
		must(t, Rewrite(t.Context(), path, Rewriting{}, add("newer")))
		if got := names(t, dir); !slices.Equal(got, []string{"config.json"}) {
			t.Errorf("killed before %s: %q", name, got)
		}
	}
	if !seen["rename"] || !seen["write"] || !seen["syncDir"] {
		t.Errorf("killed before %v only", seen)
	}
}

// What another program writes between the reading and the replacing is not lost: the change is made anew on top of it.
func TestRewriteSeesOtherWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	must(t, os.WriteFile(path, []byte(`["old"]`), 0o600))
	theirs := 0
	d := &trace{at: func(_ int, name string) error {
		if name == "sync" && theirs == 0 {
			theirs++
			return os.WriteFile(path, []byte(`["old","theirs"]`), 0o600)
		}
		return nil
	}}
	must(t, Rewrite(t.Context(), path, Rewriting{at: d.step}, add("new")))
	wantOnDisk(t, path, `["old","theirs","new"]`)

	d.at = func(_ int, name string) error {
		if name == "sync" {
			theirs++
			text, err := json.Marshal([]string{strings.Repeat("x", theirs)})
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}
		return nil
	}
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{at: d.step}, add("newer")), "written by another program")
	wantOnDisk(t, path, `["xxxx"]`)
}

// Many hubs at once lose nothing of each other's.
func TestRewritersTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	const writers = 16
	told := make(chan error, writers)
	for who := range writers {
		go func() {
			told <- Rewrite(t.Context(), path, Rewriting{Make: true, wait: time.Minute}, add(entryName(who, 0)))
		}()
	}
	for range writers {
		must(t, <-told)
	}
	if list := entries(t, path); len(list) != writers {
		t.Errorf("%q", list)
	}
}

// Each wait is in a folder of its own: Windows gives a folder's own lock back a moment late.
func TestRewriteWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "config.json")
		unlock, err := lockFolder(t.Context(), filepath.Dir(path))
		must(t, err)
		err = Rewrite(t.Context(), path, Rewriting{Make: true}, add("a"))
		rewriteError(t, err, "another hub writes")
		unlock()

		// Cline holds its lock beside the file.
		held := func() (path string) {
			path = filepath.Join(t.TempDir(), "config.json")
			must(t, os.Mkdir(path+".lock", 0o700))
			must(t, os.WriteFile(filepath.Join(path+".lock", "cline"), nil, 0o600))
			return path
		}
		err = Rewrite(t.Context(), held(), Rewriting{Make: true, Cline: true}, add("a"))
		rewriteError(t, err, "another program holds it")
		path = held()
		must(t, os.Chtimes(path+".lock", time.Time{}, time.Now().Add(-time.Hour))) // stale
		must(t, Rewrite(t.Context(), path, Rewriting{Make: true, Cline: true}, func([]byte) ([]byte, error) {
			if !foreignHeld(path + ".lock") {
				t.Error("Cline would not wait")
			}
			return []byte(`["a"]`), nil
		}))
		if got := names(t, filepath.Dir(path)); !slices.Equal(got, []string{"config.json"}) {
			t.Errorf("%q is left", got)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		rewriteError(t, Rewrite(ended, path, Rewriting{}, add("b")), "gone")
		wantOnDisk(t, path, `["a"]`)
	})
}

// A preview finds what keeps a change from being made, and leaves everything as it is.
func TestPreview(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "config.json")
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{Preview: true}, add("a")), "is not there")
	must(t, Rewrite(t.Context(), path, Rewriting{Preview: true, Make: true}, add("a")))
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{Preview: true, Make: true, Within: t.TempDir()}, add("a")), "leads out of")
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("%q was made", got)
	}
	must(t, Rewrite(t.Context(), path, Rewriting{Make: true}, add("a")))
	must(t, Rewrite(t.Context(), path, Rewriting{Preview: true}, add("b")))
	wantOnDisk(t, path, `["a"]`)
	must(t, Writable(path, Rewriting{}))
	must(t, os.Chmod(path, 0o400))
	rewriteError(t, Writable(path, Rewriting{}), "read-only")
	must(t, os.Chmod(path, 0o600))
}
