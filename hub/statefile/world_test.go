package statefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// add is the change that the tests make: it adds an entry to a JSON list of strings.
func add(entry string) Change {
	return func(old []byte) ([]byte, error) {
		var list []string
		if old != nil {
			if err := json.Unmarshal(old, &list); err != nil {
				return nil, err
			}
		}
		if slices.Contains(list, entry) {
			return nil, nil
		}
		return json.Marshal(append(list, entry))
	}
}

func wantRead(t *testing.T, f *File, want string) {
	t.Helper()
	if got, err := f.Read(); err != nil || string(got) != want {
		t.Errorf("read %q (%v), want %q", got, err, want)
	}
}

func wantOnDisk(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the disk has %q (%v), want %q", got, err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func logTo(buf *bytes.Buffer) Options {
	return Options{Logger: slog.New(slog.NewTextHandler(buf, nil))}
}

func wantLogged(t *testing.T, buf *bytes.Buffer, text string, times int) {
	t.Helper()
	if got := strings.Count(buf.String(), text); got != times {
		t.Errorf("%q was logged %d times, want %d:\n%s", text, got, times, buf)
	}
}

// stepDisk is the real disk, of which every step can fail or hang. Steps are counted from 1.
type stepDisk struct {
	systemDisk
	at func(step int, name string) error // of each step, before it is made; an error makes it fail

	mu    sync.Mutex // guards steps
	steps []string
}

var _ disk = (*stepDisk)(nil)

func (d *stepDisk) step(name string) error {
	d.mu.Lock()
	d.steps = append(d.steps, name)
	n := len(d.steps)
	d.mu.Unlock()
	if d.at == nil {
		return nil
	}
	return d.at(n, name)
}

func (d *stepDisk) count(name string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.steps {
		if s == name {
			n++
		}
	}
	return n
}

func (d *stepDisk) makeDir(dir string, log *slog.Logger) error {
	if err := d.step("makeDir"); err != nil {
		return err
	}
	return d.systemDisk.makeDir(dir, log)
}

func (d *stepDisk) lock(ctx context.Context, path string) (func(), error) {
	if err := d.step("lock"); err != nil {
		return nil, err
	}
	return d.systemDisk.lock(ctx, path)
}

func (d *stepDisk) lockFolder(ctx context.Context, folder string) (func(), error) {
	if err := d.step("lockFolder"); err != nil {
		return nil, err
	}
	return d.systemDisk.lockFolder(ctx, folder)
}

func (d *stepDisk) stat(path string) (fs.FileInfo, error) {
	if err := d.step("stat"); err != nil {
		return nil, err
	}
	return d.systemDisk.stat(path)
}

func (d *stepDisk) read(path string) ([]byte, fs.FileInfo, error) {
	if err := d.step("read"); err != nil {
		return nil, nil, err
	}
	return d.systemDisk.read(path)
}

func (d *stepDisk) create(path string) (newFile, error) {
	if err := d.step("create"); err != nil {
		return nil, err
	}
	f, err := d.systemDisk.create(path)
	return &stepFile{f, d}, err
}

func (d *stepDisk) rename(from, to string) error {
	if err := d.step("rename"); err != nil {
		return err
	}
	return d.systemDisk.rename(from, to)
}

func (d *stepDisk) remove(path string) error {
	if err := d.step("remove"); err != nil {
		return err
	}
	return d.systemDisk.remove(path)
}

func (d *stepDisk) syncDir(path string) {
	if d.step("syncDir") == nil {
		d.systemDisk.syncDir(path)
	}
}

type stepFile struct {
	newFile
	d *stepDisk
}

// Write that fails has written half, as on a disk that becomes full.
func (f *stepFile) Write(text []byte) (int, error) {
	n, err := f.newFile.Write(text[:len(text)/2])
	if failed := errors.Join(f.d.step("write"), err); failed != nil {
		return n, failed
	}
	m, err := f.newFile.Write(text[len(text)/2:])
	return n + m, err
}

func (f *stepFile) Sync() error {
	if err := f.d.step("sync"); err != nil {
		return err
	}
	return f.newFile.Sync()
}

func (f *stepFile) Chmod(mode fs.FileMode) error {
	if err := f.d.step("chmod"); err != nil {
		return err
	}
	return f.newFile.Chmod(mode)
}

func (f *stepFile) Close() error {
	return errors.Join(f.d.step("close"), f.newFile.Close())
}

// entries returns what the list at path holds, and fails when it is no whole list.
func entries(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return list
}

func statePath(dir string) string { return filepath.Join(dir, "state.json") }

func entryName(who, n int) string { return fmt.Sprintf("%d/%d", who, n) }

// noSpace is the error of a full disk, by the number that the system gives it: ERROR_DISK_FULL on Windows.
func noSpace() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(112)
	}
	return syscall.ENOSPC
}
