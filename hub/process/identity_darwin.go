package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

const stateZombie = 5 // SZOMB of sys/proc.h

// lookUp asks kern.proc.pid. The start is absolute, in microseconds.
func lookUp(pid int) (start uint64, living bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) { // EIO is what x/sys makes of an empty answer
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	if int(info.Proc.P_pid) != pid {
		return 0, false, errNoProcess
	}
	t := info.Proc.P_starttime
	return uint64(t.Sec)*1e6 + uint64(t.Usec), info.Proc.P_stat != stateZombie, nil
}

// bootID is not needed where the start of a process is an absolute time.
func bootID() string { return "" }
