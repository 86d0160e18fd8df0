//go:build unix

package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// contain gives the child a process group of its own, so that signals reach everything that it starts, and so that a
// Ctrl-C in the hub's terminal, which goes to the whole foreground group, does not reach it past the hub.
//
// If alone is set, the child gets a session of its own. That is also a process group, and has no terminal.
func contain(cmd *exec.Cmd, alone bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !alone, Setsid: alone}
	dieWithHub(cmd.SysProcAttr)
}

// signal sends s to the whole group. Its error is ignored, since empty also shows what it would say: ESRCH (no member)
// and EPERM (members that changed their user).
func (g *group) signal(s syscall.Signal) { _ = unix.Kill(-g.id, s) }

// terminate asks the group to end, and returns true. It also sends SIGCONT, since a stopped process (SIGSTOP, a
// debugger) receives SIGTERM only when it is continued.
func (g *group) terminate() bool {
	g.signal(unix.SIGTERM)
	g.signal(unix.SIGCONT)
	g.signalStrays(unix.SIGTERM, unix.SIGCONT)
	return true
}

func (g *group) kill() {
	g.signal(unix.SIGKILL)
	g.signalStrays(unix.SIGKILL)
}

// killGroup kills a process group of a dead hub. The caller must have made sure that the number is not that of a
// foreign group.
func killGroup(id int) {
	if id > 1 { // 0 would be our own group, -1 everybody
		_ = unix.Kill(-id, unix.SIGKILL)
	}
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// lookPath finds a program in the child's PATH, not in the hub's. It skips relative folders, as os/exec does: their
// content is up to whoever wrote the current directory.
func lookPath(name, path string) (string, error) {
	found := error(fs.ErrNotExist)
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		switch err := executable(file); {
		case err == nil:
			return file, nil
		case errors.Is(err, fs.ErrPermission):
			found = err
		}
	}
	return "", found
}

// fullName returns the name of the file that is executed for a path from resolve. On Unix that is the path itself.
func fullName(path string) (string, error) { return path, nil }

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// readNow reads without blocking. It returns 0 if the pipe is empty or has ended. It bypasses the deadline that made
// the ordinary Read give up.
func readNow(raw syscall.RawConn, b []byte) (n int) {
	if raw == nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		for {
			var err error
			if n, err = unix.Read(int(fd), b); err != unix.EINTR {
				return
			}
		}
	})
	return max(n, 0)
}

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

const (
	firstInherited = 3
	// maxDescriptors bounds the loop on systems without a directory that lists the open descriptors.
	maxDescriptors = 1 << 16
)

// closeEachOnExec sets the flag on one descriptor after the other. Descriptors that are opened meanwhile are opened by
// Go, with the flag.
func closeEachOnExec() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} { // Linux, macOS
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) <= firstInherited {
			continue
		}
		for _, e := range entries {
			if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= firstInherited {
				unix.CloseOnExec(fd)
			}
		}
		return
	}
	var limit unix.Rlimit
	most := uint64(maxDescriptors)
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		most = min(most, uint64(limit.Cur))
	}
	for fd := firstInherited; fd < int(most); fd++ {
		unix.CloseOnExec(fd)
	}
}
