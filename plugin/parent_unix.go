//go:build unix

package plugin

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// parentAtStart is read as early as Go code can, since the parent may die while this process starts.
var parentAtStart = os.Getppid()

// newParent returns a function that tells whether the process that spawned this one is gone. An orphan gets another
// parent: init, or the nearest subreaper. A parent that died before parentAtStart was read is missed by that; a host
// that named its process is looked up as well.
func newParent() func() bool {
	host, err := strconv.Atoi(os.Getenv(handshake.EnvHostPID))
	named := err == nil && host > 0
	return func() bool {
		return os.Getppid() != parentAtStart || named && errors.Is(syscall.Kill(host, 0), syscall.ESRCH)
	}
}
