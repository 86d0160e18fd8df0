//go:build unix

package mcpserver

import (
	"net"
	"syscall"
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
