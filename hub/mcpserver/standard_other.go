//go:build !unix

package mcpserver

import "os"

// withoutBlocking is supported on Unix only.
func withoutBlocking(*os.File, int) (own *os.File, close func() error, ok bool) {
	return nil, nil, false
}
