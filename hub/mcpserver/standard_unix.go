//go:build unix

package mcpserver

import (
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// withoutBlocking gives a file of its own for the pipe or the socket that f is, which the runtime polls; close gives
// back what it took. Everything else is false: a terminal is shared with others, and a file on the disk never blocks.
//
// Whether a descriptor blocks is a property of what all its copies share. Linux opens a pipe anew, with a property of
// its own. The end of a socket that a client has made for this process is nobody else's; it is put back all the same.
// A pipe on other systems may be shared with the other programs of a shell's line, and is left as it is.
func withoutBlocking(f *os.File, access int) (own *os.File, close func() error, ok bool) {
	stat, err := f.Stat()
	if err != nil {
		return nil, nil, false
	}
	fd := -1
	raw, err := f.SyscallConn() // Fd would make it block
	if err != nil || raw.Control(func(d uintptr) { fd = int(d) }) != nil {
		return nil, nil, false
	}
	switch mode := stat.Mode(); {
	case mode&os.ModeNamedPipe != 0 && runtime.GOOS == "linux":
		own, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), access|unix.O_NONBLOCK, 0)
		if err != nil { // it belongs to another user, say
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
