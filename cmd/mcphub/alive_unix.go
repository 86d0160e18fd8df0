//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// processAlive tells whether a process still runs. One that has ended but was not reaped yet does not: where Linux can
// tell, a zombie is dead.
func processAlive(pid int) bool {
	if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || !procMounted()
	}
	// pid (name) state ...: the name may hold anything, so the state is looked for after its last parenthesis.
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	state := bytes.TrimSpace(after)
	return len(state) == 0 || (state[0] != 'Z' && state[0] != 'X')
}

func procMounted() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}
