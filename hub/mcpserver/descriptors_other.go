//go:build !unix

package mcpserver

import (
	"net"
	"os"
)

// pendingError is not known here: a call whose client has closed before its round came waits for Bounds.Retry.
func pendingError(net.Conn) bool { return false }

// withoutBlocking is supported on Unix only.
func withoutBlocking(*os.File, int) (own *os.File, close func() error, ok bool) {
	return nil, nil, false
}
