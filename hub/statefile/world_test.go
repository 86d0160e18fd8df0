package statefile

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// trace records the steps that are made on the disk, counted from 1, and can make each fail or hang.
type trace struct {
	at func(step int, name string) error // of each step, before it is made; an error makes it fail

	mu    sync.Mutex // guards steps
	steps []string
}

func (d *trace) step(name string) error {
	d.mu.Lock()
	d.steps = append(d.steps, name)
	n := len(d.steps)
	d.mu.Unlock()
	if d.at == nil {
		return nil
	}
	return d.at(n, name)
}

func (d *trace) count(name string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.steps {
		if s == name {
			n++
		}
	}
	return n
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
