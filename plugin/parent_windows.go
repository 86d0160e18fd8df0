package plugin

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// newParent returns a function that tells whether the process that spawned this one is gone. On Windows a process keeps
// the number of its dead parent, so the parent is held by a handle, which is signalled when it ends. The handle is
// never closed: it lives as long as this process.
func newParent() func() bool {
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		// ERROR_INVALID_PARAMETER: there is no such process any more. Anything else says nothing about its life.
		gone := errors.Is(err, windows.ERROR_INVALID_PARAMETER)
		return func() bool { return gone }
	}
	return func() bool {
		event, err := windows.WaitForSingleObject(parent, 0)
		return err == nil && event == windows.WAIT_OBJECT_0
	}
}
