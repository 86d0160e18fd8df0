package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

func thingsOn(d *trace, dir string, log *bytes.Buffer) *List[string, entry] {
	l := openThings(dir, log)
	l.file.o.at = d.step
	return l
}

func ids(l *List[string, entry]) []string { return slices.Sorted(maps.Keys(l.All())) }

func wantIDs(t *testing.T, what string, l *List[string, entry], want ...string) {
	t.Helper()
	if got := ids(l); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// wantIDsOnDisk reads the file as another hub would.
func wantIDsOnDisk(t *testing.T, what, dir string, want ...string) {
	t.Helper()
	other := openThings(dir, &bytes.Buffer{})
	other.Refresh()
	wantIDs(t, what+", on disk", other, want...)
}

// Whatever step fails: the disk has the old text or the new one, the change holds here, and the next change brings both
// to the disk.
func TestDiskThatFailsAtAnyStepLosesNothing(t *testing.T) {
	texts := map[string]string{"nothing": "", "broken text": `{"old`,
		"text": `{"version":3,"things":[{"id":"old","at":"2026-01-01T00:00:00Z"}]}`}
	for what, old := range texts {
		for _, lasting := range []bool{false, true} { // one step, or this one and all later ones, as in a crash
			name := fmt.Sprintf("over %s, lasting %t", what, lasting)
			t.Run(name, func(t *testing.T) {
				t.Parallel() // what it waits for is the disk
				clean := 0
				for step := 1; clean == 0; step++ {
					if step > 50 {
						t.Fatal("no end of steps")
					}
					if !failsAt(t, name, old, step, lasting) {
						clean = step
					}
					updateFailsAt(t, name, step, lasting)
				}
				if clean < 9 {
					t.Errorf("%s: only %d steps", name, clean-1)
				}
			})
		}
	}
}

// failing is a disk of which a step fails, while *sick, and where that was.
func failing(at int, lasting bool) (d *trace, sick *bool, where *string) {
	sick, where = new(bool), new(string)
	*sick = true
	d = &trace{at: func(step int, name string) error {
		if *sick && (step == at || lasting && step > at) {
			if *where == "" {
				*where = name
			}
			return noSpace()
		}
		return nil
	}}
	return d, sick, where
}

// failsAt checks a change of a list on a disk that fails at a step, and tells whether there was such a step.
func failsAt(t *testing.T, name, old string, at int, lasting bool) (failed bool) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, things.File)
	d, sick, where := failing(at, lasting)
	before := []string{}
	if old != "" {
		must(t, os.WriteFile(path, []byte(old), 0o600))
	}
	if strings.Contains(old, `"id":"old"`) {
		before = []string{"old"}
	}
	l := thingsOn(d, dir, &bytes.Buffer{})
	l.add(at3("new"))
	*sick = false
	what := fmt.Sprintf("%s at %s", name, *where)
	onDisk, readErr := os.ReadFile(path)
	aside := readErr != nil && *where == "rename" && old == `{"old` // the step before was to set the broken text aside
	if string(onDisk) == old || aside {
		if len(l.unsaved) == 0 {
			t.Errorf("%s: a change that is not on the disk counts as saved", what)
		}
	} else {
		wantIDsOnDisk(t, what, dir, slices.Sorted(slices.Values(append(before, "new")))...)
	}
	if old != "" && readErr != nil && !aside {
		t.Errorf("%s: the file is gone: %v", what, readErr)
	}
	if _, ok := l.Get("new"); !ok {
		t.Errorf("%s: the change does not hold", what)
	}
	l.add(at3("later"))
	want := slices.Sorted(slices.Values(append(before, "later", "new")))
	wantIDs(t, what, l, want...)
	wantIDsOnDisk(t, what, dir, want...)
	if len(l.unsaved) != 0 {
		t.Errorf("%s: %d are not saved at the end", what, len(l.unsaved))
	}
	if copies, _ := filepath.Glob(path + ".broken-*"); old == `{"old` && len(copies) != 1 {
		t.Errorf("%s: copies of the broken text: %q", what, copies)
	}
	return *where != ""
}

func at3(id string) entry { return at(id, "", 3) }

// updateFailsAt is the same for a change of a plain text: its error says why, and the file is as it was.
func updateFailsAt(t *testing.T, name string, at int, lasting bool) {
	t.Helper()
	d, _, where := failing(at, lasting)
	dir := t.TempDir()
	must(t, os.WriteFile(statePath(dir), []byte(`["old"]`), 0o600))
	err := Open(dir, "state.json", Options{at: d.step}).Update(add("new"))
	next := `["old","new"]`
	if err != nil {
		next = `["old"]`
		if !errors.Is(err, noSpace()) {
			t.Errorf("%s at %s: the error is %v", name, *where, err)
		}
	}
	wantOnDisk(t, statePath(dir), next)
	if _, err := os.Lstat(statePath(dir) + ".new"); err == nil {
		t.Errorf("%s at %s: half a file is left", name, *where)
	}
}

