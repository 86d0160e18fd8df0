//go:build unix

package doctor

import "syscall"

// canTerminate is true: a process can be asked to exit by a signal.
const canTerminate = true

// terminate sends SIGTERM only to the process itself and not to its group, so that processes it leaves behind can be
// seen.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
