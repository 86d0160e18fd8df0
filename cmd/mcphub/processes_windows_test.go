package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// takeInterrupts puts what is started into a group of its own: an event of the console goes to a whole group.
func takeInterrupts(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// sendInterrupt is Ctrl-Break, which Go's runtime reports as os.Interrupt. Ctrl-C does not reach a group of its own.
func sendInterrupt(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}

// processesOf removes the program, which Windows does not allow while a process of it runs: when that cannot be done
// for long, one is left. Which one is not told.
func processesOf(t *testing.T, path string) []int {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(failureBound)
	for {
		err := os.Remove(path)
		if err == nil { // it may be there until whoever has it open closes it, and keep its folder from being removed
			_, err = os.Lstat(path)
		}
		if os.IsNotExist(err) {
			return nil
		}
		select {
		case <-again.C:
		case <-bound:
			t.Errorf("a process of the program is left, or its file: %v", err)
			return nil
		}
	}
}
