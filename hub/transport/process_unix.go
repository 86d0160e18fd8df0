//go:build unix

package transport

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// contain gives the child a process group of its own, so that signals reach
// everything that it starts, and so that a Ctrl-C in the hub's terminal, which
// goes to the whole foreground group, does not reach it past the hub.
//
// A session of its own is a group, too, and has no terminal at all.
func contain(cmd *exec.Cmd, alone bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !alone, Setsid: alone}
	dieWithHub(cmd.SysProcAttr)
}

// signal sends to the whole group. ESRCH (nobody there) and EPERM (members that
// changed their user) both show in empty, so the error says nothing more.
func (g *group) signal(s syscall.Signal) { _ = unix.Kill(-g.id, s) }

// terminate asks the group to end. A stopped process (SIGSTOP, a debugger) gets
// to see SIGTERM only when it is continued.
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

// killGroup kills a group of a hub that is dead. The caller has made sure that
// the number is not a stranger's.
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

// lookPath finds a program in the child's PATH, not in the hub's. Relative
// folders are passed over, as os/exec does: what they hold is up to whoever
// wrote the current directory.
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

// fullName gives the name of the file that is executed for a path that resolve gave: the same.
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

// readNow reads without waiting; 0 means that the pipe is empty or ended. It goes
// around the deadline that made the ordinary Read give up.
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
