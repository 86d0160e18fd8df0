//go:build unix

package demo

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// processAlive reports whether a process still runs. A process that has ended but was not reaped yet (a zombie) counts
// as dead, if /proc shows its state.
func processAlive(pid int) bool {
	if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || !procMounted()
	}
	// pid (name) state ...: the name may hold any characters, so the state is searched for after the last parenthesis.
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	state := bytes.TrimSpace(after)
	return len(state) == 0 || (state[0] != 'Z' && state[0] != 'X')
}

func procMounted() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}
