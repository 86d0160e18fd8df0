package doortest

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Death observes one process, which need not be a child. A later process with the same pid is not mistaken for it.
type Death struct {
	pid int
	fd  int
}

// Watch starts to observe a living process. At the end of the test the process is killed if it is still alive.
func Watch(t testing.TB, pid int) *Death {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	d := &Death{pid: pid, fd: fd}
	t.Cleanup(func() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		_ = unix.Close(fd)
	})
	return d
}

// Wait waits for the death of the process. bound only matters if the test fails. A zombie counts as dead.
func (d *Death) Wait(t testing.TB, bound time.Duration) {
	t.Helper()
	if !d.within(t, bound) {
		t.Fatalf("process %d still lives after %v", d.pid, bound)
	}
}

// Alive reports whether the process is alive.
func (d *Death) Alive(t testing.TB) bool {
	t.Helper()
	return !d.within(t, 0)
}

func (d *Death) within(t testing.TB, bound time.Duration) bool {
	t.Helper()
	end := time.Now().Add(bound)
	for {
		left := max(time.Until(end), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return n > 0
	}
}
