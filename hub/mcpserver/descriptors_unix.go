//go:build unix

package mcpserver

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// pendingError reports whether a connection has failed in a way that no call has returned yet.
func pendingError(c net.Conn) bool {
	s, is := c.(syscall.Conn)
	if !is {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	failed := false
	_ = raw.Control(func(fd uintptr) { // fails if c is closed
		code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		failed = err == nil && code != 0
	})
	return failed
}

// withoutBlocking returns a file of its own for the pipe or the socket f, which the runtime polls. close undoes what it
// did. ok is false for everything else: a terminal is shared with other programs, and a file on the disk never blocks.
//
// Whether a descriptor blocks is a property that all its copies share. Linux can open a pipe again, with a property of
// its own. Our end of a socket that a client has made for this process is not shared; the property is restored all the
// same. A pipe on other systems may be shared with the other programs of a shell's pipeline, and is left as it is.
func withoutBlocking(f *os.File, access int) (own *os.File, close func() error, ok bool) {
	stat, err := f.Stat()
	if err != nil {
		return nil, nil, false
	}
	fd := -1
	raw, err := f.SyscallConn() // Fd would make it blocking
	if err != nil || raw.Control(func(d uintptr) { fd = int(d) }) != nil {
		return nil, nil, false
	}
	switch mode := stat.Mode(); {
	case mode&os.ModeNamedPipe != 0 && runtime.GOOS == "linux":
		own, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), access|unix.O_NONBLOCK, 0)
		if err != nil { // for example, it belongs to another user
			return nil, nil, false
		}
		return own, own.Close, true
	case mode&os.ModeSocket != 0:
		return socketWithoutBlocking(fd, f.Name())
	}
	return nil, nil, false
}

func socketWithoutBlocking(fd int, name string) (own *os.File, close func() error, ok bool) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, nil, false
	}
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, false
	}
	if err := unix.SetNonblock(copied, true); err != nil {
		_ = unix.Close(copied)
		return nil, nil, false
	}
	own = os.NewFile(uintptr(copied), name)
	return own, func() error {
		err := own.Close()
		if flags&unix.O_NONBLOCK == 0 {
			err = errors.Join(err, unix.SetNonblock(fd, false))
		}
		return err
	}, true
}
