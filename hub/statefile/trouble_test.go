package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever step fails, for whatever reason: the disk has the old text or the new one, the change holds here, and the
// next change brings both to the disk.
func TestDiskThatFailsAtAnyStepLosesNothing(t *testing.T) {
	failures := []struct{ err, want error }{
		{syscall.ENOSPC, ErrFull}, {syscall.EDQUOT, ErrFull}, {syscall.EROFS, ErrReadOnly}, {syscall.EACCES, ErrReadOnly},
		{syscall.EIO, syscall.EIO},
	}
	texts := map[string]string{"nothing": "", "a text": `["old"]`, "a broken text": `{"old`}
	for _, failure := range failures {
		for what, old := range texts {
			for _, lasting := range []bool{false, true} { // one step, or this one and all later ones, as in a crash
				name := fmt.Sprintf("%v over %s, lasting %t", failure.err, what, lasting)
				t.Run(name, func(t *testing.T) {
					t.Parallel() // what it waits for is the disk
					clean := 0
					for step := 1; clean == 0; step++ {
						if step > 50 {
							t.Fatal("no end of steps")
						}
						if !failsAt(t, name, old, step, lasting, failure.err, failure.want) {
							clean = step
						}
					}
					if clean < 9 {
						t.Errorf("%s: only %d steps", name, clean-1)
					}
				})
			}
		}
	}
}

// failsAt says whether there was such a step.
func failsAt(t *testing.T, name, old string, at int, lasting bool, failure, want error) (failed bool) {
	t.Helper()
	dir, where, sick := t.TempDir(), "", true
	d := &stepDisk{at: func(step int, name string) error {
		if sick && (step == at || lasting && step > at) {
			if !failed {
				failed, where = true, name
			}
			return failure
		}
		return nil
	}}
	if old != "" {
		must(t, os.WriteFile(statePath(dir), []byte(old), 0o600))
	}
	f := openOn(d, dir, "state.json", Options{})
	err := f.Update(add("new"))
	sick = false

	next := `["new"]`
	if old == `["old"]` {
		next = `["old","new"]`
	}
	onDisk, readErr := os.ReadFile(statePath(dir))
	switch {
	case err == nil && string(onDisk) != next:
		t.Errorf("%s at %s: no error, and the disk has %q", name, where, onDisk)
	case err != nil && string(onDisk) != old:
		t.Errorf("%s at %s: %v, and the disk has %q", name, where, err, onDisk)
	case err != nil && !errors.Is(err, want):
		t.Errorf("%s at %s: the error is %v, want %v", name, where, err, want)
	case old != "" && readErr != nil:
		t.Errorf("%s at %s: the file is gone: %v", name, where, readErr)
	}
	if got := f.Persistent(); got != (err == nil) {
		t.Errorf("%s at %s: error %v, persistent %t", name, where, err, got)
	}
	if text, _ := f.Read(); string(text) != next {
		t.Errorf("%s at %s: %q holds, want %q", name, where, text, next)
	}
	if err := f.Update(add("later")); err != nil {
		t.Errorf("%s at %s: the next change: %v", name, where, err)
	}
	wantOnDisk(t, statePath(dir), next[:len(next)-1]+`,"later"]`)
	if !f.Persistent() {
		t.Errorf("%s at %s: not persistent at the end", name, where)
	}
	if copies, _ := filepath.Glob(statePath(dir) + ".broken-*"); old == `{"old` && len(copies) != 1 {
		t.Errorf("%s at %s: copies of the broken text: %q", name, where, copies)
	}
	return failed
}

func TestNoDirectoryIsMemoryOnly(t *testing.T) {
	var log bytes.Buffer
	f := Open("", "state.json", logTo(&log))
	must(t, f.Update(add("1")))
	must(t, f.Update(add("2")))
	wantRead(t, f, `["1","2"]`)
	refusal := errors.New("no")
	if err := f.Update(func([]byte) ([]byte, error) { return nil, refusal }); err != refusal {
		t.Errorf("the error is %v", err)
	}
	if f.Persistent() || f.Path() != "" {
		t.Errorf("persistent %t, path %q", f.Persistent(), f.Path())
	}
	wantLogged(t, &log, "level=WARN", 1)
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
		f := Open(dir, "state.json", logTo(&log))
		err := f.Update(add("1"))
		if err == nil {
			t.Errorf("%s can be written to", dir)
		}
		if dir == "/sys/mcphub" {
			wantError(t, err, ErrReadOnly)
		}
		if err := f.Update(add("2")); err == nil {
			t.Errorf("%s can be written to", dir)
		}
		if text, _ := f.Read(); string(text) != `["1","2"]` || f.Persistent() {
			t.Errorf("%s: %q holds, persistent %t", dir, text, f.Persistent())
		}
		wantLogged(t, &log, "level=WARN", 1)
	}
}

