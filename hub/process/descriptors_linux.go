package process

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeOnExec is one system call since Linux 5.11.
func closeOnExec() {
	if unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		closeEachOnExec()
	}
}
