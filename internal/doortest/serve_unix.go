//go:build unix

package doortest

import (
	"bufio"
	"os/exec"
	"syscall"
	"testing"
)

// Serve starts a program that serves until the end of the test, which ends it with SIGTERM and expects an end in order.
// It returns the standard output of the program, on which it says where it serves.
func Serve(t testing.TB, cmd *exec.Cmd) *bufio.Reader {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = t.Output()
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q ended: %v", cmd.Args, err)
		}
	})
	return bufio.NewReader(out)
}