func TestHeldBackChangesMeetThoseOfOtherHubs(t *testing.T) {
	dir, sick := t.TempDir(), true
	d := &stepDisk{at: func(_ int, name string) error {
		if sick && name == "sync" {
			return syscall.ENOSPC
		}
		return nil
	}}
	var log bytes.Buffer
	one, two := openOn(d, dir, "state.json", logTo(&log)), Open(dir, "state.json", Options{})
	wantError(t, one.Update(add("a")), ErrFull)
	must(t, two.Update(add("x")))
	wantError(t, one.Update(add("b")), ErrFull)
	wantRead(t, one, `["x","a","b"]`)
	wantOnDisk(t, statePath(dir), `["x"]`)
	must(t, two.Update(add("y")))
	sick = false
	must(t, one.Update(add("c")))
	wantOnDisk(t, statePath(dir), `["x","y","a","b","c"]`)
	wantLogged(t, &log, "cannot be written", 1)
	wantLogged(t, &log, "can be written again", 1)
}

// While a Read is on its way to the disk, what was held back gets there: it must not count twice.
func TestReadAmidAWriteOfWhatWasHeldBack(t *testing.T) {
	more := func(old []byte) ([]byte, error) { return append(bytes.Clone(old), "1 "...), nil }
	var f *File
	sick, amid := true, false
	d := &stepDisk{at: func(_ int, name string) error {
		switch {
		case sick && name == "create":
			return syscall.ENOSPC
		case amid && name == "stat":
			amid = false
			return f.Update(more)
		}
		return nil
	}}
	f = openOn(d, t.TempDir(), "state.json", Options{Check: func([]byte) error { return nil }})
	wantError(t, f.Update(more), ErrFull)
	wantRead(t, f, "1 ")
	sick, amid = false, true
	wantRead(t, f, "1 1 ")
	wantOnDisk(t, f.Path(), "1 1 ")
}

func TestDiskIsGivenUpAfterManyFailures(t *testing.T) {
	dir := t.TempDir()
	d := &stepDisk{at: func(_ int, name string) error {
		if name == "create" {
			return syscall.EROFS
		}
		return nil
	}}
	f := openOn(d, dir, "state.json", Options{})
	var want []string
	for i := range maxPending + 10 {
		want = append(want, fmt.Sprintf("%q", fmt.Sprint(i)))
		err := f.Update(add(fmt.Sprint(i)))
		if i <= maxPending {
			wantError(t, err, ErrReadOnly)
		} else {
			must(t, err)
		}
	}
	wantRead(t, f, "["+string(bytes.Join(split(want), []byte(",")))+"]")
	if n := d.count("create"); n != maxPending+1 || len(f.pending) != 0 || f.Persistent() {
		t.Errorf("tried %d times, %d pending, persistent %t", n, len(f.pending), f.Persistent())
	}
}

func split(all []string) (parts [][]byte) {
	for _, s := range all {
		parts = append(parts, []byte(s))
	}
	return parts
}

// A hub whose own disk hangs still takes decisions: they hold, in order, and are written when the disk is back.
func TestChangesHoldWhileTheDiskHangs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := &stepDisk{at: func(_ int, name string) error {
			if name == "makeDir" {
				<-hang
			}
			return nil
		}}
		f := openOn(d, dir, "state.json", Options{})
		first := make(chan error, 1)
		go func() { first <- f.Update(add("first")) }()
		synctest.Wait()
		begin := time.Now()
		wantError(t, f.Update(add("second")), ErrBusy)
		if d := time.Since(begin); d != DefaultWait {
			t.Errorf("waited %v, want %v", d, DefaultWait)
		}
		wantRead(t, f, `["second"]`)
		close(hang)
		if err := <-first; err != nil && !errors.Is(err, ErrBusy) {
			t.Errorf("the first change: %v", err)
		}
		must(t, f.Update(add("third")))
		list := entries(t, statePath(dir))
		slices.Sort(list)
		if !slices.Equal(list, []string{"first", "second", "third"}) {
			t.Errorf("the disk has %q", list)
		}
	})
}
