//go:build unix && !linux

package doortest

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

// Death observes one process, which need not be a child.
type Death struct{ pid int }

// Watch starts to observe a living process. At the end of the test the process is killed if it is still alive.
func Watch(t testing.TB, pid int) *Death {
	t.Helper()
	d := &Death{pid: pid}
	if !d.Alive(t) {
		t.Fatalf("process %d is gone", pid)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return d
}

// Wait waits for the death of the process. bound only matters if the test fails. Without Linux's process descriptors
// there is nothing to wait on for a process that is not a child, so it polls.
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

// Alive reports whether the process is alive.
func (d *Death) Alive(testing.TB) bool { return !errors.Is(syscall.Kill(d.pid, 0), syscall.ESRCH) }
