package process

import (
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// leak opens a descriptor that a program started by this one would inherit, as an editor leaves them to the hub.
func leak(t *testing.T) {
	t.Helper()
	const number = 200
	fd, err := unix.Open(t.TempDir(), unix.O_RDONLY, 0)
	if err == nil {
		err = unix.Dup3(fd, number, 0)
		_ = unix.Close(fd)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(number) })
}

// Descriptors of the hub's own parent do not reach a server. Finding C5.
func TestServersInheritThreeDescriptors_real(t *testing.T) {
	leak(t)
	// The shell opens none of its own but the script's, and the folder is listed by the shell itself.
	p,
		err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "for fd in /proc/self/fd/*; do echo $fd; done; exec cat"},
		Grace: short})
	if err != nil {
		t.Fatal(err)
	}
	go p.Stop("the test is over")
	out, err := io.ReadAll(p.Stdout())
	if err != nil || !strings.Contains(string(out), "/fd/2\n") || strings.Contains(string(out), "/fd/200\n") {
		t.Errorf("a server has %q, %v", out, err)
	}
}

// The fallback for kernels without close_range has the same effect. Finding C5.
func TestEachDescriptorIsClosedOnExec(t *testing.T) {
	leak(t)
	closeEachOnExec()
	if flags, err := unix.FcntlInt(200, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %x, %v", flags, err)
	}
}
