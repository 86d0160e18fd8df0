//go:build unix

package doctor

import "syscall"

// canTerminate says that a process can be asked to leave by a signal.
const canTerminate = true

// terminate asks the process itself, not its group: what it leaves behind is to be seen.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
