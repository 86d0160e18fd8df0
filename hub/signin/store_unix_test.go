//go:build unix

package signin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only the user can read files and directory, and nothing half-written stays.
func TestFileStoreModes(t *testing.T) {
	modesCount(t)
	s, _ := openFiles(t)
	if err := s.Save(t.Context(), someEntry("one")); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadDir(s.dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	for path, want := range map[string]os.FileMode{s.dir: 0o700, filepath.Join(s.dir, found[0].Name()): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// A file that others can read is not used, with a warning; the next sign-in replaces it.
func TestFileStoreRefusesReadableFile(t *testing.T) {
	modesCount(t)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		s, l := openFiles(t)
		if err := s.Save(t.Context(), someEntry("one")); err != nil {
			t.Fatal(err)
		}
		key := Key{"one", mcpURL}
		if err := os.Chmod(s.path(key), mode); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Load(t.Context(), key); e != nil || err != nil {
			t.Errorf("%o: %v, %v", mode, e, err)
		}
		if !strings.Contains(l.String(), "WARN") || !strings.Contains(l.String(), "other users") {
			t.Errorf("log %s", l)
		}
		if err := s.Save(t.Context(), someEntry("one")); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Load(t.Context(), key); e == nil || err != nil {
			t.Errorf("after a new sign-in: %v, %v", e, err)
		}
	}
}

// A directory that others can write to gets the mode 0700, with a warning.
func TestFileStoreClosesDirectory(t *testing.T) {
	modesCount(t)
	s, l := openFiles(t)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), someEntry("one")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if !strings.Contains(l.String(), "WARN") {
		t.Errorf("log %s", l)
	}
}

// TestFileStoreRefusesLink: a symbolic link in place of an entry is not followed.
func TestFileStoreRefusesLink(t *testing.T) {
	key := Key{"one", mcpURL}
	s, l := openFiles(t)
	if err := s.makeDir(); err != nil {
		t.Fatal(err)
	}
	target := s.path(key) + "x"
	if err := os.WriteFile(target, []byte(`{"server":"one","url":"`+mcpURL+`","issuer":"i"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, s.path(key)); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Load(t.Context(), key); e != nil || err != nil {
		t.Errorf("%v, %v", e, err)
	}
	if !strings.Contains(l.String(), "WARN") {
		t.Errorf("log %s", l)
	}
}