func TestNoDirectoryIsMemoryOnly(t *testing.T) {
	var log bytes.Buffer
	l := openThings("", &log)
	for i := range 3 * things.Max {
		l.add(at(fmt.Sprintf("%03d", i), "", i))
	}
	if l.count() != things.Max || len(l.unsaved) != 0 {
		t.Errorf("%d entries, %d to be saved", l.count(), len(l.unsaved))
	}
	if newest := fmt.Sprintf("%03d", 3*things.Max-1); !l.remove(newest) || l.remove(newest) {
		t.Error("the newest was not removed once")
	}
	wantLogged(t, &log, "level=WARN", 0)
	f := Open("", "state.json", Options{})
	wantError(t, f.Update(add("1")), ErrNoPlace)
	wantRead(t, f, "")
}

// The real thing: places where nobody can make a directory, root included.
func TestUnwritableDirectoryIsMemoryOnly(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	must(t, os.WriteFile(plain, nil, 0o600))
	dirs := []string{filepath.Join(plain, "state")}
	if runtime.GOOS == "linux" {
		dirs = append(dirs, "/proc/self/mcphub", "/sys/mcphub")
	}
	if os.Geteuid() > 0 {
		closed := t.TempDir()
		must(t, os.Chmod(closed, 0o500))
		dirs = append(dirs, filepath.Join(closed, "state"))
	}
	for _, dir := range dirs {
		var log bytes.Buffer
		l := openThings(dir, &log)
		l.add(at("1", "", 1))
		l.add(at("2", "", 2))
		l.Refresh()
		wantIDs(t, dir, l, "1", "2")
		wantLogged(t, &log, "cannot be written", 1)
		err := Open(dir, "state.json", Options{}).Update(add("1"))
		if err == nil {
			t.Errorf("%s can be written to", dir)
		}
	}
}

func TestHeldBackChangesMeetThoseOfOtherHubs(t *testing.T) {
	dir, sick := t.TempDir(), true
	d := &trace{at: func(_ int, name string) error {
		if sick && name == "sync" {
			return noSpace()
		}
		return nil
	}}
	var log bytes.Buffer
	one, two := thingsOn(d, dir, &log), openThings(dir, &bytes.Buffer{})
	one.add(at3("a"))
	two.add(at3("x"))
	one.add(at3("b"))
	one.Refresh()
	wantIDs(t, "held back", one, "a", "b", "x")
	wantIDsOnDisk(t, "held back", dir, "x")
	two.add(at3("y"))
	sick = false
	one.add(at3("c"))
	wantIDsOnDisk(t, "written", dir, "a", "b", "c", "x", "y")
	wantLogged(t, &log, "cannot be written", 1)
	wantLogged(t, &log, "can be written again", 1)
}

// A disk that never takes anything costs a bounded memory: of what is put, and of what is taken out again.
func TestFullDiskCostsBoundedMemory(t *testing.T) {
	d := &trace{at: func(_ int, name string) error {
		if name == "create" {
			return syscall.EROFS
		}
		return nil
	}}
	l := thingsOn(d, t.TempDir(), &bytes.Buffer{})
	for i := range 3 * things.Max {
		id := fmt.Sprintf("%03d", i)
		l.add(at(id, "", i))
		if l.add(at("short-lived "+id, "", i)); !l.remove("short-lived " + id) {
			t.Errorf("%s was not removed", id)
		}
	}
	if l.count() != things.Max-1 && l.count() != things.Max || len(l.unsaved) > things.Max {
		t.Errorf("%d entries, %d to be saved", l.count(), len(l.unsaved))
	}
	if _, ok := l.Get(fmt.Sprintf("%03d", 3*things.Max-1)); !ok {
		t.Error("the newest was forgotten")
	}
}

// Changes hold at once while the disk hangs, and are written when it is back.
func TestChangesHoldWhileTheDiskHangs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := &trace{at: func(_ int, name string) error {
			if name == "makeDir" {
				<-hang
			}
			return nil
		}}
		l := thingsOn(d, dir, &bytes.Buffer{})
		first := make(chan struct{})
		go func() { defer close(first); l.add(at3("first")) }()
		synctest.Wait()
		l.add(at3("second")) // returns
		wantIDs(t, "meanwhile", l, "first", "second")
		close(hang)
		<-first
		wantIDsOnDisk(t, "afterwards", dir, "first", "second")
	})
}
