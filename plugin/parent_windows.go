package plugin

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// newParent returns a function that reports whether the process that spawned this one is gone. On Windows a process
// keeps the id of its dead parent, so this process opens a handle to the parent, which is signalled when the parent
// ends. The handle is never closed: it is needed as long as this process lives.
func newParent() func() bool {
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		// ERROR_INVALID_PARAMETER: the process no longer exists. Any other error does not say whether it lives.
		gone := errors.Is(err, windows.ERROR_INVALID_PARAMETER)
		return func() bool { return gone }
	}
	return func() bool {
		event, err := windows.WaitForSingleObject(parent, 0)
		return err == nil && event == windows.WAIT_OBJECT_0
	}
}
