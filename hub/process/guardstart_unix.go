//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const guardable = true

// startGuard starts a guard in a session of its own, which no signal to the hub's group or terminal reaches. The guard
// keeps nothing of the host open or in use: no stream, for whose end somebody may wait; no working directory; and no
// variable, least of all the marker of another hub whose server this hub is. PR_SET_PDEATHSIG is not set, since the
// guard has to outlive the hub.
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

// writeNow writes as much as the pipe accepts without blocking, and returns how many bytes that was. Up to PIPE_BUF
// bytes are written whole or not at all.
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
