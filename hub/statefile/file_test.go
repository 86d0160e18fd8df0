package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

func TestUpdateMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f := Open(dir, "state.json", Options{})
	wantRead(t, f, "")
	must(t, f.Update(add("1")))
	must(t, f.Update(add("2")))
	wantRead(t, f, `["1","2"]`)
	wantOnDisk(t, f.path, `["1","2"]`)
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, f.path: 0o600, f.path + ".lock": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestRefusedChangeChangesNothing(t *testing.T) {
	f := Open(t.TempDir(), "state.json", Options{})
	must(t, f.Update(add("1")))
	refusal := errors.New("no")
	if err := f.Update(func([]byte) ([]byte, error) { return []byte("{}"), refusal }); err != refusal {
		t.Errorf("the error is %v", err)
	}
	must(t, f.Update(func([]byte) ([]byte, error) { return nil, nil }))
	wantRead(t, f, `["1"]`)
	wantOnDisk(t, f.path, `["1"]`)
}

func TestUpdateWithoutAChangeWritesNothing(t *testing.T) {
	d := &stepDisk{}
	f := openOn(d, t.TempDir(), "state.json", Options{})
	must(t, f.Update(add("1")))
	must(t, f.Update(func(old []byte) ([]byte, error) { return bytes.Clone(old), nil }))
	if n := d.count("rename"); n != 1 {
		t.Errorf("written %d times, want once", n)
	}
}

func TestOtherHubsWriteIsSeenByTheNextRead(t *testing.T) {
	dir := t.TempDir()
	one, two := Open(dir, "state.json", Options{}), Open(dir, "state.json", Options{})
	for i := range 20 {
		must(t, two.Update(add(fmt.Sprint(i))))
		want, _ := two.Read()
		wantRead(t, one, string(want))
	}
	must(t, os.Remove(one.path))
	wantRead(t, one, "")
}

func TestReadOfAnUnchangedFileIsOneStat(t *testing.T) {
	d := &stepDisk{}
	f := openOn(d, t.TempDir(), "state.json", Options{})
	must(t, f.Update(add("1")))
	old := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(f.path, old, old))
	wantRead(t, f, `["1"]`)
	reads := d.count("read")
	for range 10 {
		wantRead(t, f, `["1"]`)
	}
	if n := d.count("read"); n != reads {
		t.Errorf("read %d more times", n-reads)
	}
}

// Two texts of one size within one tick of a coarse clock are both read.
func TestYoungFileIsReadAgain(t *testing.T) {
	f := Open(t.TempDir(), "state.json", Options{})
	must(t, f.Update(add("1")))
	now := time.Now()
	for _, text := range []string{`["2"]`, `["3"]`} {
		must(t, os.WriteFile(f.path, []byte(text), 0o600))
		must(t, os.Chtimes(f.path, now, now))
		wantRead(t, f, text)
	}
}

func TestBrokenFileIsSetAsideOnce(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	const broken = `["hand-made`
	must(t, os.WriteFile(statePath(dir), []byte(broken), 0o600))
	fails := true
	d := &stepDisk{at: func(_ int, name string) error {
		if fails && name == "rename" && len(names(t, dir)) > 3 { // that of the file itself, after the copy's
			return noSpace()
		}
		return nil
	}}
	f := openOn(d, dir, "state.json", logTo(&log))
	if text, err := f.Read(); text != nil || !errors.Is(err, errBroken) {
		t.Errorf("read %q, %v", text, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("reading made %q", got)
	}
	for range 3 {
		wantError(t, f.Update(add("1")), errFull)
		wantOnDisk(t, f.path, broken)
	}
	fails = false
	must(t, f.Update(add("1")))
	must(t, f.Update(add("2")))
	wantOnDisk(t, f.path, `["1","2"]`)
	var copies []string
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "state.json.broken-") {
			copies = append(copies, name)
			wantOnDisk(t, filepath.Join(dir, name), broken)
		}
	}
	if len(copies) != 1 {
		t.Errorf("copies: %q", copies)
	}
	wantLogged(t, &log, "could not be understood", 1)
}

func TestTwoBrokenFilesOfOneTimeAreBothKept(t *testing.T) {
	dir := t.TempDir()
	f := Open(dir, "state.json", Options{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, text := range []string{"one", "two"} {
		must(t, os.WriteFile(f.path, []byte(text), 0o600))
		must(t, os.Chtimes(f.path, at, at))
		must(t, f.Update(add("1")))
	}
	wantOnDisk(t, f.path+".broken-20260102T030405Z", "one")
	wantOnDisk(t, f.path+".broken-20260102T030405Z-2", "two")
}

func TestForeignVersionIsSetAside(t *testing.T) {
	dir := t.TempDir()
	const newer = `{"version": 9}`
	must(t, os.WriteFile(statePath(dir), []byte(newer), 0o600))
	f := Open(dir, "state.json", Options{Check: func(text []byte) error {
		if strings.Contains(string(text), "version") {
			return errors.New("version 9 is not known")
		}
		return nil
	}})
	_, err := f.Read()
	wantError(t, err, errBroken)
	must(t, f.Update(add("1")))
	wantOnDisk(t, f.path, `["1"]`)
	if got := names(t, dir); len(got) != 3 || !strings.HasPrefix(got[1], "state.json.broken-") {
		t.Errorf("there are %q", got)
	}
}

func TestEmptyFileIsNone(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(statePath(dir), []byte("\n"), 0o600))
	f := Open(dir, "state.json", Options{})
	wantRead(t, f, "")
	must(t, f.Update(add("1")))
	if got := names(t, dir); !slices.Equal(got, []string{"state.json", "state.json.lock"}) {
		t.Errorf("there are %q", got)
	}
}
