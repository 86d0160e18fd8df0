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
	d := &trace{}
	f := Open(t.TempDir(), "state.json", Options{at: d.step})
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
	d := &trace{}
	f := Open(t.TempDir(), "state.json", Options{at: d.step})
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
	fails := ""
	d := &trace{at: func(_ int, name string) error {
		if name == fails {
			return noSpace()
		}
		return nil
	}}
	o := logTo(&log)
	o.at = d.step
	f := Open(dir, "state.json", o)
	if text, err := f.Read(); text != nil || !errors.Is(err, errBroken) {
		t.Errorf("read %q, %v", text, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("reading made %q", got)
	}
	for _, fails = range []string{"create", "write", "setAside"} {
		wantError(t, f.Update(add("1")), noSpace())
		wantOnDisk(t, f.path, broken)
	}
	fails = "rename"
	wantError(t, f.Update(add("1")), noSpace())
	fails = ""
	must(t, f.Update(add("1")))
	must(t, f.Update(add("2")))
	wantOnDisk(t, f.path, `["1","2"]`)
	wantSetAside(t, f, broken)
	wantLogged(t, &log, "could not be understood", 1)
}

// wantSetAside checks which texts of a file were set aside, in this order.
func wantSetAside(t *testing.T, f *File, want ...string) {
	t.Helper()
	kept, err := filepath.Glob(f.path + ".broken-*")
	must(t, err)
	slices.Sort(kept)
	if len(kept) != len(want) {
		t.Fatalf("set aside: %q", kept)
	}
	for i, path := range kept {
		wantOnDisk(t, path, want[i])
	}
}

func TestTwoBrokenFilesAreBothKept(t *testing.T) {
	f := Open(t.TempDir(), "state.json", Options{})
	for _, text := range []string{"one", "two"} {
		must(t, os.WriteFile(f.path, []byte(text), 0o600))
		must(t, f.Update(add("1")))
	}
	wantSetAside(t, f, "one", "two")
}

func TestTextOfANewerHubIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	const newer = `{"version": 9}`
	must(t, os.WriteFile(statePath(dir), []byte(newer), 0o600))
	var log bytes.Buffer
	o := logTo(&log)
	o.Version = 8
	f := Open(dir, "state.json", o)
	_, err := f.Read()
	wantError(t, err, errNewer)
	for range 2 {
		wantError(t, f.Update(add("1")), errNewer)
	}
	wantOnDisk(t, f.path, newer)
	wantSetAside(t, f)
	wantLogged(t, &log, "update this hub, or move the file away", 2) // once for reading, once for writing
	must(t, os.Rename(f.path, f.path+".away"))
	must(t, f.Update(add("1")))
	wantOnDisk(t, f.path, `["1"]`)
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
