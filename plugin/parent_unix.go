//go:build unix

package plugin

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// parentAtStart is read as early as Go code can run, since the parent may die while this process starts.
var parentAtStart = os.Getppid()

// newParent returns a function that reports whether the process that spawned this one is gone. An orphan gets another
// parent: init, or the nearest subreaper. That does not reveal a parent that died before parentAtStart was read, so if
// the host has named its process, that process is checked, too.
func newParent() func() bool {
	host, err := strconv.Atoi(os.Getenv(handshake.EnvHostPID))
	named := err == nil && host > 0
	return func() bool {
		return os.Getppid() != parentAtStart || named && errors.Is(syscall.Kill(host, 0), syscall.ESRCH)
	}
}
