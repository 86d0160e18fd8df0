//go:build unix

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	firstInherited = 3
	// maxDescriptors bounds the loop on systems without a directory that lists the open descriptors.
	maxDescriptors = 1 << 16
)

// closeEachOnExec sets the flag on one descriptor after the other. Descriptors that are opened meanwhile are opened by
// Go, with the flag.
func closeEachOnExec() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		// /dev/fd is complete on macOS; FreeBSD usually lists only three descriptors there
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) <= firstInherited {
			continue
		}
		for _, e := range entries {
			if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= firstInherited {
				unix.CloseOnExec(fd)
			}
		}
		return
	}
	var limit unix.Rlimit
	most := uint64(maxDescriptors)
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		most = min(most, uint64(limit.Cur))
	}
	for fd := firstInherited; fd < int(most); fd++ {
		unix.CloseOnExec(fd)
	}
}
