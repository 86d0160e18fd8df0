//go:build !unix

package mcpserver

import "os"

// withoutBlocking: only Unix has it.
func withoutBlocking(*os.File, int) (own *os.File, close func() error, ok bool) {
	return nil, nil, false
}
