package process

import (
	"errors"

	"golang.org/x/sys/windows"
)

// lookUp asks GetProcessTimes. The start is absolute, in units of 100 ns.
func lookUp(pid int) (start uint64, living bool, err error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, false, err
	}
	ev, err := windows.WaitForSingleObject(h, 0)
	over := err == nil && ev == windows.WAIT_OBJECT_0
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), !over, nil
}

// bootID is not needed where the start of a process is an absolute time.
func bootID() string { return "" }

// killGroup ends the process alone. What it started is in its job object, which ended with the hub that held it.
func killGroup(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	_ = windows.TerminateProcess(h, 1)
	_ = windows.CloseHandle(h)
}
