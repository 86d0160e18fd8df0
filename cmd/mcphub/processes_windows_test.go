package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// takeInterrupts starts the command in a process group of its own: a console event goes to a whole group.
func takeInterrupts(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// sendInterrupt is Ctrl-Break, which Go's runtime reports as os.Interrupt. Ctrl-C does not reach a group of its own.
func sendInterrupt(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}

// processesOf removes the program, which Windows does not allow while a process of it runs. If that fails until
// failureBound, a process is left; it cannot say which one.
func processesOf(t *testing.T, path string) []int {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(failureBound)
	for {
		err := os.Remove(path)
		if err == nil { // it may stay, and so its folder, while a process has it open
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
