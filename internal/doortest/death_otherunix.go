//go:build unix && !linux

package doortest

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

// Death is sight of one process, child of ours or not.
type Death struct{ pid int }

// Watch opens sight of a living process. With the end of the test the process is killed, if it still lives.
func Watch(t testing.TB, pid int) *Death {
	t.Helper()
	d := &Death{pid: pid}
	if !d.Alive(t) {
		t.Fatalf("process %d is gone", pid)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return d
}

// Wait waits for the death. The bound is for a test that fails. Without Linux's process descriptors there is nothing to
// wait on for a process that is no child of ours, so it looks again and again.
func (d *Death) Wait(t testing.TB, bound time.Duration) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	end := time.After(bound)
	for d.Alive(t) {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("process %d still lives after %v", d.pid, bound)
		}
	}
}

// Alive tells whether the process lives now.
func (d *Death) Alive(testing.TB) bool { return !errors.Is(syscall.Kill(d.pid, 0), syscall.ESRCH) }
