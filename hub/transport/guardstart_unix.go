//go:build unix

package transport

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const guardable = true

// startGuard starts a guard in a session of its own, which no signal to the hub's
// group or terminal reaches. It holds nothing of the host: no stream (nobody waits
// for its end), no directory, no variable, least of all a marker of a hub that
// this hub is a server of. It is no child of a death: PR_SET_PDEATHSIG is not set.
func startGuard(command []string) (*guardProcess, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	g := &guardProcess{in: in, gone: make(chan struct{})}
	g.cmd = &exec.Cmd{
		Path:        command[0],
		Args:        command,
		Env:         []string{"GOMAXPROCS=1"}, // fewer threads: it mostly waits
		Dir:         "/",
		Stdin:       out,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	closeOnExec()
	if err := g.cmd.Start(); err != nil {
		_ = in.Close()
		return nil, err
	}
	return g, nil
}

// writeNow writes what the pipe takes right now, tells how much that was, and never waits. Up to PIPE_BUF bytes go
// whole or not at all.
func writeNow(pipe *os.File, b []byte) (n int) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Write(func(fd uintptr) bool {
		for {
			if n, err = unix.Write(int(fd), b); err != unix.EINTR {
				return true // in every case: RawConn must not wait until there is room
			}
		}
	})
	return max(n, 0)
}
