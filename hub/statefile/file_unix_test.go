//go:build unix

package statefile

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenDirectoryIsClosedToOthers(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	var log bytes.Buffer
	must(t, Open(dir, "state.json", logTo(&log)).Update(add("1")))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", info.Mode().Perm(), err)
	}
	wantLogged(t, &log, "open to others", 1)
}

func TestDirectoryForEverybodyIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	wantError(t, Open(dir, "state.json", Options{}).Update(add("1")), errShared)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("mode %v (%v)", info.Mode().Perm(), err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("made %q there", got)
	}
}

func TestLinkIsRefused(t *testing.T) {
	for _, name := range []string{"state.json", "state.json.lock"} {
		dir, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
		must(t, os.WriteFile(target, []byte("[]"), 0o600))
		must(t, os.Symlink(target, filepath.Join(dir, name)))
		f := Open(dir, "state.json", Options{})
		wantError(t, f.Update(add("1")), errIrregular)
		wantOnDisk(t, target, "[]")
	}
	dir := t.TempDir()
	must(t, os.Mkdir(statePath(dir), 0o700))
	_, err := Open(dir, "state.json", Options{}).Read()
	wantError(t, err, errIrregular)
}

// A directory may be reached through a link: people move their home's folders about.
func TestLinkToTheDirectoryIsFollowed(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	must(t, Open(link, "state.json", Options{}).Update(add("1")))
	wantOnDisk(t, statePath(dir), `["1"]`)
}
