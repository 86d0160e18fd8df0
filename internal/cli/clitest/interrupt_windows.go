package clitest

import (
	"os"
	"os/exec"
	"syscall"

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
